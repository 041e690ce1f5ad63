package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/skillrouter/skillrouter/cmd/locate"
)

// confine is the variable that turns this test's program into one that confines
// itself and then becomes the program that the variable names.
const confine = "SKILLROUTER_TEST_CONFINE"

// unconfinable is the exit code of a confined program where the kernel will not confine.
const unconfinable = 99

func TestMain(m *testing.M) {
	if program := os.Getenv(confine); program != "" {
		os.Exit(become(program))
	}
	os.Exit(m.Run())
}

// become forbids this process to open connections, on pain of its end, and then
// becomes the program. The kernel judges each call as it is made: a connection
// that is tried for a microsecond is one that is tried.
func become(program string) int {
	runtime.LockOSThread() // the filter is the thread's, and it is the thread that becomes the program
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return unconfinable
	}
	const number, address = 0, 16 + 8*4 // offsets in struct seccomp_data: nr, and args[4], which is sendto's address
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	answer := func(what uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what} }
	equal := func(value uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jt: yes, Jf: no}
	}
	filter := []unix.SockFilter{
		load(number),
		equal(unix.SYS_CONNECT, 7, 0), // the jumps count the lines that they leave out
		equal(unix.SYS_SENDMSG, 6, 0), // what these are sent to cannot be read here; the program needs neither
		equal(unix.SYS_SENDMMSG, 5, 0),
		equal(unix.SYS_IO_URING_SETUP, 4, 0), // a way around
		equal(unix.SYS_SENDTO, 0, 2),
		load(address),
		equal(0, 0, 1), // without an address it is a mere write
		answer(unix.SECCOMP_RET_ALLOW),
		answer(unix.SECCOMP_RET_KILL_PROCESS),
	}
	rules := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&rules))); errno != 0 {
		return unconfinable
	}
	environment := []string{}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, confine+"=") {
			environment = append(environment, pair)
		}
	}
	err := syscall.Exec(program, append([]string{program}, os.Args[1:]...), environment)
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// confined is a router that may not open connections.
type confined struct {
	url   string
	ended chan error
	cmd   *exec.Cmd
	log   *bytes.Buffer // to be read after its end
}

func startConfined(t *testing.T, program string, environment ...string) *confined {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	c := &confined{ended: make(chan error, 1), log: &bytes.Buffer{}}
	c.cmd = exec.Command(self, "serve", "--listen", "127.0.0.1:0", "--data", data)
	c.cmd.Env = append(os.Environ(), confine+"="+program, "HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(), "HTTP_PROXY=http://192.0.2.1:3128", "HTTPS_PROXY=http://192.0.2.1:3128")
	c.cmd.Env = append(c.cmd.Env, environment...)
	c.cmd.Stderr = c.log
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { c.ended <- c.cmd.Wait() }()
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	limit, look := time.NewTimer(20*time.Second), time.NewTicker(5*time.Millisecond)
	defer limit.Stop()
	defer look.Stop()
	for {
		select {
		case err := <-c.ended:
			if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == unconfinable {
				t.Skip("this kernel lets no program forbid itself to connect (seccomp)")
			}
			t.Fatalf("the router ended at its start with %v:\n%s", err, c.log)
		case <-limit.C:
			t.Fatal("the router does not answer")
		case <-look.C:
		}
		holder, err := locate.ReadHolder(data)
		if err == nil && holder.PID == c.cmd.Process.Pid && strings.HasPrefix(holder.Listen, "http://") {
			c.url = holder.Listen
			return c
		}
	}
}

// call makes a call and returns its status, 0 if the router does not answer.
func (c *confined) call(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return response.StatusCode, ""
	}
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}

func build(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs the real program")
	}
	program := filepath.Join(t.TempDir(), "skillrouter")
	cmd := exec.Command("go", "build", "-tags", "nomsgpack", "-o", program, "github.com/skillrouter/skillrouter/cmd/skillrouter")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(string(output))
	}
	return program
}

// TestAirgapped runs the real program, with nothing configured, where the first
// connection that it opens, or name that it looks up, is its end; and calls every
// route that it has. Then, as the negative control, one with a model configured,
// which ends with the first question.
func TestAirgapped(t *testing.T) {
	program := build(t)
	t.Run("nothing configured", func(t *testing.T) {
		c := startConfined(t, program)
		bodies := []string{
			`{"agent_id":"a","status":"busy"}`, `{"from_agent_id":"a","to_agent_id":"b","signal":"message","context":{"url":"http://192.0.2.1/x"}}`,
			`{"category":"c","title":"t","content":"see http://192.0.2.1/x","query":"http://192.0.2.1/x","task":"fetch http://192.0.2.1/x","budget":500}`,
			`{"messages":[{"role":"user","content":"hi"}],"model":"m"}`, `{"proposed_action":"curl http://192.0.2.1/"}`,
			`{"key":"k","value":1,"probe":"http://192.0.2.1/x","ttl":1}`, `{"arguments":{}}`,
			`{"turns":[{"role":"user","content":"the host is 192.0.2.1"}],"agent_id":"a"}`,
		}
		answered := 0
		for _, route := range c.routes(t) {
			sent := bodies
			if route.method == http.MethodGet || route.method == http.MethodDelete {
				sent = []string{""}
			}
			for _, body := range sent {
				if status, _ := c.call(t, route.method, route.path, body); status != 0 {
					answered++
				}
			}
		}
		if status, _ := c.call(t, http.MethodGet, "/health", ""); status != http.StatusOK || answered < 200 {
			t.Fatalf("after %d answers: status %d", answered, status)
		}
		_, proof := c.call(t, http.MethodGet, "/api/doctor/outbound", "")
		if !strings.Contains(proof, `"airgapped":true`) {
			t.Errorf("the proof says %s", proof)
		}
		if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := <-c.ended; err != nil {
			t.Errorf("it ended with %v:\n%s", err, c.log)
		}
	})
	for name, base := range map[string]string{"an address": "http://192.0.2.1:9/v1", "a name": "http://model.invalid/v1", "loopback": "http://127.0.0.1:9"} {
		t.Run("a model at "+name, func(t *testing.T) {
			c := startConfined(t, program, "SKILLROUTER_LLM_BASE_URL="+base)
			_, proof := c.call(t, http.MethodGet, "/api/doctor/outbound", "")
			if strings.Contains(proof, `"airgapped":true`) != (name == "loopback") || !strings.Contains(proof, base) {
				t.Errorf("the proof says %s", proof)
			}
			if status, text := c.call(t, http.MethodPost, "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`); status != 0 {
				t.Fatalf("it was not seen to dial: %d %s", status, text)
			}
			select {
			case err := <-c.ended:
				exit, ok := errors.AsType[*exec.ExitError](err)
				if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGSYS {
					t.Errorf("it ended with %v, and not for dialling:\n%s", err, c.log)
				}
			case <-time.After(20 * time.Second):
				t.Error("it did not end")
			}
		})
	}
}

type route struct{ method, path string }

// routes lists what the router serves: all that its own document describes, and what is no typed route.
func (c *confined) routes(t *testing.T) []route {
	t.Helper()
	_, text := c.call(t, http.MethodGet, "/openapi.json", "")
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	routes := []route{
		{http.MethodGet, "/metrics"},
		{http.MethodGet, "/messages?agent_id=a"},
		{http.MethodPost, "/mcp"},
		{http.MethodGet, "/mcp"},
		{http.MethodPost, "/v1/chat/completions"},
		{http.MethodPost, "/v1/completions"},
		{http.MethodPost, "/v1/embeddings"},
		{http.MethodPost, "/v1/responses"},
		{http.MethodPost, "/v1/responses/r/cancel"},
		{http.MethodGet, "/v1/responses/r"},
		{http.MethodDelete, "/v1/responses/r"},
		{http.MethodGet, "/v1/models"},
		{http.MethodGet, "/v1/models/m"},
	}
	for path, methods := range document.Paths {
		for strings.Contains(path, "{") {
			from, to := strings.Index(path, "{"), strings.Index(path, "}")
			path = path[:from] + "a" + path[to+1:]
		}
		for method := range methods {
			if path == "/messages/inbox" || path == "/shutdown-check" {
				routes = append(routes, route{strings.ToUpper(method), path + "?agent_id=a"})
			}
			routes = append(routes, route{strings.ToUpper(method), path})
		}
	}
	return routes
}
