package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"skillrouter/cmd/locate"
	"skillrouter/internal/committer"
	"skillrouter/internal/errs"
	"skillrouter/router/client"
)

// demoWidth is the column at which a command that is shown goes on in another line.
const demoWidth = 100

// tour runs this program's own commands against a router in a temporary
// folder, and shows what they print.
type tour struct {
	out     io.Writer
	pace    time.Duration
	program string
	dir     string // holds everything, and is removed at the end
	env     []string

	router   *exec.Cmd
	ended    chan struct{} // closed when the router has ended
	reader   *exec.Cmd     // the agent that follows its messages
	readDone chan struct{}

	failed error // what did not come about; after it nothing is done, and nothing shown

	mu       sync.Mutex
	messages []followed
}

// followed is a message that the reader was handed.
type followed struct {
	seq  int64
	line string
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
	t := &tour{out: out, pace: pace, program: program, dir: dir}
	// Neither the user's settings nor his router have a part in it.
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "SKILLROUTER_") {
			t.env = append(t.env, variable)
		}
	}
	settings := filepath.Join(dir, "config.yaml")
	t.env = append(t.env, "SKILLROUTER_CONFIG="+settings, "SKILLROUTER_DATA="+t.data())
	if err := os.WriteFile(settings, []byte("log:\n  level: warn\n"), 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return t, nil
}

func (t *tour) data() string { return filepath.Join(t.dir, "data") }

// close ends what was started and removes the folder.
func (t *tour) close() {
	if t.reader != nil {
		_ = t.reader.Process.Kill() // it may have ended
		<-t.readDone
	}
	_ = t.kill()
	_ = os.RemoveAll(t.dir) // what cannot be removed is the system's temporary folder's to remove
}

// fail keeps the first error, and tells whether there was one.
func (t *tour) fail(err error) bool {
	if t.failed == nil && err != nil {
		t.failed, t.out = err, io.Discard
	}
	return t.failed != nil
}

// start starts the router and waits until it answers.
func (t *tour) start(ctx context.Context, listen string) {
	if t.failed != nil {
		return
	}
	log, err := os.OpenFile(filepath.Join(t.dir, logName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if t.fail(err) {
		return
	}
	defer log.Close()
	cmd := exec.Command(t.program, "serve", "--listen", listen)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = t.env, t.dir, log, log
	ownGroup(cmd) // the terminal's interrupt is for the tour, which ends it
	cmd.Cancel = nil
	if err := cmd.Start(); err != nil {
		t.fail(fmt.Errorf("the router cannot be started: %w", err))
		return
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.router, t.ended = cmd, ended
	answers := t.until(ctx, "the router answers", func() bool {
		holder, err := locate.ReadHolder(t.data())
		if err != nil || holder.PID != cmd.Process.Pid || holder.URL() == "" {
			return false
		}
		c, err := t.client()
		return err == nil && probe(ctx, c) == nil
	})
	if !answers && ctx.Err() == nil {
		text, _ := os.ReadFile(log.Name())
		t.failed = fmt.Errorf("%w; its log:\n%s", t.failed, bytes.TrimSpace(text))
	}
}

// kill ends the router as a power cut does.
func (t *tour) kill() error {
	if t.router == nil {
		return nil
	}
	if err := t.router.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-t.ended
	t.router = nil
	return nil
}

// address is the router's host and port.
func (t *tour) address() string {
	holder, err := locate.ReadHolder(t.data())
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(holder.URL(), "http://")
}

func (t *tour) client() (*client.Client, error) {
	return client.New("http://"+t.address(), client.Options{UserAgent: "skillrouter-demo"})
}

// follow lets an agent follow its messages, and waits until the router knows it.
func (t *tour) follow(ctx context.Context, agent string) {
	if t.failed != nil {
		return
	}
	args := []string{"messages", "--agent", agent, "--follow", "--json"}
	t.indented("$ " + shown(args) + " &")
	cmd := exec.Command(t.program, args...)
	cmd.Env, cmd.Dir = t.env, t.dir
	ownGroup(cmd)
	cmd.Cancel = nil
	out, err := cmd.StdoutPipe()
	if t.fail(err) || t.fail(cmd.Start()) {
		return
	}
	t.reader, t.readDone = cmd, make(chan struct{})
	go func() {
		defer close(t.readDone)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var message struct {
				Seq int64 `json:"seq"`
			}
			if json.Unmarshal(lines.Bytes(), &message) == nil {
				t.mu.Lock()
				t.messages = append(t.messages, followed{message.Seq, lines.Text()})
				t.mu.Unlock()
			}
		}
		_ = cmd.Wait() // it is killed at the end
	}()
	t.until(ctx, "the stream is open", func() bool {
		c, err := t.client()
		if err != nil {
			return false
		}
		health, err := c.System.Health(ctx)
		return err == nil && health.Stats["streams"] == 1
	})
}

// received is what the reader was handed so far.
func (t *tour) received() []followed {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]followed(nil), t.messages...)
}

// run shows a command and what it prints, and returns that. The tour fails unless the command ends with the exit code want.
func (t *tour) run(ctx context.Context, want int, args ...string) string {
	if t.failed != nil {
		return ""
	}
	t.indented("$ " + shown(args))
	text, code, err := t.quietly(ctx, args...)
	if t.fail(err) {
		return text
	}
	t.indented(text)
	if code != exitDone {
		t.indented(fmt.Sprintf("(exit code %d)", code))
	}
	t.rest(ctx)
	t.claim(code == want, fmt.Sprintf("skillrouter %s exits with %d; it did with %d", args[0], want, code))
	return text
}

// quietly runs a command and returns what it prints and its exit code.
func (t *tour) quietly(ctx context.Context, args ...string) (string, int, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, t.program, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = t.env, t.dir, &out, &out
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return out.String(), exited.ExitCode(), nil
	}
	return out.String(), 0, err
}

// claim holds the tour to what it says, and tells whether all of it held so far.
func (t *tour) claim(holds bool, what string) bool {
	if !holds {
		t.fail(errs.Errorf(errs.Internal, "the tour does not show what it should: it is not so that %s", what))
	}
	return t.failed == nil
}

// until waits for something to come about, and tells whether it did.
func (t *tour) until(ctx context.Context, what string, met func() bool) bool {
	limit := time.NewTimer(demoPatience)
	defer limit.Stop()
	look := time.NewTicker(probeEvery)
	defer look.Stop()
	for t.failed == nil && !met() {
		select {
		case <-ctx.Done():
			t.fail(ctx.Err())
		case <-limit.C:
			t.claim(false, what)
		case <-look.C:
		}
	}
	return t.failed == nil
}

func (t *tour) chapter(title string) { fmt.Fprintf(t.out, "\n%s\n", title) }

func (t *tour) say(text string) { fmt.Fprintf(t.out, "\n%s\n", text) }

// indented prints lines as a terminal would show them, set off from what is said of them.
func (t *tour) indented(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		if line = strings.TrimRight(line, "\n"); line != "" {
			line = "    " + line
		}
		fmt.Fprintln(t.out, line)
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
	var b strings.Builder
	width := 0
	for _, word := range append([]string{"skillrouter"}, args...) {
		quoted, err := syntax.Quote(word, syntax.LangBash)
		if err != nil {
			quoted = fmt.Sprintf("%q", word)
		}
		if width > 0 {
			if strings.HasPrefix(word, "--") && width+len(quoted) > demoWidth-40 {
				b.WriteString(" \\\n   ")
				width = len("   ")
			}
			b.WriteByte(' ')
		}
		b.WriteString(quoted)
		width += len(quoted) + 1
	}
	return b.String()
}
