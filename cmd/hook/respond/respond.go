// Package respond answers an agent's hook: it reads the agent's message, asks the
// router what the event asks for, checks the agent in, and writes the answer in
// the agent's dialect. The command `skillrouter hook` and the small program
// skillrouter-hook both are this package. It owns a hook's time limits and its
// small files in the user's cache. It must link neither a database nor the tree
// of commands, and start no router itself: an agent waits for it.
package respond

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/cmd/hook"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/safetext"
)

// A hook's name and times: an agent waits for it, or ends it.
const (
	// UserAgent names a hook to the router.
	UserAgent = "skillrouter/hook"
	// dialTime bounds the connecting to a router on this machine, which either
	// listens or does not; elsewhere it is dialFar.
	dialTime = 150 * time.Millisecond
	dialFar  = time.Second
	// toolTime bounds a hook before and after a tool's use, its reading included.
	toolTime = 2 * time.Second
	// startTime bounds the one at a session's start, which may start a router, and the one
	// before a compaction, which reads the transcript.
	startTime = 4 * time.Second
	// EndTime bounds what a session's end does behind the agent's back: with a
	// model, a transcript takes its time.
	EndTime = 90 * time.Second
	// checkTime bounds one check: a router takes a thousandth of it.
	checkTime = time.Second
	// offlineTime bounds the judging in the router's place: the whole program starts, and reads all rules.
	offlineTime = 5 * time.Second
	// holderTime bounds the question who calls.
	holderTime = 500 * time.Millisecond
	// probeTime bounds one look whether somebody answers.
	probeTime = 2 * time.Second
	// firstGC puts the first collection of garbage off to a heap of 64 MiB (16 times the
	// 4 MiB of runtime/debug.SetGCPercent(100)): a hook is over before it, and what libraries
	// make before main would have one begun at once, which costs some milliseconds.
	firstGC = 1600
)

// Ping is the event of `setup --check`: all that a hook does before it asks
// anything, and the question whether a router is there.
const Ping hook.Event = "ping"

// Offline is the event by which the small program has the whole one judge an action in the router's place: the action is
// its message, and the answer that of a check.
const Offline hook.Event = "offline"

// unasked tells the model why a tool is refused that nothing is known against.
const unasked = "Skill Router's guard cannot be asked, and this project is set up to use no tool then (setup --strict). Tell the person: "

// exitFailed is the exit code of a Ping that found no router.
const exitFailed = 1

// Process is the process that a hook runs in.
type Process struct {
	In        io.Reader
	Out, Err  io.Writer
	LookupEnv func(name string) (string, bool) // as os.LookupEnv
	// Connect makes the calls of a router. It connects to nothing yet; dial bounds the connecting.
	Connect func(to locate.Router, dial time.Duration) (Call, error)
	// Start starts a router and waits until it answers. server is the address that
	// the hook was told, or empty.
	Start func(ctx context.Context, server string) error
	// Program returns the path of the program skillrouter, which does behind the
	// agent's back what a session's end leaves to do.
	Program func() (string, error)
	// Offline answers a check (JSON in, JSON out) in the place of the router that does not answer; nil: Program does. server is the
	// address that the hook was told, or empty.
	Offline func(ctx context.Context, server string, action []byte) ([]byte, error)
	// Redact takes the secrets out of a text that goes to a router on another machine; nil: no such text goes there.
	Redact func(text string) string
	Now    func() time.Time // time.Now if nil
	// Learn learns from the agent's record of a session what failed in it and what worked; nil:
	// the program does not, and starts Program at a session's end.
	Learn func(ctx context.Context, call Call, record Record) error
}

// Record is what an agent keeps of a session: a file, or the messages that its hook was given.
type Record struct {
	Path    string // empty: there is none
	Project string // that the session belongs to
	Named   bool   // all of it does, wherever the agent worked
	AgentID string

	Messages []byte // of an agent without a file: a list of messages in JSON
	Partial  bool   // earlier ones are missing
	Session  string // the agent's own id of the session
	Dir      string // the folder that the agent works in
}

func (p Process) env(name string) string {
	value, _ := p.LookupEnv(name)
	return value
}

// now is the time by which files count as old.
func (p Process) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

// Hook is one run of a hook.
type Hook struct {
	Event   hook.Event
	Dialect hook.Dialect

	process Process
	server  string // URL of the router; empty: the one that is found
	agent   string // empty: the token says who calls
	project string
	named   bool // the project was given
	verbose bool
	now     bool // a session's end is worked on here and not behind the agent's back
	start   bool // a router may be started
	strict  bool // a tool that the guard cannot be asked about is refused

	unasked    bool // the guard was not asked before a tool's use
	unread     bool // nor was the agent's message understood
	far        bool // the router is on another machine
	call       hook.Call
	router     Call        // nil: not connected yet
	alone      atomic.Bool // the router is stalled, and left alone
	noticed    atomic.Bool // this run noticed it
	stalled    sync.Once   // which is noted once
	attendance *attendance // what was told, and is to be marked as read; nil: nothing
}

// New makes a Hook without an event.
func New(process Process) *Hook { return &Hook{process: process, Dialect: hook.Generic} }

// Parse makes a Hook of a command line as agents' configurations have it, `hook
// EVENT --flags…` without the program's name. ok is false if it is anything
// else, such as a call for help.
func Parse(process Process, args []string) (h *Hook, ok bool) {
	if len(args) < 2 || args[0] != "hook" {
		return nil, false
	}
	h = New(process)
	h.Event = hook.Event(args[1])
	set := h.Flags()
	if !h.Event.Known() && h.Event != Ping && h.Event != Offline || set.Parse(args[2:]) != nil || set.NArg() > 0 || !h.Dialect.Known() {
		return nil, false
	}
	return h, true
}

// Flags are the hook's flags. They are the standard library's, so that a hook
// that an agent runs needs no tree of commands (see Parse).
func (h *Hook) Flags() *flag.FlagSet {
	set := flag.NewFlagSet("hook", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Func("for", "whose hook it is: "+strings.Join(safetext.Strings(hook.Dialects()), ", ")+" (default generic)", func(text string) error {
		h.Dialect = hook.Dialect(text)
		return nil
	})
	set.StringVar(&h.agent, "agent", "", "agent that it is (SKILLROUTER_AGENT goes before; default: the session's own, of the kind that --for names)")
	set.StringVar(&h.project, "project", "", "project that it works on (default: the one that the working folder belongs to)")
	set.StringVar(&h.server, "server", "", "URL of the router (SKILLROUTER_SERVER)")
	set.BoolVar(&h.start, "start", false, "at session-start, start the router if none answers")
	set.BoolVar(&h.strict, "strict", false, "at pre-tool-use, refuse a tool that the guard cannot be asked about")
	set.BoolVar(&h.now, "now", false, "at session-end, do the work before the end of this process")
	set.BoolVar(&h.verbose, "verbose", false, "say on standard error what went wrong")
	return set
}

// Run runs the hook and returns the exit code.
func (h *Hook) Run(ctx context.Context) int {
	if !h.now {
		debug.SetGCPercent(firstGC)
	}
	limit := toolTime
	switch {
	case h.Event == hook.SessionStart, h.Event == hook.PreCompact:
		limit = startTime
	case h.Event == hook.SessionEnd && h.now:
		limit = EndTime
	case h.Event == Offline:
		limit = offlineTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := h.answer(ctx)
	h.complain(err)
	if err != nil && (h.Event == Ping || h.Event == Offline) {
		return exitFailed
	}
	if h.strict && h.unasked {
		answer = h.Dialect.Judge(hook.Block, unasked+h.advice(err)+" The reason: "+OneLine(errs.Explain(err), MaxVerdictText), hook.Note{})
	}
	if h.noticed.Load() && answer == (hook.Answer{}) && h.Event != hook.TurnEnd {
		answer = h.Dialect.Tell(h.Event, hook.Note{Text: leftAlone})
	}
	if answer.Err != "" {
		_, _ = io.WriteString(h.process.Err, answer.Err)
	}
	if answer.Out != "" {
		_, _ = io.WriteString(h.process.Out, answer.Out) // an agent that does not listen is not helped by an error
	}
	if err == nil && (h.Event == hook.PreToolUse || h.Event == hook.SessionStart) {
		h.complain(h.handOver(ctx))
	}
	if h.attendance != nil {
		h.complain(h.attendance.settle(ctx))
	}
	return answer.Code
}

// complain says what went wrong, to whoever wants to know.
func (h *Hook) complain(err error) {
	if err != nil && h.verbose {
		fmt.Fprintf(h.process.Err, "skillrouter hook: %s\n", safetext.Visible(errs.Explain(err)))
	}
}

// advice is what a person can do so that the guard can be asked again.
func (h *Hook) advice(err error) string {
	agent := string(h.Dialect)
	switch code := errs.CodeOf(err); {
	case h.unread || errors.Is(err, errNoTool):
		return "the router has no part in this: the agent gave its hook a message that is not understood. Look at it with `skillrouter setup " + agent + " --check`."
	case code == errs.Unauthenticated || code == errs.Forbidden:
		return "the router refuses this agent's token. Give it a valid one (`skillrouter token issue`), and set the agent up again."
	case code == errs.Unavailable:
		return "start the router (`skillrouter serve`), or set the agent up again without --strict."
	}
	return "the router answered with an error. `skillrouter doctor` says what is wrong with it."
}

func (h *Hook) answer(ctx context.Context) (hook.Answer, error) {
	h.unasked = h.Event == hook.PreToolUse // until it was
	text, err := h.read(ctx)
	if err == nil && h.Event == Offline {
		return h.answerOffline(ctx, text)
	}
	if err == nil {
		h.call, err = hook.Read(h.Event, text)
	}
	if h.unread = err != nil; h.unread && h.Event == hook.PreToolUse && len(text) > 0 {
		return h.judgeWords(ctx, text, err)
	}
	if err != nil {
		return hook.Answer{}, err
	}
	h.identify(ctx)
	switch h.Event {
	case hook.SessionStart, hook.UserPrompt:
		return h.inject(ctx)
	case hook.PreToolUse:
		return h.judge(ctx)
	case hook.PostToolUse, hook.PostFailure:
		return h.after(ctx)
	case hook.PreCompact:
		return h.compact(ctx)
	case hook.Subagent:
		return h.brief(ctx)
	case hook.TurnEnd:
		return h.turn(ctx)
	case hook.SessionEnd:
		if h.now {
			return hook.Answer{}, h.end(ctx)
		}
		return hook.Answer{}, h.goodbye(ctx, text)
	}
	return hook.Answer{}, h.calls().probe(ctx)
}

// read reads the agent's message, as far as it comes in time.
func (h *Hook) read(ctx context.Context) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1) // the reader may outlive this call, as the process soon does not
	go func() {
		text, err := hook.Message(h.process.In)
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return r.text, fmt.Errorf("the message cannot be read: %w", r.err)
		}
		return r.text, nil
	case <-ctx.Done():
		return nil, errors.New("no message came")
	}
}

// place is what the hook was told of its router.
func (h *Hook) place() locate.Place {
	return locate.Place{Server: h.server, LookupEnv: h.process.LookupEnv}
}

// identify decides who speaks and of which project.
func (h *Hook) identify(ctx context.Context) {
	place := h.place()
	h.agent = place.Speaker(h.agent, string(h.Dialect), h.call.Dir, func() (string, error) { return h.holder(ctx) })
	if h.named = h.project != ""; !h.named {
		h.project = place.WorkProject(h.call.Dir)
	}
}

// holder is the agent that the token was issued to; empty: a captain's, which may speak as any.
// A token's agent never changes, so that the router is asked once.
func (h *Hook) holder(ctx context.Context) (string, error) {
	path := cached("token-" + digest(h.server+"\n"+h.process.env("SKILLROUTER_SERVER")+"\n"+h.process.env("SKILLROUTER_TOKEN")))
	if known, err := os.ReadFile(path); err == nil {
		return string(known), nil
	}
	ctx, cancel := context.WithTimeout(ctx, holderTime)
	defer cancel()
	agent, err := h.calls().holder(ctx)
	if err == nil {
		keep(path, agent)
	}
	return agent, err
}

// connect makes calls that give up quickly. It connects to nothing yet.
func (h *Hook) connect() (Call, error) {
	if h.router != nil {
		return h.router, nil
	}
	to, err := h.place().Router()
	if err != nil {
		return nil, err
	}
	dial := dialFar
	h.far = true
	if u, err := url.Parse(to.URL); to.Local() || err == nil && locate.Loopback(u) {
		dial, h.far = dialTime, false
	}
	call, err := h.process.Connect(to, dial)
	if err == nil {
		h.router = h.patient(call, to.URL, to.Data())
	}
	return h.router, err
}

// calls are the calls of the router. Where there is no way to make one, each says why.
func (h *Hook) calls() Call {
	c, err := h.connect()
	if err != nil {
		return func(context.Context, string, string, any, any) error { return err }
	}
	return c
}

// OneLine is a text that somebody wrote, on one line of at most limit bytes,
// with nothing in it that a terminal or a model would read and a person not see.
func OneLine(text string, limit int) string {
	return check.Clip(strings.Join(strings.Fields(safetext.Visible(safetext.Unfenced(text))), " "), limit)
}
