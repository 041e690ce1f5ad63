package respond

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/cmd/hook"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// What the guard spoke against is kept as one small file each, in the user's
// cache, until it is known whether it was done all the same: a hook is a process
// of its own each time, and hooks of one session run at once.
const (
	pendingFolder = "hooks"
	// maxPending bounds what a session's end tells the guard.
	maxPending = 64
	// pendingAge is when a file is dropped whose session never ended.
	pendingAge = 7 * 24 * time.Hour
)

// cached is a hook's file of a name in the user's cache, or empty if there is no folder for it.
func cached(name string) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "skillrouter", pendingFolder, name)
}

// keep writes a hook's file, as far as it can: without it the router learns less.
func keep(path, text string) {
	if path != "" && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = os.WriteFile(path, []byte(text), 0o600)
	}
}

// keepJSON is keep for a value.
func keepJSON(path string, value any) {
	if text, err := json.Marshal(value); err == nil {
		keep(path, string(text))
	}
}

// cached is a file of this session in the user's cache, or empty.
func (h *Hook) cached(name string) string {
	if h.call.Session == "" {
		return ""
	}
	return cached(name + digest(h.call.Session))
}

// pendingPath is the file of this use of a tool, or empty if there is no folder
// for it. Agents without an id for each use name it by what was asked for.
func (h *Hook) pendingPath() string {
	use := h.call.ToolUse
	if use == "" {
		args, err := json.Marshal(h.call.Args)
		if err != nil {
			return ""
		}
		use = h.call.Tool + "\n" + string(args)
	}
	return h.pendingFile(use)
}

// pendingFile is the file of a use of a tool in this session, or empty.
func (h *Hook) pendingFile(use string) string {
	if h.call.Session == "" {
		return ""
	}
	return cached(digest(h.call.Session) + "-" + digest(use))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

// remember keeps the check that spoke against this use. Without it the guard
// only learns less.
func (h *Hook) remember(check string) { keep(h.pendingPath(), check) }

// recall takes back the check that spoke against a use, if one did.
func recall(path string) string {
	text, err := os.ReadFile(path)
	if err != nil || os.Remove(path) != nil { // whoever removes it tells of it
		return ""
	}
	return string(text)
}

// heed tells the guard that what it spoke against in this session, and was not
// seen to be done, was not done. A check that it does not take does not keep the others back.
func (h *Hook) heed(ctx context.Context) error {
	path := h.pendingPath()
	if path == "" {
		return nil
	}
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // nothing was kept
	}
	told := 0
	var wrong error
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		if !strings.HasPrefix(entry.Name(), digest(h.call.Session)+"-") {
			if info, err := entry.Info(); err == nil && h.process.now().Sub(info.ModTime()) > pendingAge {
				_ = os.Remove(name)
			}
			continue
		}
		if told == 0 {
			wrong = h.handOver(ctx) // it may be of those
		}
		if errs.CodeOf(wrong) == errs.Unavailable {
			return wrong
		}
		check, err := os.ReadFile(name)
		if err != nil || os.Remove(name) != nil || told == maxPending {
			continue
		}
		told++
		c, err := h.connect()
		if err != nil {
			return err
		}
		draft := outcome{CheckID: string(check), Outcome: outcomeHeeded, Agent: h.agent, Notes: "not seen to be done by the end of the session"}
		wrong = cmp.Or(c.post(ctx, "/check/outcome", draft), wrong)
	}
	return wrong
}

// settle does for the uses of tools that went well since it was called last what a hook after each of them would do, of which
// Claude Code runs none: it would wait for it, or share the processor with it. It reads the agent's own record, and only where
// something waits for it: a command that failed, or a check that spoke against one. Of a subagent's record it knows nothing.
func (h *Hook) settle(ctx context.Context) error {
	if h.Dialect != hook.ClaudeCode || h.call.Session == "" || h.call.Transcript == "" {
		return nil
	}
	name := h.attemptsPath()
	attempts := attemptsIn(name)
	waiting, _ := filepath.Glob(cached(digest(h.call.Session) + "-*"))
	if len(attempts) == 0 && len(waiting) == 0 {
		return nil
	}
	lines, err := lastLines(h.call.Transcript, maxOutcome)
	if err != nil {
		return nil //nolint:nilerr // without the record the router only learns less
	}
	calls := hook.TranscriptCalls(lines)
	after := map[string]int{} // where each attempt is looked on from
	for i, call := range calls {
		after[call.ToolUse] = i + 1
	}
	var wrong error
	for i, call := range calls {
		if call.Failed {
			continue
		}
		if check := recall(h.pendingFile(call.ToolUse)); check != "" {
			wrong = errors.Join(wrong, h.overridden(ctx, check, ""))
		}
		if did(call) == "" {
			continue
		}
		var due, later []attempt
		for _, a := range attempts {
			if from, found := after[a.Since]; found && from <= i {
				due = append(due, a)
			} else {
				later = append(later, a)
			}
		}
		left, mended := mendedBy(due, call)
		attempts = append(left, later...)
		wrong = errors.Join(wrong, h.recordMended(ctx, mended, call))
	}
	for i := range attempts {
		if _, found := after[attempts[i].Since]; found {
			attempts[i].Since = calls[len(calls)-1].ToolUse
		}
	}
	keepAttempts(name, attempts)
	return wrong
}
