package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/locate"
)

// fakeEnv makes the tests' own program the server of serveFake, at the address that it names.
const fakeEnv = "SKILLROUTER_TEST_FAKE_ROUTER"

// serveFake stands where a router was, writes down each token that it is sent, and allows everything.
func serveFake(address string) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		panic(err)
	}
	fmt.Println("listening")
	panic(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Printf("%s %s %q\n", r.Method, r.URL.Path, r.Header.Get("Authorization"))
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"decision": "allow", "check_id": "c", "status": "healthy", "matching_patterns": []string{}, "alternatives": []string{}, "warnings": []string{}})
	})))
}

// The users of these tests: who runs the router, and a stranger.
const (
	routersUser   = 65533
	strangersUser = 65534
)

// users are programs that several users of this machine may run, in a folder that they may read.
type users struct {
	dir, program, tests string
}

func newUsers(t *testing.T) *users {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can run programs as several users")
	}
	dir, err := os.MkdirTemp("", "skillrouter-users")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	u := &users{dir: dir, program: filepath.Join(dir, "skillrouter"), tests: filepath.Join(dir, "tests")}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{program(t, buildProgram): u.program, own: u.tests} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		putAs(t, to, text, 0o755)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return u
}

// home is a folder of a user's own.
func (u *users) home(t *testing.T, uid int, name string) string {
	t.Helper()
	dir := filepath.Join(u.dir, name)
	folder(t, dir)
	if err := os.Chown(dir, uid, uid); err != nil {
		t.Fatal(err)
	}
	return dir
}

// command is a program that a user runs.
func (u *users) command(t *testing.T, uid int, home string, environment []string, program string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = home
	cmd.Env = append([]string{"HOME=" + home, "PATH=/usr/bin:/bin", "SKILLROUTER_DATA=" + filepath.Join(home, "data")}, environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	return cmd
}

// runs runs the program as a user and returns what it says and its exit code.
func (u *users) runs(t *testing.T, uid int, home string, environment []string, in string, args ...string) (string, int) {
	t.Helper()
	cmd := u.command(t, uid, home, environment, u.program, args...)
	cmd.Stdin = strings.NewReader(in)
	said, _ := cmd.CombinedOutput()
	return string(said), cmd.ProcessState.ExitCode()
}

// serves starts a router of the user whose home it is, and returns it with its address.
func (u *users) serves(t *testing.T, home string) (*exec.Cmd, string) {
	t.Helper()
	data := filepath.Join(home, "data")
	cmd := u.command(t, routersUser, home, nil, u.program, "serve", "--listen", "127.0.0.1:0")
	var log output
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for limit := time.Now().Add(startTime); ; {
		if holder, err := locate.ReadHolder(data); err == nil && holder.PID == cmd.Process.Pid && holder.URL() != "" {
			if _, code := u.runs(t, routersUser, home, nil, "", "status"); code == 0 {
				return cmd, holder.URL()
			}
		}
		if time.Now().After(limit) {
			t.Fatalf("the router does not answer:\n%s", log.String())
		}
	}
}

// takes has a stranger's program take an address, and returns what it writes down.
func (u *users) takes(t *testing.T, address string) *output {
	t.Helper()
	var seen output
	cmd := u.command(t, strangersUser, u.dir, []string{fakeEnv + "=" + address}, u.tests)
	cmd.Stdout = &seen
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(t, "the fake router", func() bool { return strings.Contains(seen.String(), "listening") })
	return &seen
}

// wipes is what a hook is told before an agent deletes its user's files.
const wipes = `{"session_id":"s","hook_event_name":"PreToolUse","cwd":"/","tool_name":"Bash","tool_input":{"command":"rm -rf ~"}}`

// TestStrangerAtThePort: after kill -9 another user's program has the router's port. It is sent nothing by hooks, commands and the MCP
// server, whether they find the router or its address is named, also after they could not start another, and the hook judges by the copy
// of the rules.
func TestStrangerAtThePort(t *testing.T) {
	u := newUsers(t)
	home := u.home(t, routersUser, "home")
	running, url := u.serves(t, home)
	secret, err := os.ReadFile(filepath.Join(home, "data", locate.OwnerTokenName))
	if err != nil {
		t.Fatal(err)
	}
	if err := running.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = running.Wait()
	address := strings.TrimPrefix(url, "http://")
	seen := u.takes(t, address)
	settings := []string{"SKILLROUTER_LISTEN=" + address} // no router can be started
	for _, named := range [][]string{nil, {"--server", url}} {
		for range 2 {
			if said, _ := u.runs(t, routersUser, home, settings, wipes, append([]string{"hook", "pre-tool-use", "--for", "claude-code"}, named...)...); !strings.Contains(said, `"deny"`) {
				t.Errorf("rm -rf ~ passes with %q: %s", named, said)
			}
		}
		for _, command := range [][]string{{"token", "list"}, {"status"}, {"mcp"}} {
			if said, code := u.runs(t, routersUser, home, settings, "", append(command, named...)...); code == 0 {
				t.Errorf("%q %q: %s", command, named, said)
			}
		}
	}
	if got := strings.TrimSpace(seen.String()); got != "listening" {
		t.Errorf("the stranger saw\n%s", got)
	}

	// The control: a token that a person names beside an address of another router goes there, and is seen.
	elsewhere := u.home(t, routersUser, "elsewhere")
	u.runs(t, routersUser, elsewhere, nil, "", "status", "--server", url, "--token", "named-by-a-person")
	if got := seen.String(); !strings.Contains(got, "named-by-a-person") {
		t.Errorf("the stranger does not see what it is sent: %s", got)
	}
	u.runs(t, routersUser, home, nil, "", "status", "--server", "http://localhost:"+address[strings.LastIndex(address, ":")+1:], "--token", "named-by-a-person-too")
	if got := seen.String(); strings.Contains(got, strings.TrimSpace(string(secret))) || strings.Contains(got, "named-by-a-person-too") {
		t.Errorf("the stranger saw %s", got)
	}
	// The next router of the folder has another port, and its user's commands find it.
	u.serves(t, home)
}

// TestStrangersAreRefused: while no token is issued, calls over loopback are the router's user's and the superuser's alone.
func TestStrangersAreRefused(t *testing.T) {
	u := newUsers(t)
	home, foreign, other := u.home(t, routersUser, "home"), u.home(t, strangersUser, "foreign"), u.home(t, routersUser, "other")
	_, url := u.serves(t, home)
	const says = "uid 65534 calls"
	for _, args := range [][]string{
		{"backup", filepath.Join(foreign, "backup.tar.gz"), "--server", url}, {"status", "--server", url}, {"check", "packs", "default", "git", "--server", url}, {"lessons", "list", "--server", url},
	} {
		if said, code := u.runs(t, strangersUser, foreign, nil, "", args...); code == 0 || args[0] != "status" && !strings.Contains(said, says) {
			t.Errorf("a stranger's %q: %d, %s", args, code, said)
		}
	}
	if said, code := u.runs(t, routersUser, other, nil, "", "lessons", "list", "--server", url); code != 0 { // over TCP: the folder is another
		t.Errorf("the router's own user: %s", said)
	}
	for _, call := range []struct{ method, path string }{{http.MethodGet, "/api/backup"}, {http.MethodGet, "/health"}} {
		if status, _ := ask(t, call.method, url+call.path, "", nil); status != http.StatusOK {
			t.Errorf("the superuser's %s: %d", call.path, status)
		}
	}
	said, code := u.runs(t, routersUser, home, nil, "", "token", "create", "--agent", "nobody", "--scope", "agent")
	if code != 0 {
		t.Fatalf("no token is issued: %s", said)
	}
	at := strings.Index(said, "skr_")
	if at < 0 {
		t.Fatalf("no token is shown: %s", said)
	}
	token := strings.Fields(said[at:])[0]
	if said, code := u.runs(t, strangersUser, foreign, []string{"SKILLROUTER_TOKEN=" + token, "SKILLROUTER_SERVER=" + url}, "", "lessons", "list"); code != 0 {
		t.Errorf("a stranger with a token: %s", said)
	}
	if said, _ := u.runs(t, strangersUser, foreign, nil, "", "lessons", "list", "--server", url); strings.Contains(said, says) || !strings.Contains(said, "needs a token") {
		t.Errorf("a stranger without one: %s", said)
	}
}
