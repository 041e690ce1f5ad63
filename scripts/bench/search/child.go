package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

// Each engine runs in a process of its own, this program again: what it costs
// in memory and processor time is then its own. "fill" writes a made-up
// collection, "serve" answers questions from the standard input, "judge"
// measures the quality of the answers on a judged collection.
func child(ctx context.Context, args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("a child wants a verb, an engine and a folder")
	}
	verb, name, dir := args[0], args[1], args[2]
	k, err := kindOf(name)
	if err != nil {
		return err
	}
	var answer any
	switch verb {
	case "fill":
		size, err := strconv.Atoi(args[3])
		if err != nil {
			return err
		}
		answer, err = fill(ctx, k, dir, size)
		if err != nil {
			return err
		}
	case "serve":
		return serve(ctx, k, dir, os.Stdin, os.Stdout)
	case "judge":
		if answer, err = judge(ctx, k, dir, args[3]); err != nil {
			return err
		}
	default:
		return fmt.Errorf("a child cannot %q", verb)
	}
	return json.NewEncoder(os.Stdout).Encode(answer)
}

// batchEntries is how many entries are stored at once, and fillAhead how many
// are made before the clock runs: making them must not count.
const (
	batchEntries = 1000
	fillAhead    = 20_000
)

// A store of largeSize entries has a rest before it is closed, in which it puts in order and saves what it was given: what is stopped
// at once does that at its next start, and this measures searches.
const (
	largeSize = 500_000
	rest      = 20 * time.Second
)

// filled is what writing a collection came to.
type filled struct {
	Rate float64 // entries a second, each on disk when it counts
	CPU  float64 // microseconds of processor an entry
	Disk float64 // MB, after the store was closed
	Took float64 // seconds, with closing
	Peak float64 // MB resident
}

func fill(ctx context.Context, k kind, dir string, size int) (filled, error) {
	e, err := k.open(ctx, dir)
	if err != nil {
		return filled{}, err
	}
	c := newCollection(size)
	var took, used time.Duration
	for entries := c.next(fillAhead); len(entries) > 0; entries = c.next(fillAhead) {
		began, cpu := time.Now(), processorTime()
		for len(entries) > 0 {
			n := min(batchEntries, len(entries))
			if err := e.add(ctx, entries[:n]); err != nil {
				return filled{}, err
			}
			entries = entries[n:]
		}
		took, used = took+time.Since(began), used+processorTime()-cpu
	}
	peak := max(0, sidecar.Memory(os.Getpid(), "VmHWM:"))
	if size >= largeSize {
		time.Sleep(rest)
	}
	began := time.Now()
	if err := e.close(); err != nil {
		return filled{}, err
	}
	return filled{
		Rate: float64(size) / took.Seconds(), CPU: float64(used.Microseconds()) / float64(size), Disk: megabytes(dir),
		Took: (took + time.Since(began)).Seconds(), Peak: peak,
	}, nil
}

// megabytes is how large the files below dir are.
func megabytes(dir string) float64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return float64(sum) / 1e6
}

// reply is the answer of a serving child.
type reply struct {
	IDs   []string
	Took  time.Duration
	CPU   time.Duration // of the whole process: an engine may search on several cores, and collect its garbage
	Start time.Duration // from before the store was opened to this answer
	Error string
}

func serve(ctx context.Context, k kind, dir string, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	requests, replies := json.NewDecoder(lines), json.NewEncoder(out)
	var q question
	if err := requests.Decode(&q); err != nil { // so that waiting for it does not count
		return err
	}
	began := time.Now()
	e, err := k.open(ctx, dir)
	if err != nil {
		return err
	}
	for first := true; ; first = false {
		from, cpu := time.Now(), processorTime()
		ids, err := e.search(ctx, q)
		r := reply{IDs: ids, Took: time.Since(from), CPU: processorTime() - cpu}
		if first {
			r.Start = time.Since(began)
		}
		if err != nil {
			r.Error = err.Error()
		}
		if err := replies.Encode(r); err != nil {
			return err
		}
		q = question{}
		if err := requests.Decode(&q); err == io.EOF {
			return e.close()
		} else if err != nil {
			return err
		}
	}
}

// processorTime is what this process has used so far.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// server is a child that answers.
type server struct {
	kind     kind
	cmd      *exec.Cmd
	in       io.WriteCloser
	requests *json.Encoder
	replies  *json.Decoder
}

func command(ctx context.Context, args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, append([]string{"child"}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd, nil
}

// call runs a child to its end and reads its answer.
func call(ctx context.Context, answer any, args ...string) error {
	cmd, err := command(ctx, args...)
	if err != nil {
		return err
	}
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return json.Unmarshal(text, answer)
}

func startServer(ctx context.Context, k kind, dir string) (*server, error) {
	cmd, err := command(ctx, "serve", k.name, k.folder(dir))
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &server{kind: k, cmd: cmd, in: in, requests: json.NewEncoder(in), replies: json.NewDecoder(out)}, nil
}

func (s *server) ask(q question) (reply, error) {
	if err := s.requests.Encode(q); err != nil {
		return reply{}, err
	}
	var r reply
	if err := s.replies.Decode(&r); err != nil {
		return reply{}, fmt.Errorf("%s ended: %w", s.kind.name, err)
	}
	if r.Error != "" {
		return reply{}, fmt.Errorf("%s: %s", s.kind.name, r.Error)
	}
	return r, nil
}

func (s *server) end() error {
	_ = s.in.Close()
	return s.cmd.Wait()
}
