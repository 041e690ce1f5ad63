package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
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
	tail   string // the last of stdout and of stderr, for a person
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
	var said, complained output
	cmd.Stdout, cmd.Stderr = &said, &complained
	cmd.WaitDelay = killAfter
	group(cmd)
	err := cmd.Start()
	if err == nil {
		err = cmd.Wait()
		killGroup(cmd)
	}
	result := outcome{stdout: said.head, tail: strings.TrimSpace(said.end() + " " + complained.end()), cut: said.size > maxOutput}
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

// output keeps the beginning and the end of what a command writes to one of its two outputs.
type output struct {
	head []byte // the first maxOutput bytes
	tail []byte // the last tailShown bytes
	size int    // of all
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.head = append(o.head, p[:min(len(p), maxOutput-len(o.head))]...)
	o.tail = append(o.tail, p[max(0, len(p)-tailShown):]...)
	o.tail = slices.Clone(o.tail[max(0, len(o.tail)-tailShown):])
	o.size += len(p)
	return len(p), nil
}

// end is the kept end as one paragraph of valid UTF-8.
func (o *output) end() string {
	s := strings.TrimSpace(strings.ToValidUTF8(string(o.tail), "\ufffd"))
	if o.size > tailShown {
		s = "…" + s
	}
	return s
}
