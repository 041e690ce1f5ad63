package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
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
	end := &lastBytes{max: tailShown}
	out := &firstBytes{max: maxOutput, also: end}
	cmd.Stdout, cmd.Stderr = out, end
	cmd.WaitDelay = killAfter
	group(cmd)
	err := cmd.Start()
	if err == nil {
		err = cmd.Wait()
		killGroup(cmd)
	}
	result := outcome{stdout: out.text, tail: end.text(), cut: out.cut}
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

// firstBytes keeps the beginning of what is written. os/exec writes to stdout
// and stderr from a goroutine each, and lastBytes takes both.
type firstBytes struct {
	max  int
	text []byte
	cut  bool
	also *lastBytes
}

func (w *firstBytes) Write(p []byte) (int, error) {
	room := min(len(p), w.max-len(w.text))
	w.text = append(w.text, p[:room]...)
	w.cut = w.cut || room < len(p)
	return w.also.Write(p)
}

// text is the kept end as one paragraph of valid UTF-8.
func (w *lastBytes) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := strings.TrimSpace(strings.ToValidUTF8(string(w.tail), "\ufffd"))
	if w.cut {
		s = "…" + s
	}
	return s
}
