// Package sidecar runs the sidecar as a process of its own for the benchmarks,
// talks to it on 127.0.0.1 only, and reads from /proc what it costs. It also
// holds what the benchmarks share: words that are as unevenly used as those of
// real text, percentiles, and how a figure is printed.
package sidecar

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/learning"
)

// Sidecar is the process that is measured.
type Sidecar struct {
	Base string        // its address
	Dir  string        // its data folder, if Fresh made it
	Took time.Duration // from its start to its first answer

	cmd     *exec.Cmd
	stopped bool
}

// Main is a benchmark's main: it measures, until it is interrupted. Started again
// as "serve DIR ADDRESS" the program is the process that is measured, and runs serve.
func Main(measure func(ctx context.Context) error, serve func(ctx context.Context, dir, address string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(os.Args) == 4 && os.Args[1] == "serve" {
		err = serve(ctx, os.Args[2], os.Args[3])
	} else {
		err = measure(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Serve is the measured process's own work: dir is its data folder, address
// where it listens.
func Serve(ctx context.Context, dir, address string) error {
	cfg := config.Default()
	cfg.Data, cfg.Listen = dir, address
	profiled(ctx)
	a, err := app.New(ctx, cfg, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// Profile has the measured process write a CPU profile of what f makes it do,
// into the file that Profiled names, and what was and is in its heap into one that ends with ".heap". It does nothing for a program built elsewhere.
func (s *Sidecar) Profile(f func() error) error {
	if os.Getenv(Profiled) == "" {
		return f()
	}
	_ = s.cmd.Process.Signal(syscall.SIGUSR1)
	err := f()
	_ = s.cmd.Process.Signal(syscall.SIGUSR2)
	return err
}

// Profiled is the environment variable that names the file of Profile.
const Profiled = "BENCH_CPUPROFILE"

// profiled starts a profile at SIGUSR1 and writes it at SIGUSR2.
func profiled(ctx context.Context) {
	path := os.Getenv(Profiled)
	if path == "" {
		return
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		var file *os.File
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-signals:
				switch {
				case s == syscall.SIGUSR1 && file == nil:
					if file, _ = os.Create(path); file != nil {
						_ = pprof.StartCPUProfile(file)
					}
				case s == syscall.SIGUSR2 && file != nil:
					pprof.StopCPUProfile()
					_ = file.Close()
					if heap, err := os.Create(path + ".heap"); err == nil {
						_ = errors.Join(pprof.Lookup("allocs").WriteTo(heap, 0), heap.Close())
					}
					file = nil
				}
			}
		}
	}()
}

// Start starts this program again as the sidecar on a free port and waits until it answers.
func Start(ctx context.Context, dir string) (*Sidecar, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(ctx, program, func(address string) []string { return []string{"serve", dir, address} })
}

// Fresh is Start on an empty folder, which goes away when the sidecar is stopped.
func Fresh(ctx context.Context) (*Sidecar, error) { return FreshOf(ctx, "") }

// FreshOf is Fresh for a built skillrouter; empty: this program is the sidecar.
func FreshOf(ctx context.Context, binary string) (*Sidecar, error) {
	dir, err := os.MkdirTemp("", "skillrouter-bench-")
	if err != nil {
		return nil, err
	}
	var s *Sidecar
	if binary == "" {
		s, err = Start(ctx, dir)
	} else {
		s, err = StartBinary(ctx, binary, dir)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	s.Dir = dir
	return s, nil
}

// StartBinary is Start for a built skillrouter.
func StartBinary(ctx context.Context, binary, dir string) (*Sidecar, error) {
	return start(ctx, binary, func(address string) []string {
		return []string{"serve", "--listen", address, "--data", dir}
	})
}

func start(ctx context.Context, program string, args func(address string) []string) (*Sidecar, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, err
	}
	began := time.Now()
	s := &Sidecar{cmd: exec.CommandContext(ctx, program, args(address)...), Base: "http://" + address}
	s.cmd.Stderr = os.Stderr
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for time.Since(began) < 30*time.Second {
		if response, err := http.Get(s.Base + "/health"); err == nil {
			_ = response.Body.Close()
			s.Took = time.Since(began)
			return s, nil
		}
		time.Sleep(time.Millisecond)
	}
	s.Stop()
	return nil, errors.New("the sidecar did not answer within 30 s")
}

// PID is the number of the process.
func (s *Sidecar) PID() int { return s.cmd.Process.Pid }

// Kill ends the process at once, and waits until it is gone.
func (s *Sidecar) Kill() { s.end(os.Kill) }

// Stop ends the process as a person does, once, and waits until it is gone.
func (s *Sidecar) Stop() { s.end(os.Interrupt) }

func (s *Sidecar) end(by os.Signal) {
	if s.stopped {
		return
	}
	s.stopped = true
	_ = s.cmd.Process.Signal(by)
	_ = s.cmd.Wait()
	if s.Dir != "" {
		_ = os.RemoveAll(s.Dir)
	}
}

// callers keeps a connection for each of as many callers as a benchmark has.
var callers = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// Send makes a call with a body that is JSON, or any value that becomes it, and
// reads the answer into a pointer, unless that is nil. What is no success is an error.
func (s *Sidecar) Send(ctx context.Context, method, path string, body, into any) error {
	text, ready := body.(json.RawMessage)
	if !ready {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	answer, err := s.Call(ctx, method, path, text)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(answer, into)
}

// Call makes a call with a body that is JSON, and returns the answer's. What is no success is an error.
func (s *Sidecar) Call(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	return s.send(ctx, method, path, "application/json", body)
}

// Bulk stores entries of knowledge, one JSON object a line, in one call.
func (s *Sidecar) Bulk(ctx context.Context, lines []byte) (result learning.BulkResult, err error) {
	answer, err := s.send(ctx, http.MethodPost, "/api/knowledge/bulk", "application/x-ndjson", lines)
	if err == nil {
		err = json.Unmarshal(answer, &result)
	}
	return result, err
}

func (s *Sidecar) send(ctx context.Context, method, path, contentType string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.Base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", contentType)
	response, err := callers.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s answers %s: %.400s", path, response.Status, text)
	}
	return text, err
}

// tick is the unit of times in /proc, fixed at 100 a second on Linux.
const tick = 10 * time.Millisecond

// CPU returns the processor time that the process has used: unlike time on the
// clock it tells the same on a busy machine.
func (s *Sidecar) CPU() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0 // not Linux
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}

// Resident and Peak return the resident memory of the process, in MB (10⁶ bytes).
func (s *Sidecar) Resident() float64 { return Memory(s.PID(), "VmRSS:") }

func (s *Sidecar) Peak() float64 { return Memory(s.PID(), "VmHWM:") }

// Memory returns what a process's status says in a field of its memory, in MB (10⁶ bytes); -1 if it does not say.
func Memory(pid int, field string) float64 {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return -1 // not Linux
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), field); ok {
			kb, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			return kb * 1024 / 1e6
		}
	}
	return -1
}
