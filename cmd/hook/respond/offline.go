package respond

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"skillrouter/cmd/hook"
	"skillrouter/internal/check"
	"skillrouter/internal/errs"
)

// maxOffline bounds the answer of a program that judges in the router's place, in bytes.
const maxOffline = 1 << 20

// check asks the router, for a second at most: what an agent waits for may not depend on a router that is stalled.
func (h *Hook) check(ctx context.Context, asked action) (checked, error) {
	c, err := h.connect()
	if err != nil {
		return checked{}, err
	}
	slow := cached("away-" + digest(h.server+"\n"+h.process.env("SKILLROUTER_SERVER")))
	limit := checkTime
	if info, err := os.Stat(slow); err == nil && h.process.now().Sub(info.ModTime()) < checkAway {
		limit = checkAgain
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var files Files
	var answer checked
	for round := range MaxRounds {
		asked.Offers = round < MaxRounds-1
		if answer, err = c.check(ctx, asked); err != nil || len(answer.Needs) == 0 {
			break
		}
		asked.Files = files.Read(asked.Folder, answer.Needs, h.hides)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		keep(slow, h.process.now().Format(time.RFC3339))
	case err == nil && limit == checkAgain:
		_ = os.Remove(slow)
	}
	return answer, err
}

// offline judges an action by the copy of the rules, as the router does not answer. basis says what it was judged by.
func (h *Hook) offline(ctx context.Context, asked action) (answer checked, basis string, err error) {
	text, err := json.Marshal(struct {
		action
		Dir string `json:"dir,omitempty"`
	}{asked, h.call.Dir})
	if err != nil {
		return answer, "", err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), offlineTime)
	defer cancel()
	judge := h.process.Offline
	if judge == nil {
		judge = h.program
	}
	if text, err = judge(ctx, h.server, text); err != nil {
		return answer, "", err
	}
	var judged struct {
		checked
		Offline string        `json:"offline"`
		Files   []changedFile `json:"files"`
	}
	if err := json.Unmarshal(text, &judged); err != nil || judged.Offline == "" {
		return answer, "", errors.Join(err, errors.New("the program that judges in the router's place gave no answer"))
	}
	h.spool(asked, judged.checked, judged.Offline, judged.Files)
	return judged.checked, judged.Offline, nil
}

// Bounds of what is kept for the router that comes back.
const (
	maxSpooled      = 500     // checks
	maxSpoolCommand = 4 << 10 // bytes of each action
	// handedOver is how many are handed over at once.
	handedOver = 100
)

// spooled is a check that was made in the router's place.
type spooled struct {
	CheckID  string    `json:"check_id"`
	Action   string    `json:"proposed_action"`
	Tool     string    `json:"tool,omitempty"`
	Agent    string    `json:"agent,omitempty"`
	Project  string    `json:"project,omitempty"`
	Decision string    `json:"decision"`
	RuleIDs  []string  `json:"rule_ids,omitempty"`
	Basis    string    `json:"basis,omitempty"`
	At       time.Time `json:"at"`
	// Files are what it changes, if it was not blocked: leases are asked of when the router is back.
	Files []changedFile `json:"files,omitempty"`
}

// spoolPath is the folder of what waits for the router that this hook asks.
func (h *Hook) spoolPath() string {
	return cached("offline-" + digest(h.server+"\n"+h.process.env("SKILLROUTER_SERVER")+"\n"+h.process.env("SKILLROUTER_DATA")))
}

// spool keeps a check for the router that comes back, as a small file until it has it.
func (h *Hook) spool(asked action, judged checked, basis string, files []changedFile) {
	dir := h.spoolPath()
	if entries, err := os.ReadDir(dir); dir == "" || err == nil && len(entries) >= maxSpooled || judged.CheckID == "" {
		return
	}
	did, _ := asked.Args["command"].(string)
	if did == "" {
		if args, err := json.Marshal(asked.Args); err == nil {
			did = string(args)
		}
	}
	s := spooled{
		CheckID: judged.CheckID, Action: check.Head(storable(did), maxSpoolCommand), Tool: asked.Tool, Agent: asked.Agent, Project: asked.Project, Decision: judged.Decision,
		Basis: basis, At: h.process.now(),
	}
	for _, m := range judged.Matches {
		s.RuleIDs = append(s.RuleIDs, m.RuleID)
	}
	if judged.Decision != decisionBlock {
		s.Files = files
	}
	if text, err := json.Marshal(s); err == nil {
		keep(filepath.Join(dir, judged.CheckID), string(text))
	}
}

// handOver gives the router what was judged in its place. What it has taken in, it knows by its id: a file that could not be
// removed, or that two hooks hand over, counts once.
func (h *Hook) handOver(ctx context.Context) error {
	dir := h.spoolPath()
	entries, err := os.ReadDir(dir)
	if dir == "" || err != nil || len(entries) == 0 {
		return nil // nothing waits
	}
	var checks []spooled
	var files []string
	for _, entry := range entries[:min(len(entries), handedOver)] {
		name := filepath.Join(dir, entry.Name())
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		files = append(files, name)
		var one spooled
		if json.Unmarshal(text, &one) == nil { // what a full disk cut off is dropped
			checks = append(checks, one)
		}
	}
	c, err := h.connect()
	if err != nil {
		return err
	}
	if err := c.late(ctx, checks); err != nil {
		return err // they wait on
	}
	for i := range checks {
		checks[i].Files = nil // the ledger keeps what was done, and not where
	}
	err = c(ctx, "POST", "/check/offline", map[string]any{"checks": checks}, nil)
	if code := errs.CodeOf(err); err != nil && code != errs.Invalid {
		return err // they wait on
	}
	for _, name := range files {
		_ = os.Remove(name)
	}
	return err
}

// program has the whole program judge.
func (h *Hook) program(ctx context.Context, server string, asked []byte) ([]byte, error) {
	if h.process.Program == nil {
		return nil, errs.Errorf(errs.Internal, "there is no program that judges in the router's place")
	}
	path, err := h.process.Program()
	if err != nil {
		return nil, err
	}
	args := []string{"hook", string(Offline)}
	if server != "" {
		args = append(args, "--server", server)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = bytes.NewReader(asked)
	text, err := cmd.Output()
	if len(text) > maxOffline {
		return nil, errors.New("the answer of the program that judges in the router's place is too long")
	}
	return text, err
}

// answerOffline is the other side of program.
func (h *Hook) answerOffline(ctx context.Context, asked []byte) (hook.Answer, error) {
	if h.process.Offline == nil {
		return hook.Answer{}, errs.Errorf(errs.Internal, "this program cannot judge in the router's place")
	}
	text, err := h.process.Offline(ctx, h.server, asked)
	return hook.Answer{Out: string(text)}, err
}
