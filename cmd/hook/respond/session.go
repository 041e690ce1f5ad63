package respond

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/cmd/hook"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/cmd/process"
	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// What is told at the start of a session, and with a prompt. Claude Code shows its
// model 2 KB of a longer text than 10,000 characters, and Codex cuts it in the middle: all
// together stays below 9,500 characters and 2,500 tokens.
const (
	// StartBudget and StartCharacters bound what is told at a start, in tokens and characters. A stop and messages take
	// their room of it, a token for each three characters.
	StartBudget     = 2480
	StartCharacters = 9400
	promptBudget    = 600 // tokens
	maxBriefText    = 240 // bytes of a reason, or of a branch's words
)

// resumedSource is how agents say that a session goes on with all that it was told.
const resumedSource = "resume"

// inject answers with what an agent should know, or with nothing.
func (h *Hook) inject(ctx context.Context) (hook.Answer, error) {
	starts := h.Event == hook.SessionStart || h.forgot()
	if h.Event == hook.SessionStart && h.start && errs.CodeOf(h.calls().probe(ctx)) == errs.Unavailable && !h.alone.Load() {
		if err := h.process.Start(ctx, h.server); err != nil {
			return hook.Answer{}, err
		}
		h.router = nil // it may have come up elsewhere
	}
	here := h.attend(ctx)
	var known, fitting builtContext
	var err error
	var kept string
	var unkept error
	if h.Event == hook.UserPrompt && strings.TrimSpace(h.call.Prompt) != "" {
		if fitting, err = h.fitting(ctx, h.call.Prompt); err == nil {
			kept, unkept = h.keep(ctx) // after: what the prompt says itself is not told with it
		}
	}
	wait := toldTime
	if starts {
		wait = toldStart
	}
	wrong := h.hear(ctx, here, wait)
	stop, mail := here.spoken()
	if starts && err == nil {
		known, err = h.known(ctx, utf8.RuneCountInString(stop+mail+fitting.Text))
	}
	if err != nil {
		return hook.Answer{}, err
	}
	known.Text += fitting.Text
	parts := []string{stop, mail, known.Text}
	if starts {
		parts = []string{stop, known.Text[:known.Rules], mail, known.Text[known.Rules:]}
	}
	parts = append(parts, kept)
	parts = slices.DeleteFunc(parts, func(part string) bool { return strings.TrimSpace(part) == "" })
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return h.Dialect.Inject(h.Event, strings.Join(parts, "\n"), kept), errors.Join(wrong, unkept)
}

// keep has what a person decides in a prompt kept, and says so to the agent and its person, with the word that takes it back.
func (h *Hook) keep(ctx context.Context) (string, error) {
	if len(h.call.Prompt) > maxTask || h.call.Subagent != "" { // an agent gives a subagent its task
		return "", nil
	}
	p := prompt{Text: h.call.Prompt, AgentID: h.agent, Project: h.project, within: h.within(), Unattended: h.place().Unattended(string(h.Dialect))}
	if check.Name("session_id", h.call.Session) == nil {
		p.SessionID = h.call.Session
	}
	kept, err := ask[heard](ctx, h.calls(), "/api/decisions/heard", p)
	var b strings.Builder
	for _, r := range kept.Resolutions {
		fmt.Fprintf(&b, "Skill Router keeps this %s for all sessions: %q", OneLine(r.Category, maxBriefText), OneLine(r.Text, maxBriefText))
		if len(r.Instead) > 0 {
			fmt.Fprintf(&b, ", in place of %q", OneLine(strings.Join(r.Instead, "; "), maxBriefText))
		}
		fmt.Fprintf(&b, ". To take it back: skillrouter undo %s\n", OneLine(r.Handle, maxToolStatus))
	}
	return strings.TrimSpace(b.String()), err
}

// known is what a session begins with, beside so many characters of other things.
func (h *Hook) known(ctx context.Context, beside int) (builtContext, error) {
	const perToken = 3 // characters, at least
	start := h.request(BranchWords(h.call.Dir), max(StartBudget-beside/perToken, promptBudget))
	start.Start, start.Resumed, start.Characters = true, h.call.Source == resumedSource, max(StartCharacters-beside, ruleCharacters)
	return h.calls().context(ctx, start)
}

// fitting is what belongs to something that was asked for; mostly nothing.
func (h *Hook) fitting(ctx context.Context, asked string) (builtContext, error) {
	request := h.request(asked, promptBudget)
	request.Prompt = true
	return h.calls().context(ctx, request)
}

// request asks for a context in this session, or in its subagent's: each has a window of its own.
func (h *Hook) request(task string, budget int) contextRequest {
	request := contextRequest{AgentID: h.agent, Project: h.project, Budget: budget, Task: task, Folder: h.tree()}
	here := h.within()
	request.Subfolder, request.Branch = here.Folder, here.Branch
	if check.Name("session_id", h.call.Session) == nil {
		request.SessionID = h.call.Session
	}
	if h.call.Subagent != "" {
		request.SessionID = digest(h.call.Session + "\n" + h.call.Subagent)
	}
	if len(request.Task) > maxTask {
		request.Task = check.Head(request.Task, maxTask)
	}
	return request
}

// within is where in its repository the agent works.
func (h *Hook) within() (here within) {
	here.Folder, here.Branch = locate.Within(h.call.Dir)
	return here
}

// tree is the working tree, which a router on this machine looks into: the repository's folder, or else the agent's own.
func (h *Hook) tree() string {
	if !filepath.IsAbs(h.call.Dir) || check.Text("folder", h.call.Dir, comms.MaxPath) != nil {
		return ""
	}
	return cmp.Or(locate.RepositoryOf(h.call.Dir), h.call.Dir)
}

// goodbye says that the agent has gone, before its next session can check in,
// and hands the rest to a process of its own.
func (h *Hook) goodbye(ctx context.Context, text []byte) error {
	if h.process.env(Wrapped) != "" {
		return h.leave(text)
	}
	here := h.attend(ctx)
	err := h.leave(text)
	wrong := here.wait(ctx, toldTime)
	return errors.Join(err, wrong)
}

// leave hands a session's end to a process of its own: agents end a hook that is slow
// then, and reading a transcript takes longer than they wait.
func (h *Hook) leave(text []byte) error {
	program, err := h.process.Program()
	if err != nil {
		return err
	}
	args := []string{"hook", string(hook.SessionEnd), "--now", "--for", string(h.Dialect), "--agent", h.agent}
	if h.named {
		args = append(args, "--project", h.project)
	}
	if h.server != "" {
		args = append(args, "--server", h.server)
	}
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = process.Detached()
	cmd.Dir = os.TempDir() // so that it keeps no other folder from being removed
	if _, err := os.Stat(cmd.Dir); err != nil {
		cmd.Dir = filepath.VolumeName(cmd.Dir) + string(filepath.Separator) // a sandbox may have none, and the session is learned from all the same
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if _, err := in.Write(text); err != nil {
		return err
	}
	return in.Close()
}

// end records what failed, tells the guard what was heeded, learns from the agent's record, and has
// the transcript consolidated. What became of the one is no obstacle to the other.
func (h *Hook) end(ctx context.Context) error {
	for _, name := range h.tasks() { // nobody else begins them
		_ = os.Remove(name)
	}
	return errors.Join(h.settle(ctx), h.heed(ctx), h.study(ctx), h.hand(ctx, transcript{Ended: true}))
}

// study learns from the session's record as `skillrouter learn` does, which reads no more than what came later.
func (h *Hook) study(ctx context.Context) error {
	if h.process.Learn == nil || h.call.Transcript == "" && len(h.call.Messages) == 0 {
		return nil
	}
	return h.process.Learn(ctx, h.calls(), Record{
		Path: h.call.Transcript, Project: h.project, Named: h.named, AgentID: h.agent,
		Messages: h.call.Messages, Partial: h.call.Partial, Session: h.call.Session, Dir: h.call.Dir,
	})
}

// compact keeps what was decided, forbidden and left open, before the agent forgets the
// words. It is told again with what a session begins with: by the hook at the start that
// follows, by the next prompt's (forgot), or to the model that sums up.
func (h *Hook) compact(ctx context.Context) (hook.Answer, error) {
	err := h.hand(ctx, transcript{Compacted: true})
	if h.Dialect == hook.Gemini {
		keep(h.forgotPath(), "compacted")
	}
	if !h.Dialect.Tells(h.Event) {
		return hook.Answer{}, err
	}
	known, wrong := h.known(ctx, 0)
	return h.Dialect.Inject(h.Event, known.Text, ""), errors.Join(err, wrong)
}

// forgotPath is a file that is there between a compaction and the next prompt, of agents
// that run no hook in between.
func (h *Hook) forgotPath() string {
	if h.Dialect != hook.Gemini {
		return ""
	}
	return h.cached("forgot-")
}

// forgot tells whether this is the first prompt after a compaction, once.
func (h *Hook) forgot() bool { return os.Remove(h.forgotPath()) == nil }

// hand gives the router what was said in the session, if the agent keeps it.
func (h *Hook) hand(ctx context.Context, draft transcript) error {
	text := []byte(h.call.Messages)
	if len(text) == 0 {
		var err error
		if text, err = lastLines(h.call.Transcript, maxTranscript); err != nil {
			return err
		}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	draft.AgentID, draft.Project, draft.within = h.agent, h.project, h.within()
	draft.Text = strings.ToValidUTF8(strings.ReplaceAll(string(text), "\x00", ""), "\ufffd")
	if check.Name("session_id", h.call.Session) == nil {
		draft.SessionID = h.call.Session
	}
	return h.calls().post(ctx, "/api/consolidations", draft)
}

const (
	// ruleBudget and ruleCharacters bound the rules that a subagent begins with, in tokens and
	// characters.
	ruleBudget     = 600
	ruleCharacters = 2400
	// taskAge is how long a subagent may take to begin. What did not begin by then was refused, or came to nothing.
	taskAge = 5 * time.Minute
)

// brief answers with what a subagent should know: what must never be done, and what belongs
// to its task, if that is known by now.
func (h *Hook) brief(ctx context.Context) (hook.Answer, error) {
	if !h.Dialect.Tells(h.Event) {
		return hook.Answer{}, nil
	}
	begin := h.request(cmp.Or(h.call.Prompt, h.delegated()), ruleBudget+promptBudget)
	begin.Start, begin.Prompt, begin.Characters = true, true, 2*ruleCharacters
	known, err := h.calls().context(ctx, begin)
	return h.Dialect.Inject(h.Event, strings.TrimSpace(known.Text), ""), err
}

// task is what a tool gave a subagent to do, kept in a small file until that begins.
type task struct {
	Kind string `json:"kind"`
	Task string `json:"task"`
}

// delegate keeps the task that a tool is about to give to a subagent.
func (h *Hook) delegate(given, kind string) {
	if prefix := h.cached("task-"); prefix != "" {
		keepJSON(prefix+"-"+digest(h.call.ToolUse+"\n"+given), task{kind, given[:min(len(given), maxTask)]})
	}
}

// tasks are the files of what was given to subagents of this session that have not begun.
func (h *Hook) tasks() (names []string) {
	if prefix := h.cached("task-"); prefix != "" {
		names, _ = filepath.Glob(prefix + "-*")
	}
	return names
}

// delegated takes the oldest task that was given to a subagent of this kind and has not
// begun. Whoever removes its file has it.
func (h *Hook) delegated() string {
	since := func(name string) (at time.Time) {
		if info, err := os.Stat(name); err == nil {
			at = info.ModTime()
		}
		return at
	}
	names := h.tasks()
	slices.SortFunc(names, func(a, b string) int { return since(a).Compare(since(b)) })
	for _, name := range names {
		if h.process.now().Sub(since(name)) > taskAge {
			_ = os.Remove(name)
			continue
		}
		var given task
		text, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(text, &given) != nil || given.Kind != h.call.Kind && given.Kind != "" || os.Remove(name) != nil {
			continue
		}
		return given.Task
	}
	return ""
}
