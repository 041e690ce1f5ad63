package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	// latestError is the last call of its kind, in one thread, at which an error comes.
	latestError = 40
	// errorLoad is how long the load lasts under strace, which makes each call some hundred times slower.
	errorLoad = 1200 * time.Millisecond
	// folderLasts is how many rounds one folder lives: some errors then come in its first start.
	folderLasts = 6
)

// injected is an error that a system call is made to give.
type injected struct {
	call, errno string
	when        int  // which call, in each thread
	on          bool // and all after it
}

func anyInjected() injected {
	calls := []string{"fsync", "pwrite64", "ftruncate", "pread64"}
	return injected{calls[rand.IntN(len(calls))], []string{"EIO", "ENOSPC"}[rand.IntN(2)], 1 + rand.IntN(latestError), rand.IntN(2) == 0}
}

func (i injected) String() string {
	if i.on {
		return fmt.Sprintf("%s from %s on call %d, and from then on", i.errno, i.call, i.when)
	}
	return fmt.Sprintf("%s from %s on call %d", i.errno, i.call, i.when)
}

// strace is the command line that runs a program with the error.
func (i injected) strace(log string) []string {
	when := fmt.Sprint(i.when)
	if i.on {
		when += "+"
	}
	return []string{"strace", "-f", "-qq", "--seccomp-bpf", "-o", log, "-e", "trace=" + i.call, "-e", "inject=" + i.call + ":error=" + i.errno + ":when=" + when}
}

// canInject says why errors cannot be injected here.
func canInject() error {
	if said, err := exec.Command("strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=fsync:error=EIO", "true").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: no I/O error is injected without strace: %w %s", errSkipped, err, said)
	}
	return nil
}

// ioErrors runs rounds of load on a router whose system calls fail, and then
// starts it where they do not.
func ioErrors(ctx context.Context, program string, rounds int, choose func() injected, out *result) error {
	var s *scene
	for round := range rounds {
		if s == nil || round%folderLasts == 0 {
			data, err := os.MkdirTemp("", "soak-io")
			if err != nil {
				return err
			}
			defer os.RemoveAll(data)
			s = newScene(program, data, out)
			s.load.mayRefuse, s.load.writers, s.followers = true, 1, nil
		}
		what := choose()
		if err := s.underError(ctx, what); err != nil {
			return err
		}
		out.count("rounds of I/O errors", 1)
		r, err := s.begin(ctx)
		if err != nil {
			out.fault("after %v: %v", what, err)
			s = nil
			continue
		}
		r.kill()
		if out.faulty() {
			out.note("the error was %v", what)
			return nil
		}
	}
	return nil
}

// underError starts the router under strace, and lets it work while its calls fail.
func (s *scene) underError(ctx context.Context, what injected) error {
	log := filepath.Join(s.data, "..", filepath.Base(s.data)+".strace")
	defer os.Remove(log)
	r, err := spawn(s.program, s.data, what.strace(log)...)
	if err != nil {
		return err
	}
	var refused *refusedError
	switch err := r.up(ctx); {
	case errors.As(err, &refused):
		s.out.count("did not start while calls failed", 1)
	case err != nil:
		s.out.fault("%v: %v", what, err)
	default:
		loading, stop := context.WithTimeout(ctx, errorLoad)
		s.load.run(loading, r)
		stop()
		select {
		case <-r.ended:
			s.out.count("ended by itself, and says why", 1)
		default:
		}
	}
	r.kill()
	s.load.model.ended(time.Time{})
	if panics(r.log.String()) {
		s.out.fault("%v: it panics: %s", what, r.log)
	}
	if text, err := os.ReadFile(log); err == nil && strings.Contains(string(text), "(INJECTED)") {
		s.out.count("rounds in which a call failed", 1)
	}
	return nil
}

// panics says whether a log holds the trace of a panic.
func panics(log string) bool {
	return strings.Contains(log, "panic:") || strings.Contains(log, "goroutine ") || strings.Contains(log, "fatal error:")
}
