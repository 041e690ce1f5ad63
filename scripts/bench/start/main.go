// Command start measures the processor's time that an empty router has taken when
// it first answers: `skillrouter serve` on a folder that is entirely new, and on
// one that a router has used and left. It asks /health until it answers, kills the
// process, and takes what the system says that it has used.
//
//	go run ./scripts/bench/start [-program bin/skillrouter] [-other OLD] [-runs 20]
//
// With -other it measures that program in turns with the first.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"skillrouter/cmd/locate"
	"skillrouter/scripts/bench/sidecar"
)

const (
	patience = 30 * time.Second
	// lookEvery is how often the folder is looked at for the router's address.
	lookEvery = 2 * time.Millisecond
)

func main() {
	program := flag.String("program", "bin/skillrouter", "program to measure")
	other := flag.String("other", "", "a second one, in turns with the first")
	runs := flag.Int("runs", 20, "starts of each")
	sidecar.Main(func(ctx context.Context) error {
		flag.Parse()
		return measure(ctx, *runs, *program, *other)
	}, sidecar.Serve)
}

func measure(ctx context.Context, runs int, programs ...string) error {
	if runs < 1 {
		return errors.New("-runs must be at least 1")
	}
	type figures struct{ cpu, wall []time.Duration }
	found := map[string]*figures{}
	var order []string
	for range runs {
		for _, program := range programs {
			if program == "" {
				continue
			}
			for _, kind := range []string{"a new folder", "a used folder"} {
				name := program + ", " + kind
				cpu, wall, err := once(ctx, program, kind == "a used folder")
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				if found[name] == nil {
					found[name] = &figures{}
					order = append(order, name)
				}
				found[name].cpu, found[name].wall = append(found[name].cpu, cpu), append(found[name].wall, wall)
			}
		}
	}
	for _, name := range order {
		sidecar.Report(name, "processor %s", sidecar.Percentiles(found[name].cpu))
		sidecar.Report("", "clock     %s", sidecar.Percentiles(found[name].wall))
	}
	return nil
}

// once measures one start, on a folder that goes away again.
func once(ctx context.Context, program string, used bool) (cpu, wall time.Duration, err error) {
	dir, err := os.MkdirTemp("", "bench-start")
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if used {
		if _, _, err := start(ctx, program, dir, true); err != nil {
			return 0, 0, err
		}
	}
	return start(ctx, program, dir, false)
}

// start starts a router on a folder and waits for its first answer. It returns the
// processor's and the clock's time until the answer. The router is killed then
// or, if it is to leave the folder in order, asked to end.
func start(ctx context.Context, program, dir string, orderly bool) (cpu, wall time.Duration, err error) {
	cmd := exec.CommandContext(ctx, program, "serve", "--data", dir, "--listen", "127.0.0.1:0")
	cmd.Env = []string{"HOME=" + filepath.Join(dir, "home"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	wall, err = answered(cmd.Process.Pid, dir, begin)
	end := os.Kill
	if orderly {
		end = os.Interrupt
	}
	if wrong := cmd.Process.Signal(end); wrong != nil {
		return 0, 0, errors.Join(err, wrong)
	}
	_ = cmd.Wait() // that it was killed is no error
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall, err
}

// answered is the time that a process has taken until it answers for a folder.
func answered(pid int, dir string, begin time.Time) (time.Duration, error) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for time.Since(begin) < patience {
		if holder, err := locate.ReadHolder(dir); err == nil && holder.PID == pid && holder.URL() != "" {
			response, err := http.Get(holder.URL() + "/health")
			if err == nil {
				return time.Since(begin), response.Body.Close()
			}
		}
		<-look.C
	}
	return 0, errors.New("no router answers")
}
