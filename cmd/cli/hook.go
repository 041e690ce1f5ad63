package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/cmd/hook"
	"skillrouter/router"
	"skillrouter/router/client"
)

// Times of a hook: an agent waits for it, or ends it.
const (
	// hookDial bounds the connecting to a router on this machine, which either
	// listens or does not; elsewhere it is hookDialFar.
	hookDial    = 150 * time.Millisecond
	hookDialFar = time.Second
	// hookTime bounds a hook before and after a tool's use, its reading included.
	hookTime = 2 * time.Second
	// hookStartTime bounds the one at a session's start, which may start a router.
	hookStartTime = 4 * time.Second
	// hookEndTime bounds what a session's end does behind the agent's back: with a
	// model, a transcript takes its time.
	hookEndTime = 90 * time.Second
	// hookGC puts the first collection of garbage off to a heap of 64 MiB (16 times the
	// 4 MiB of runtime/debug.SetGCPercent(100)): a hook is over before it, and what libraries
	// make before main would have one begun at once, which costs some milliseconds.
	hookGC = 1600
)

// ping is the event of `setup --check`: all that a hook does before it asks
// anything, and the question whether a router is there.
const ping hook.Event = "ping"

// hooked is one run of a hook.
type hooked struct {
	shell   *shell
	event   hook.Event
	dialect hook.Dialect
	agent   string // empty: the token says who calls
	project string
	verbose bool
	now     bool // a session's end is worked on here and not behind the agent's back
	start   bool // a router may be started

	call       hook.Call
	client     *client.Client
	attendance *attendance // what was told, and is to be marked as read; nil: nothing
}

// hookUsage is what people read of it; agents run it.
const hookUsage = `Does what an agent's hook does: reads the agent's message (JSON) on standard
input and answers on standard output in the agent's dialect. EVENT is one of

  session-start           inject what is known: what must never be done, what failed
                          lately, what fits the project and the branch
  user-prompt             inject what fits what the person asked for
  pre-tool-use            ask the guard: block, or warn
  post-tool-use           tell the guard that the tool was used all the same
  post-tool-use-failure   record the failure as an episode
  turn-end                hand the agent what was sent to it meanwhile; record the failures
                          that an agent (Codex) tells no other hook of
  session-end             read the session's transcript for what is worth remembering

Each checks the agent in and tells it of new messages, and of a stop that it is asked
for, where the agent's hooks can carry words to the model.

` + "`skillrouter setup`" + ` writes it into the agents' configuration. A router that is away,
a message that is not understood or too long (1 MiB), or anything else that fails lets the
agent go on: nothing is written and the exit code is 0. --verbose says why on standard error.`

func (s *shell) hookCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "hook EVENT [--for AGENT]", Short: "Answer an agent's hook; run by agents", Long: hookUsage,
		Args: cobra.ExactArgs(1), ValidArgs: []string{},
	}
	for _, event := range hook.Events() {
		cmd.ValidArgs = append(cmd.ValidArgs, string(event))
	}
	h := &hooked{shell: s}
	set := h.flags()
	set.VisitAll(func(f *flag.Flag) { cmd.Flags().AddGoFlag(f) })
	return s.command(cmd, func(ctx context.Context, args []string) error {
		h.event = hook.Event(args[0])
		if !h.event.Known() && h.event != ping {
			return usagef("there is no event %q", args[0])
		}
		if !h.dialect.Known() {
			return usagef("--for is one of %s, not %q", names(hook.Dialects()), h.dialect)
		}
		if code := h.run(ctx); code != exitDone {
			return exitError(code)
		}
		return nil
	})
}

// flags are the hook's flags. They are the standard library's, so that a hook
// that an agent runs needs no tree of commands (see quickHook).
func (h *hooked) flags() *flag.FlagSet {
	set := flag.NewFlagSet("hook", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	h.dialect = hook.Generic
	set.Func("for", "whose hook it is: "+names(hook.Dialects())+" (default generic)", func(text string) error {
		h.dialect = hook.Dialect(text)
		return nil
	})
	set.StringVar(&h.agent, "agent", "", "agent that it is (SKILLROUTER_AGENT goes before; default: the name after --for)")
	set.StringVar(&h.project, "project", "", "project that it works on (default: the name of the repository's folder)")
	set.StringVar(&h.shell.server, "server", "", "URL of the router (SKILLROUTER_SERVER)")
	set.BoolVar(&h.start, "start", false, "at session-start, start the router if none answers")
	set.BoolVar(&h.now, "now", false, "at session-end, do the work before the end of this process")
	set.BoolVar(&h.verbose, "verbose", false, "say on standard error what went wrong")
	return set
}

// quickHook runs a hook as agents' configurations have it, `hook EVENT
// --flags…`, without the tree of commands, whose making costs more than the
// hook. done is false if it is anything else, such as a call for help.
func (s *shell) quickHook(ctx context.Context, args []string) (code int, done bool) {
	if len(args) < 2 || args[0] != "hook" {
		return 0, false
	}
	h := &hooked{shell: s, event: hook.Event(args[1])}
	if !h.event.Known() && h.event != ping {
		return 0, false
	}
	set := h.flags()
	if set.Parse(args[2:]) != nil || set.NArg() > 0 || !h.dialect.Known() {
		return 0, false
	}
	if !h.now {
		debug.SetGCPercent(hookGC)
	}
	return h.run(ctx), true
}

// run runs the hook and returns the exit code.
func (h *hooked) run(ctx context.Context) int {
	limit := hookTime
	switch {
	case h.event == hook.SessionStart:
		limit = hookStartTime
	case h.event == hook.SessionEnd && h.now:
		limit = hookEndTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := h.answer(ctx)
	if err != nil && h.verbose {
		fmt.Fprintf(h.shell.err, "skillrouter hook: %s\n", clean(explain(err)))
	}
	if err != nil && h.event == ping {
		return exitFailed
	}
	if answer.Err != "" {
		_, _ = io.WriteString(h.shell.err, answer.Err)
	}
	if answer.Out != "" {
		_, _ = io.WriteString(h.shell.out, answer.Out) // an agent that does not listen is not helped by an error
	}
	if h.attendance != nil {
		if err := h.attendance.settle(ctx); err != nil && h.verbose {
			fmt.Fprintf(h.shell.err, "skillrouter hook: %s\n", clean(explain(err)))
		}
	}
	return answer.Code
}

func (h *hooked) answer(ctx context.Context) (hook.Answer, error) {
	text, err := h.read(ctx)
	if err != nil {
		return hook.Answer{}, err
	}
	if h.call, err = hook.Read(h.event, text); err != nil {
		return hook.Answer{}, err
	}
	h.identify()
	switch h.event {
	case hook.SessionStart, hook.UserPrompt:
		return h.inject(ctx)
	case hook.PreToolUse:
		return h.judge(ctx)
	case hook.PostToolUse, hook.PostFailure:
		return h.after(ctx)
	case hook.TurnEnd:
		return h.turn(ctx)
	case hook.SessionEnd:
		if h.now {
			return hook.Answer{}, h.end(ctx)
		}
		return hook.Answer{}, h.goodbye(ctx, text)
	}
	c, err := h.connect()
	if err != nil {
		return hook.Answer{}, err
	}
	return hook.Answer{}, probe(ctx, c)
}

// read reads the agent's message: one JSON value, after which nothing is waited
// for, so that an agent that keeps the pipe open is no obstacle.
func (h *hooked) read(ctx context.Context) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1) // the reader may outlive this call, as the process soon does not
	go func() {
		bounded := &io.LimitedReader{R: h.shell.in, N: hook.MaxInput + 1}
		var text json.RawMessage
		err := json.NewDecoder(bounded).Decode(&text)
		if bounded.N <= 0 {
			err = fmt.Errorf("the message is longer than %d bytes", hook.MaxInput)
		}
		done <- result{bytes.Clone(text), err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, fmt.Errorf("the message cannot be read: %w", r.err)
		}
		return r.text, nil
	case <-ctx.Done():
		return nil, errors.New("no message came")
	}
}

// identify decides who speaks and of which project. The wrapper's name for the
// agent goes before the one in its configuration, which all runs share.
func (h *hooked) identify() {
	if named := h.shell.env("SKILLROUTER_AGENT"); named != "" {
		h.agent = named
	}
	if h.agent == "" && h.shell.env("SKILLROUTER_TOKEN") == "" {
		h.agent = string(h.dialect)
	}
	if skillrouter.CheckAgentID("agent", h.agent) != nil {
		h.agent = ""
	}
	if h.project == "" {
		h.project = projectOf(h.call.Dir)
	}
}

// projectOf names the project that a folder belongs to after the folder that
// holds the repository, or itself if there is none.
func projectOf(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	dir = filepath.Clean(dir)
	name := filepath.Base(dir)
	if root := repositoryOf(dir); root != "" {
		name = filepath.Base(root)
	}
	if name == string(filepath.Separator) || skillrouter.CheckName("project", name) != nil {
		return ""
	}
	return name
}

// repositoryOf is the folder at or above dir that holds .git, or empty.
func repositoryOf(dir string) string {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// connect makes a client that gives up quickly. It connects to nothing yet.
func (h *hooked) connect() (*client.Client, error) {
	if h.client != nil {
		return h.client, nil
	}
	address, err := h.shell.address()
	if err != nil {
		return nil, err
	}
	dial := hookDialFar
	if u, err := url.Parse(address); err == nil && loopback(u) {
		dial = hookDial
	}
	h.client, err = client.New(address, client.Options{Token: h.shell.secret(address), UserAgent: "skillrouter/hook", Timeout: hookEndTime, Dial: dial})
	return h.client, err
}

// oneLine is a text that somebody wrote, on one line of at most limit bytes,
// with nothing in it that a terminal or a model would read and a person not see.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(skillrouter.Visible(router.Unfenced(text))), " ")
	if len(text) <= limit {
		return text
	}
	return skillrouter.Head(text, limit-len("…")) + "…"
}
