package respond

import (
	"bytes"
	"context"
	"io"
	"os"
	"strconv"
	"strings"

	"skillrouter/cmd/hook"
	"skillrouter/internal/check"
	"skillrouter/internal/errs"
)

// Bounds of what a hook tells and keeps of failures.
const (
	// failureBudget and failureCharacters bound what is told after a failure, in tokens and characters.
	failureBudget     = 400
	failureCharacters = 1600
	// failureText is how much of what a program said is asked with, from its end, in bytes.
	failureText = 1500
	// failureOutput is how much of what a program said is compared with earlier failures, in bytes: its beginning and its end.
	failureOutput = 12 << 10
	// foreignTools is how the tools of MCP servers are named.
	foreignTools = "mcp__"
)

// mend is what memory has for a failure: what worked the last time. Empty where nothing fits.
func (h *Hook) mend(ctx context.Context) (string, error) {
	if !h.call.Failed || h.call.Stopped || h.call.Tool == "" || !h.Dialect.Tells(h.Event) {
		return "", nil
	}
	said := h.call.Failure
	request := h.request(storable(did(h.call)+"\n"+said[max(0, len(said)-failureText):]), failureBudget)
	if command, foreign := did(h.call), strings.HasPrefix(h.call.Tool, foreignTools); command != "" || foreign {
		failed := failedCommand{Project: h.project, AgentID: h.agent, Command: storable(command), Error: storable(ends(said, failureOutput)), Session: request.SessionID, Folder: request.Folder}
		if command == "" {
			failed.Tool, failed.Args = h.call.Tool, h.call.Args
		}
		var known failedAnswer
		err := h.calls()(ctx, "POST", "/api/incidents/answer", failed, &known)
		if err != nil || known.Text != "" || known.Incident != "" { // what else memory has of it would be the same again
			return known.Text, err
		}
	}
	request.Prompt, request.Failure, request.Characters = true, true, failureCharacters
	known, err := h.calls().context(ctx, request)
	return known.Text, err
}

// ends is a text of at most so many bytes: the first third of them from its beginning, the rest from its end.
func ends(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:most/3] + "\n" + text[len(text)-most+most/3+1:]
}

// did is what a tool was asked to do, in a line of its own words.
func did(call hook.Call) string {
	text, _ := call.Args["command"].(string)
	return check.Head(text, MaxFailureCommand)
}

// Bounds of the reading of Codex's own record of a session, its rollout.
const (
	// maxRollout is how much of it is read at once, in bytes. A turn writes some
	// hundred kilobytes; of more, the end counts.
	maxRollout = 8 << 20
	// maxFailures is how many failures are recorded at once: a command that fails in
	// a loop says no more the twentieth time.
	maxFailures = 20
	// maxOutcome is how much of its end is read to tell how one command ended, in bytes:
	// that stands in its last lines, with at most some hundred kilobytes of output.
	maxOutcome = 1 << 20
)

// keepsRollout tells whether how a command ended stands in the agent's own record
// and not in what its hooks are told.
func (h *Hook) keepsRollout() bool {
	return h.call.Tool == "Bash" && h.rolloutPath() != ""
}

// lookUp finds in the agent's own record how the command ended that the hook was
// called after: it stands there before the hook is run. It is recorded once, at the
// end of the turn (recordRollout).
func (h *Hook) lookUp() error {
	if !h.keepsRollout() || h.call.ToolUse == "" {
		return nil
	}
	lines, err := lastLines(h.call.Transcript, maxOutcome)
	if err != nil {
		return err
	}
	h.call.Failed, h.call.Failure = false, "" // what a command wrote says nothing, though it begin with an exit code
	for _, failed := range hook.RolloutFailures(lines) {
		if failed.ToolUse == h.call.ToolUse {
			h.call.Failed, h.call.Failure = true, failed.Failure
		}
	}
	return nil
}

// rolloutPath is the file that holds how far the session's rollout was read, or
// empty: without a folder for it nothing is read, because nothing may be told twice.
func (h *Hook) rolloutPath() string {
	if h.Dialect != hook.Codex || h.call.Transcript == "" {
		return ""
	}
	return h.cached("rollout-")
}

// openRollout notes where a session begins that goes on with the rollout of an
// earlier one: what failed before is not told as if it were new.
func (h *Hook) openRollout() {
	path := h.rolloutPath()
	if path == "" {
		return
	}
	if _, err := os.Lstat(path); err == nil {
		return
	}
	size := int64(0) // it is not there before the first turn
	if info, err := os.Stat(h.call.Transcript); err == nil {
		size = info.Size()
	}
	noteRollout(path, size)
}

func noteRollout(path string, size int64) { keep(path, strconv.FormatInt(size, 10)) }

// recordRollout records the failures that came into the rollout since it was last
// read, each as an episode.
func (h *Hook) recordRollout(ctx context.Context) error {
	path := h.rolloutPath()
	if path == "" {
		return nil
	}
	from := seqIn(path)
	lines, to, err := newLines(h.call.Transcript, from)
	if err != nil || to == from {
		return err
	}
	noteRollout(path, to) // first: rather not told than twice
	told := 0
	for _, call := range hook.RolloutFailures(lines) {
		if h.Dialect.Own(call.Tool) {
			continue
		}
		if told == maxFailures {
			break
		}
		if err := h.calls().post(ctx, "/api/episodes", h.episodeOf(call)); err != nil {
			if told == 0 && errs.CodeOf(err) == errs.Unavailable {
				noteRollout(path, from) // the router is away: the next look tells all of it
			}
			return err
		}
		told++
	}
	return nil
}

// newLines are the whole lines of a file from an offset on, of at most maxRollout
// bytes at its end, and the offset behind them.
func newLines(name string, from int64) (lines []byte, to int64, err error) {
	file, size, err := OpenRegular(name)
	if err != nil {
		return nil, from, err
	}
	defer file.Close()
	if from > size {
		from = 0 // another file than before
	}
	begin := max(from, size-maxRollout)
	text, err := io.ReadAll(io.NewSectionReader(file, begin, size-begin))
	if err != nil {
		return nil, from, err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1] // what follows is being written
	to = begin + int64(len(whole))
	if begin > from { // the first line is cut
		whole = whole[bytes.IndexByte(whole, '\n')+1:]
	}
	return whole, to, nil
}
