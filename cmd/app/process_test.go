package app_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/scripts/soak/early"
)

// startTime is how long a started process may take to answer.
const startTime = 20 * time.Second

var (
	buildProgram  = sync.OnceValues(build)
	buildAckEarly = sync.OnceValues(func() (string, error) { return early.Build(context.Background(), buildDir) })
	buildDir      string
)

// naiveEnv makes the tests' own program the server of serveNaively.
const naiveEnv = "SKILLROUTER_TEST_NAIVE_IMPORT"

// serveNaively is the negative control: it decodes a whole body at once.
func serveNaively() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("http://" + listener.Addr().String())
	panic(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Records []map[string]any }
		err := json.NewDecoder(r.Body).Decode(&in)
		fmt.Fprintln(w, len(in.Records), err)
	})))
}

func TestMain(m *testing.M) {
	if os.Getenv(naiveEnv) != "" {
		serveNaively()
	}
	if address := os.Getenv("SKILLROUTER_TEST_FAKE_ROUTER"); address != "" {
		serveFake(address)
	}
	var err error
	if buildDir, err = os.MkdirTemp("", "skillrouter-test"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(buildDir)
	os.Exit(code)
}

// build builds the program as it ships.
func build() (string, error) {
	path := filepath.Join(buildDir, "skillrouter")
	cmd := exec.Command("go", "build", "-tags", "nomsgpack", "-o", path, "github.com/skillrouter/skillrouter/cmd/skillrouter")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New(string(output))
	}
	return path, nil
}

// program returns the built program, or skips a test that is asked to be short.
func program(t *testing.T, build func() (string, error)) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs the real program")
	}
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// process is a router in a process of its own.
type process struct {
	url    string
	token  string // shown if there is one
	cmd    *exec.Cmd
	ended  chan error
	stderr *output
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

// start starts a router on the data folder and waits until it answers.
func start(t *testing.T, program, data string) *process {
	t.Helper()
	var database []string
	if databasetest.OnPostgres() {
		database = []string{"--database", databasetest.Address(t, data)}
	}
	return startWith(t, &process{}, program, data, database...)
}

// startWith starts a router with further arguments.
func startWith(t *testing.T, p *process, program, data string, arguments ...string) *process {
	t.Helper()
	p.ended, p.stderr = make(chan error, 1), &output{}
	p.cmd = exec.Command(program, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data}, arguments...)...)
	p.cmd.Stderr = p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(p.kill)
	limit := time.NewTimer(startTime)
	defer limit.Stop()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-p.ended:
			p.ended <- err
			t.Fatalf("the router ended at its start with %v:\n%s", err, p.stderr)
		case <-limit.C:
			t.Fatalf("the router does not answer after %v:\n%s", startTime, p.stderr)
		case <-look.C:
		}
		holder, err := locate.ReadHolder(data)
		if err != nil || holder.PID != p.cmd.Process.Pid || !strings.HasPrefix(holder.Listen, "http://") {
			continue // it has not bound its address yet
		}
		p.url = holder.Listen
		if status, _, err := p.get(t.Context(), "/health"); err == nil && status == http.StatusOK {
			return p
		}
	}
}

// kill ends the process as a power cut would, as far as the process can tell.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	err := <-p.ended
	p.ended <- err
}

func (p *process) get(ctx context.Context, path string) (int, []byte, error) {
	return p.call(ctx, http.MethodGet, path, nil)
}

func (p *process) post(ctx context.Context, path string, body any) (int, []byte, error) {
	return p.call(ctx, http.MethodPost, path, body)
}

func (p *process) call(ctx context.Context, method, path string, body any) (int, []byte, error) {
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		in = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, p.url+path, in)
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if p.token != "" {
		r.Header.Set("Authorization", "Bearer "+p.token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	return answer.StatusCode, raw, err
}

// TestSecondProcessEndsAtOnce starts a second process on a held data folder:
// it must say who holds it, and end with exit code 1 within a second.
func TestSecondProcessEndsAtOnce(t *testing.T) {
	data := t.TempDir()
	path := program(t, buildProgram)
	first := start(t, path, data)
	begin := time.Now()
	second := exec.CommandContext(t.Context(), path, "serve", "--listen", "127.0.0.1:0", "--data", data)
	said, err := second.CombinedOutput()
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %v", took)
	}
	if second.ProcessState.ExitCode() != 1 {
		t.Errorf("exit code %d (%v)", second.ProcessState.ExitCode(), err)
	}
	for _, want := range []string{data, "process " + jsonOf(first.cmd.Process.Pid), first.url} {
		if !strings.Contains(string(said), want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	if status, _, err := first.get(t.Context(), "/health"); err != nil || status != http.StatusOK {
		t.Errorf("the first one: %d, %v", status, err)
	}
}

func jsonOf(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

// TestMCPStartsTheRouter runs `skillrouter mcp` several times at once where no
// router runs, as clients do when they start: one router must come of it, which
// outlives them all, and which serves whoever comes later.
func TestMCPStartsTheRouter(t *testing.T) {
	path, data := program(t, buildProgram), t.TempDir()
	t.Cleanup(func() {
		if holder, err := locate.ReadHolder(data); err == nil && holder.PID != 0 {
			end(t, holder.PID, data)
		}
	})
	call := func(agent, call, want string) error {
		cmd := exec.CommandContext(t.Context(), path, "mcp", "--agent", agent)
		cmd.Env = append(os.Environ(), "SKILLROUTER_DATA="+data, "SKILLROUTER_LISTEN=127.0.0.1:0", "SKILLROUTER_SERVER=", "SKILLROUTER_TOKEN=")
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":` + call + "}}\n")
		cmd.Stderr = &output{}
		said, err := cmd.Output()
		if err != nil || !strings.Contains(string(said), want) {
			return fmt.Errorf("%w: %s%s", cmp.Or(err, errors.New("not what was asked for")), said, cmd.Stderr)
		}
		return nil
	}
	const clients = 4
	var running errgroup.Group
	for i := range clients {
		running.Go(func() error {
			return call("builder-"+jsonOf(i), `"record_episode","arguments":{"event_type":"action","title":"t","content":"c"}`, "Recorded as")
		})
	}
	if err := running.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := call("captain", `"get_recent_episodes","arguments":{"session_id":"*"}`, "4 episodes, newest first"); err != nil {
		t.Error(err) // the four did not speak to one router
	}
}

// end ends a router that is no child of this process, and waits until it has let go of the folder.
func end(t *testing.T, pid int, data string) {
	t.Helper()
	router, err := os.FindProcess(pid)
	if err == nil {
		err = router.Signal(os.Interrupt)
	}
	if err != nil {
		t.Fatalf("the router that was started cannot be ended: %v", err)
	}
	limit := time.NewTimer(startTime)
	defer limit.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		lock, err := app.Acquire(data, locate.Holder{PID: os.Getpid()})
		if err == nil {
			_ = lock.Release()
			return
		}
		select {
		case <-limit.C:
			t.Fatalf("the router that was started does not end: %v", err)
		case <-look.C:
		}
	}
}
