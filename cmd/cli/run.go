package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/hook/respond"
	"github.com/skillrouter/skillrouter/internal/check"
)

// What a shell exits with when a command cannot be run
// (POSIX.1-2017, Shell Command Language, 2.8.2).
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// Bounds of the wrapper's times.
const (
	defaultGrace    = 10 * time.Second
	defaultInterval = 15 * time.Second
	minInterval     = 100 * time.Millisecond
	maxInterval     = time.Hour
)

func (s *shell) runCommand() *cobra.Command {
	w := wrapper{}
	m := memoryFor{wrapper: &w}
	w.grace, w.interval, w.beat.AgentID = defaultGrace, defaultInterval, s.env("SKILLROUTER_AGENT")
	var line []string
	cmd := s.remote(s.made(command{
		use: "run --agent ID [--role R] [--task T] -- COMMAND [ARG...]", short: "Run an agent's command, and keep it in touch with the router", into: []any{&line},
		long: `Runs COMMAND with this terminal and checks the agent in while it runs. A signal
"stop" from the router asks the command to end (SIGTERM to its process group),
and ends it after the grace period (SIGKILL). The signals "pause" and "resume"
suspend it and let it go on.

The exit code is the command's, or 128 more than the signal's number if a signal ended
it. It is 127 if there is no such command, and 126 if it cannot be run.

If the router is away, the command runs on, and the agent is checked in again
when the router is back. The command finds SKILLROUTER_AGENT,
SKILLROUTER_SERVER and, if one was given, SKILLROUTER_TOKEN in its environment.

Three flags are for agents without hooks. --context-file keeps a file with what is
known for them while they run. --record makes an episode of how they ended, with the
lines of --watch that tell of errors. --proxy sends them through the memory proxy.
Their output is not read: it is their terminal's.`,
		flags: options{
			option("agent", &w.beat.AgentID, "the agent's id (SKILLROUTER_AGENT)"),
			option("role", &w.beat.Role, "the agent's role"),
			option("task", &w.beat.CurrentTask, "what it works on"),
			option("model", &w.beat.Model, "the model that it uses"),
			option("config-name", &w.beat.ConfigName, "the name of its configuration"),
			option("project", &w.beat.ProjectPath, "its project's folder; the working folder if none is named"),
			option("grace", &w.grace, "how long it may take to end once it was asked to"),
			option("interval", &w.interval, "how often to check in"),
			option("start", &w.start, "start the router if none answers"),
			option("context-file", &m.file, "file that holds what is known while the command runs, and what it held before afterwards; implies --record"),
			option("watch", &m.watch, "file that the command writes, such as Aider's .aider.chat.history.md: its new lines with errors are recorded; implies --record"),
			option("record", &m.record, "record how the command ended as an episode"),
			option("proxy", &m.proxy, "send the command's calls of a model through the router (OPENAI_API_BASE, OPENAI_BASE_URL)"),
			option("verbose", &w.verbose, "say on standard error what happens between the agent and the router"),
		},
	}, func(ctx context.Context) error {
		if err := check.AgentID("--agent", w.beat.AgentID); err != nil {
			return usagef("%s", explain(err))
		}
		if w.grace < 0 || w.interval < minInterval || w.interval > maxInterval {
			return usagef("--grace must not be negative, and --interval lies between %s and %s", minInterval, maxInterval)
		}
		m.record = m.record || m.file != "" || m.watch != ""
		code, err := s.wrap(ctx, &w, &m, line)
		if err != nil {
			return err
		}
		return exitError(code)
	}))
	cmd.Flags().SetInterspersed(false) // what follows the command is the command's
	return cmd
}

// wrap runs the command to its end and returns the exit code to pass on.
func (s *shell) wrap(ctx context.Context, w *wrapper, m *memoryFor, args []string) (int, error) {
	to, err := s.place().Router()
	if err != nil {
		return 0, err
	}
	if _, err := s.client(); err != nil { // what is wrong with the address or the token is told before anything runs
		return 0, usageError{errors.New(explain(err))}
	}
	program, code, err := find(args[0])
	if err != nil {
		fmt.Fprintf(s.err, "skillrouter: %s\n", harmless(err.Error()))
		return code, nil
	}
	if w.beat.ProjectPath == "" {
		if w.beat.ProjectPath, err = os.Getwd(); err != nil {
			w.beat.ProjectPath = ""
		}
	}
	env := withEnv(os.Environ(), "SKILLROUTER_AGENT", w.beat.AgentID)
	env = withEnv(env, "SKILLROUTER_SERVER", to.URL)
	env = withEnv(env, respond.Wrapped, "1")
	if token := first(s.token, s.env("SKILLROUTER_TOKEN")); token != "" {
		env = withEnv(env, "SKILLROUTER_TOKEN", token)
	}
	w.shell, w.log = s, func(string, ...any) {}
	if w.verbose {
		w.log = func(format string, args ...any) { fmt.Fprintf(s.err, "skillrouter run: "+format+"\n", args...) }
	}
	if m.proxy {
		for _, name := range []string{"OPENAI_API_BASE", "OPENAI_BASE_URL"} { // the older name and the newer
			env = withEnv(env, name, strings.TrimRight(to.URL, "/")+"/v1")
		}
	}
	if err := m.begin(ctx, args); err != nil {
		return 0, err
	}
	w.child, err = startChild(program, args, env)
	if err != nil {
		m.record = false // there is nothing to tell of
		m.end(context.WithoutCancel(ctx), exitNotExecutable)
		fmt.Fprintf(s.err, "skillrouter: %s: %v\n", clean(program), reason(err))
		return exitNotExecutable, nil
	}
	w.beat.PID, w.beat.Status = w.child.pid, statusWorking
	// Signals are passed on to the child and end nothing here: the wrapper ends when the child has.
	ctx = context.WithoutCancel(ctx)
	stay, leave := context.WithCancel(ctx)
	var staying sync.WaitGroup
	staying.Go(func() { m.stay(stay) })
	code = w.run(ctx)
	leave()
	staying.Wait()
	m.end(ctx, code)
	return code, nil
}

// find finds the program of a command as a shell would, or says why it cannot
// be run and which exit code tells that.
func find(name string) (program string, code int, err error) {
	program, err = exec.LookPath(name)
	switch {
	case err == nil:
		return program, 0, nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "", exitNotFound, fmt.Errorf("%s: command not found", name)
	case errors.Is(err, fs.ErrPermission) && !strings.ContainsRune(name, os.PathSeparator):
		return "", exitNotFound, fmt.Errorf("%s: command not found", name)
	}
	return "", exitNotExecutable, fmt.Errorf("%s: cannot be run: %w", name, reason(err))
}

// withEnv sets a variable. The one before it must go: of two with one name,
// programs differ in which they see.
func withEnv(env []string, name, value string) []string {
	env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
	return append(env, name+"="+value)
}

// reason strips what the standard library says around the operating system's word.
func reason(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// exit is how a child ended.
type exit struct {
	code   int
	signal string // the signal that ended it, by name; empty if it ended by itself
}

// status is what the agent is said to be once its command has ended. The first
// word tells presence that the agent has gone.
func (e exit) status(stopped bool) string {
	what := "exited: completed"
	switch {
	case stopped:
		what = "stopped: on request"
	case e.signal != "":
		what = "exited: failed, ended by " + e.signal
	case e.code != 0:
		what = "exited: failed"
	}
	return fmt.Sprintf("%s, exit code %d", what, e.code)
}

// The statuses that the wrapper reports while the command runs.
const (
	statusWorking = "working"
	statusPaused  = "paused"
)
