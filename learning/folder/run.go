package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"skillrouter/internal/errs"
)

// Bounds of a command that a policy names.
const (
	// killAfter is how long a command that is out of time may take to end by itself.
	killAfter = 2 * time.Second
	// maxOutput bounds what is kept of a command's output, in bytes; more of a
	// reviewer's is a failure, and of a gate's only the end is shown.
	maxOutput = 1 << 20
	tailShown = 1 << 10
)

// outcome is how a command ended.
type outcome struct {
	stdout []byte // the first maxOutput bytes
	tail   string // the last of stdout and stderr, for a person
	cut    bool   // there was more on stdout
	err    error  // nil if it exited with 0; says how else it ended
}

// execute runs a command in dir with stdin, within a time limit and in a process
// group of its own, of which nothing is left when it returns.
func execute(ctx context.Context, dir string, command Command, stdin []byte, limit time.Duration) outcome {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errOverdue)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	var wrote output
	cmd.Stdout, cmd.Stderr = wrote.stdout(), wrote.stderr()
	cmd.WaitDelay = killAfter
	group(cmd)
	err := cmd.Start()
	if err == nil {
		err = cmd.Wait()
		killGroup(cmd)
	}
	result := outcome{stdout: wrote.out, tail: wrote.end(), cut: wrote.cut}
	var exit *exec.ExitError
	switch {
	case errors.Is(context.Cause(ctx), errOverdue):
		result.err = fmt.Errorf("took longer than %s and was ended", limit)
	case ctx.Err() != nil:
		result.err = errs.Wrap(errs.Unavailable, ctx.Err(), "the run was given up")
	case errors.Is(err, exec.ErrWaitDelay):
		result.err = errors.New("left something running that kept its output open, which was ended")
	case errors.As(err, &exit):
		result.err = fmt.Errorf("ended with %s", exit.ProcessState)
	case err != nil:
		result.err = fmt.Errorf("could not be run: %w", err)
	}
	return result
}

var errOverdue = errors.New("overdue")

// output keeps the beginning of what a command writes to stdout and, for a person, the end of all that it writes. os/exec writes to stdout
// and stderr from a goroutine each.
type output struct {
	mu       sync.Mutex
	out      []byte // the first maxOutput bytes of stdout
	cut      bool   // there was more on stdout
	tail     []byte // the last tailShown bytes of all
	tailMore bool
}

// stdout and stderr are the two that write.
func (o *output) stdout() io.Writer { return writer(func(p []byte) { o.keep(p, true) }) }
func (o *output) stderr() io.Writer { return writer(func(p []byte) { o.keep(p, false) }) }

type writer func(p []byte)

// Write implements io.Writer.
func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

func (o *output) keep(p []byte, stdout bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if stdout {
		room := min(len(p), maxOutput-len(o.out))
		o.out, o.cut = append(o.out, p[:room]...), o.cut || room < len(p)
	}
	o.tail = append(o.tail, p[max(0, len(p)-tailShown):]...)
	over := max(0, len(o.tail)-tailShown)
	o.tail, o.tailMore = append(o.tail[:0], o.tail[over:]...), o.tailMore || over > 0 || len(p) > tailShown
}

// end is the kept end as one paragraph of valid UTF-8.
func (o *output) end() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := strings.TrimSpace(strings.ToValidUTF8(string(o.tail), "\ufffd"))
	if o.tailMore {
		s = "…" + s
	}
	return s
}
