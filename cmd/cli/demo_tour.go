package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
)

// demoWidth is the column at which a command that is shown goes on in another line.
const demoWidth = 60

// tour runs this program's own commands against a router in a temporary
// folder, and shows what they print.
type tour struct {
	*shell  // which finds and starts that router
	out     io.Writer
	pace    time.Duration
	program string
	dir     string // holds everything, and is removed at the end
	client  *client.Client
	failed  error // what did not come about; after it nothing is done, and nothing shown

	stream chan operational.Message // what the reviewer is handed
	first  operational.Message      // of that
}

func newTour(out io.Writer, pace time.Duration) (*tour, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program cannot tell where it lies: %w", err)
	}
	dir, err := os.MkdirTemp("", "skillrouter-demo-")
	if err != nil {
		return nil, err
	}
	settings := filepath.Join(dir, "config.yaml")
	// Neither the user's settings nor his router have a part in it.
	ours := map[string]string{"SKILLROUTER_CONFIG": settings, "SKILLROUTER_DATA": filepath.Join(dir, "data")}
	t := &tour{out: out, pace: pace, program: program, dir: dir}
	t.shell = &shell{out: io.Discard, err: io.Discard, lookupEnv: func(name string) (string, bool) {
		if value, is := ours[name]; is || strings.HasPrefix(name, "SKILLROUTER_") {
			return value, is
		}
		return os.LookupEnv(name)
	}}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "SKILLROUTER_") {
			t.environ = append(t.environ, variable)
		}
	}
	for name, value := range ours {
		t.environ = withEnv(t.environ, name, value)
	}
	if err := os.WriteFile(settings, []byte("listen: 127.0.0.1:0\nlog:\n  level: warn\n"), 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return t, nil
}

// close ends what was started and removes the folder.
func (t *tour) close() {
	t.kill()
	_ = os.RemoveAll(t.dir) // what cannot be removed is the system's temporary folder's to remove
}

// fail keeps the first error, and tells whether there was one.
func (t *tour) fail(err error) bool {
	if t.failed == nil && err != nil {
		t.failed, t.out = err, io.Discard
	}
	return t.failed != nil
}

// start starts the router as a command does where none runs, and waits until it answers.
func (t *tour) start(ctx context.Context) {
	if t.failed == nil {
		up, err := t.ensureRunning(ctx)
		if !t.fail(err) {
			t.client = up
		}
	}
}

// kill ends the router as a power cut does.
func (t *tour) kill() {
	if t.started.Process != nil {
		_ = t.started.Kill() // it may have ended
		<-t.started.gone
	}
}

// follow lets the reviewer follow its messages until ctx ends, and waits until the router knows it.
func (t *tour) follow(ctx context.Context) {
	if t.failed != nil {
		return
	}
	open := make(chan struct{})
	t.stream = make(chan operational.Message, demoSignals+1)
	up := sync.OnceFunc(func() { close(open) })
	go func() {
		_ = t.client.Mailbox.Follow(ctx, client.Follower{AgentID: "reviewer", After: client.FromCursor, Up: up}, func(m operational.Message) error {
			t.stream <- m
			return nil
		}) // what is missing then is noticed
	}()
	awaited(ctx, t, open, "the stream is open")
}

// next is the next message that the reviewer is handed.
func (t *tour) next(ctx context.Context) operational.Message {
	return awaited(ctx, t, t.stream, "the reviewer's stream has every signal")
}

// awaited waits for what comes on a channel, unless the tour has failed.
func awaited[T any](ctx context.Context, t *tour, from <-chan T, what string) (come T) {
	limited, cancel := context.WithTimeout(ctx, demoPatience)
	defer cancel()
	if t.failed == nil {
		select {
		case come = <-from:
		case <-limited.Done():
			t.fail(ctx.Err())
			t.claim(false, what)
		}
	}
	return come
}

// run shows a command and what it prints, and returns that. The tour fails unless the command ends with the exit code want, and
// prints the text.
func (t *tour) run(ctx context.Context, want int, text string, args ...string) string {
	if t.failed != nil {
		return ""
	}
	t.indented("$ " + shown(args))
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, t.program, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = t.environ, t.dir, &said, &said
	cmd.WaitDelay = time.Second
	err, code := cmd.Run(), exitDone
	if exited, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		err, code = nil, exited.ExitCode()
	}
	if t.fail(err) {
		return ""
	}
	t.indented(said.String())
	if code != exitDone {
		t.indented(fmt.Sprintf("(exit code %d)", code))
	}
	t.rest(ctx)
	t.claim(code == want, fmt.Sprintf("skillrouter %s exits with %d; it did with %d", args[0], want, code))
	t.claim(strings.Contains(said.String(), text), fmt.Sprintf("skillrouter %s prints %q", args[0], text))
	return said.String()
}

// claim holds the tour to what it says, and tells whether all of it held so far.
func (t *tour) claim(holds bool, what string) bool {
	if !holds {
		t.fail(errs.Errorf(errs.Internal, "the tour does not show what it should: it is not so that %s", what))
	}
	return t.failed == nil
}

func (t *tour) say(text string) { t.print("\n" + text + "\n") }

// print shows a text; a tour that nobody reads ends.
func (t *tour) print(text string) {
	_, err := io.WriteString(t.out, text)
	t.fail(err)
}

// indented prints lines as a terminal would show them, set off from what is said of them.
func (t *tour) indented(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		if line = strings.TrimRight(line, "\n"); line != "" {
			line = "    " + line
		}
		t.print(line + "\n")
	}
}

// rest gives people the time to read.
func (t *tour) rest(ctx context.Context) {
	if t.pace > 0 {
		_ = committer.Pause(ctx, t.pace)
	}
}

// shown is a command as one would type it.
func shown(args []string) string {
	line, width := "skillrouter", 0
	for _, word := range args {
		quoted := shellQuoted(word)
		if strings.HasPrefix(word, "--") && width+len(quoted) > demoWidth {
			line, width = line+" \\\n   ", 0
		}
		line, width = line+" "+quoted, width+len(quoted)+1
	}
	return line
}
