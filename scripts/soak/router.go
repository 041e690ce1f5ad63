package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// startTime is how long a router may take to answer, or to refuse: a hundred times what it takes here.
	startTime = 30 * time.Second
	// callTime is how long an answer may take before it counts as hung. SQLite waits 5 s for a lock.
	callTime = 15 * time.Second
	// stopTime is how long a router that is told to end may take.
	stopTime = 10 * time.Second
)

// router is a router in a process of its own.
type router struct {
	url    string
	took   time.Duration // from its start to its first answer
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process is gone
	log    *output
	client *http.Client
}

// output keeps what a process writes.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// refusedError says that a router ended instead of answering.
type refusedError struct {
	code int
	log  string
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("it ended at its start with code %d: %s", e.code, lastLine(e.log))
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

var errHung = errors.New("it neither answers nor ends")

// spawn runs a router on the data folder, under other programs if wrap names some.
func spawn(program, data string, wrap ...string) (*router, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, err
	}
	line := append(wrap, program, "serve", "--listen", address, "--data", data)
	r := &router{
		url: "http://" + address, cmd: exec.Command(line[0], line[1:]...), ended: make(chan struct{}), log: &output{},
		client: &http.Client{Timeout: callTime, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	r.cmd.Stderr = r.log
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that a kill reaches what wrap runs
	r.cmd.Env = append(os.Environ(), "SKILLROUTER_TOKEN=", "SKILLROUTER_SERVER=", "SKILLROUTER_DATA=")
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = r.cmd.Wait()
		close(r.ended)
	}()
	return r, nil
}

// up waits until it answers. It returns a refusedError if it ends instead.
func (r *router) up(ctx context.Context) error {
	began := time.Now()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.ended:
			return &refusedError{r.cmd.ProcessState.ExitCode(), r.log.String()}
		case <-look.C:
		}
		if status, _, err := r.call(ctx, http.MethodGet, "/health", nil); err == nil && status == http.StatusOK {
			r.took = time.Since(began)
			return nil
		}
		if time.Since(began) > startTime {
			return errHung
		}
	}
}

// start spawns a router and waits until it answers.
func start(ctx context.Context, program, data string) (*router, error) {
	r, err := spawn(program, data)
	if err != nil {
		return nil, err
	}
	if err := r.up(ctx); err != nil {
		r.kill()
		return nil, err
	}
	return r, nil
}

func (r *router) signal(s syscall.Signal) { _ = syscall.Kill(-r.cmd.Process.Pid, s) }

// kill ends the process at once, and waits until it is gone.
func (r *router) kill() {
	r.signal(syscall.SIGKILL)
	<-r.ended
	r.client.CloseIdleConnections()
}

// stop asks it to end, and returns what was wrong with how it did.
func (r *router) stop() error {
	began := time.Now()
	r.signal(syscall.SIGTERM)
	select {
	case <-r.ended:
	case <-time.After(stopTime):
		r.kill()
		return fmt.Errorf("it does not end within %v of SIGTERM", stopTime)
	}
	r.client.CloseIdleConnections()
	if code := r.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("SIGTERM ends it with code %d after %v: %s", code, time.Since(began), lastLine(r.log.String()))
	}
	return nil
}

func (r *router) call(ctx context.Context, method, path string, body any) (int, []byte, error) {
	var in io.Reader
	kind := "application/json"
	switch body := body.(type) {
	case nil:
	case []byte:
		in, kind = bytes.NewReader(body), "application/x-ndjson"
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		in = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, r.url+path, in)
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", kind)
	}
	answer, err := r.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	return answer.StatusCode, raw, err
}

// isTimeout tells a call that hung from one whose router is gone.
func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
