package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"skillrouter"
	"skillrouter/cmd/locate"
	"skillrouter/cmd/process"
)

// terminal is a pseudo-terminal with a session on it.
type terminal struct {
	t    *testing.T
	ptmx *os.File
	mu   sync.Mutex
	seen strings.Builder
	more chan struct{}
	from int // where expect looks from
}

// openTerminal starts a command as the leader of a session on a new pseudo-terminal.
func openTerminal(t *testing.T, name string, args ...string) *terminal {
	t.Helper()
	ptmx, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this machine has no pseudo-terminals: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(ptmx.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("this machine has no pseudo-terminals: %v", err)
	}
	n, err := unix.IoctlGetInt(int(ptmx.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine has no pseudo-terminals: %v", err)
	}
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Env = append(os.Environ(), "SKILLROUTER_SERVER=http://127.0.0.1:1", "PS1=$ ", "TERM=dumb", "HISTFILE=", "SKILLROUTER_AGENT=")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	term := &terminal{t: t, ptmx: ptmx, more: make(chan struct{}, 1)}
	var reading sync.WaitGroup
	reading.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := ptmx.Read(buf)
			term.mu.Lock()
			term.seen.Write(buf[:n])
			term.mu.Unlock()
			select {
			case term.more <- struct{}{}:
			default:
			}
			if err != nil { // the session has ended
				return
			}
		}
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		ptmx.Close() // hangs up on what is left
		reading.Wait()
	})
	return term
}

// enter types text, as a person would.
func (term *terminal) enter(text string) {
	term.t.Helper()
	if _, err := term.ptmx.WriteString(text); err != nil {
		term.t.Fatal(err)
	}
}

// expect waits until the terminal shows text, behind what was expected before.
func (term *terminal) expect(text string) {
	term.t.Helper()
	limit := time.After(patience)
	for {
		term.mu.Lock()
		all := term.seen.String()
		term.mu.Unlock()
		if i := strings.Index(all[term.from:], text); i >= 0 {
			term.from += i + len(text)
			return
		}
		select {
		case <-term.more:
		case <-limit:
			term.t.Fatalf("waited too long for %q; the terminal shows:\n%s", text, all)
		}
	}
}

func (term *terminal) count(text string) int {
	term.mu.Lock()
	defer term.mu.Unlock()
	return strings.Count(term.seen.String(), text)
}

// TestColoursOnATerminal shows headings bold, unless NO_COLOR forbids it or the terminal knows no colours.
func TestColoursOnATerminal(t *testing.T) {
	for env, want := range map[string]string{
		"TERM=xterm":            "\x1b[1mSETTING",
		"TERM=xterm NO_COLOR=1": "\r\nSETTING",
		"TERM=dumb":             "\r\nSETTING",
	} {
		openTerminal(t, "sh", "-c", "echo; "+env+" skillrouter config show").expect(want)
	}
}

// TestInterruptReachesTheCommandOnce types Ctrl-C: the terminal tells the
// command, and the wrapper must not tell it again.
func TestInterruptReachesTheCommandOnce(t *testing.T) {
	term := openTerminal(t, "sh", "-c",
		`skillrouter run --agent t -- sh -c 'trap "echo GOT-INT" INT; echo READY; while :; do sleep 0.05; done'; echo "code=$?"; read line; echo "read=$line"`)
	term.expect("READY")
	term.enter("\x03")
	term.expect("GOT-INT")
	term.enter("\x1c") // Ctrl-\ ends it
	term.expect("code=131")
	if n := term.count("GOT-INT"); n != 1 {
		t.Errorf("one Ctrl-C arrived %d times", n)
	}
	// The terminal is the script's again: to read from it in the background would stop it.
	term.enter("hello\n")
	term.expect("read=hello")
}

// TestJobControl suspends the command with Ctrl-Z, and goes on with it in the
// foreground and in the background.
func TestJobControl(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to control jobs")
	}
	term := openTerminal(t, bash, "--norc", "--noprofile", "-i")
	term.enter("skillrouter run --agent t -- sh -c 'echo REA\"\"DY; exec cat'\n")
	term.expect("READY")
	term.enter("one\n")
	term.expect("one\r\none\r\n") // the terminal's echo, and cat's
	for range 2 {
		term.enter("\x1a")
		term.expect("Stopped")
		term.enter("echo shell$((1+1))\n")
		term.expect("shell2")
		term.enter("fg\n")
		term.expect("skillrouter run")
		term.enter("two\n")
		term.expect("two\r\ntwo\r\n")
	}
	term.enter("\x1a")
	term.expect("Stopped")
	term.enter("bg\n")
	// In the background it wants to read, and is stopped for that.
	term.enter("echo wait; while jobs | grep -q Running; do sleep 0.05; done; jobs\n")
	term.expect("Stopped")
	term.enter("fg\n")
	term.expect("fg\r\nskillrouter run")
	term.enter("three\n")
	term.expect("three\r\nthree\r\n")
	term.enter("\x04") // the end of input
	term.enter("echo code=$?\n")
	term.expect("code=0")
}

// TestPersonAtTheTerminal types an import at a terminal, and has an agent's program run one there: by its
// name above the command, by the variable that it sets, and by one that has outlived it.
func TestPersonAtTheTerminal(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	if locate.AgentAmong(process.Ancestors()) || (locate.Place{LookupEnv: none}).SessionHere() != "" {
		t.Skip("an agent runs this test")
	}
	folder := t.TempDir()
	for name, text := range map[string]string{
		"claude":    "#!/bin/sh\n\"$@\"\n:\n", // a program of that name, which does not become the command
		"CLAUDE.md": "# Rules\n\n- Use pnpm, not npm.\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The router is a small one of this test's own: what counts is what it is told.
	said := make(chan string, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/import" {
			said <- r.Header.Get(skillrouter.PersonHeader)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"healthy","server":"skillrouter","results":[{"index":0,"kind":"knowledge","status":"stored"}],"stored":1}`)
	}))
	defer server.Close()
	const imports = "skillrouter import --from claude-md CLAUDE.md"
	for _, tc := range []struct{ line, want string }{
		{imports, skillrouter.PersonAtTerminal},
		{"echo | " + imports, ""}, // nobody types there
		{"./claude " + imports, ""},
		{"./claude sh -c '" + imports + "; :'", ""},
		{"CLAUDECODE=1 " + imports, ""},
		{"SKILLROUTER_AGENT=bob " + imports, ""},
		{"setsid -w " + imports, ""}, // it has another session than the terminal's
	} {
		term := openTerminal(t, "sh", "-c", "cd "+folder+"; export SKILLROUTER_SERVER="+server.URL+"; "+tc.line+"; echo ended=$?")
		term.expect("ended=")
		select {
		case got := <-said:
			if got != tc.want {
				t.Errorf("%s is by %q, not by %q", tc.line, got, tc.want)
			}
		default:
			t.Errorf("%s imports nothing: %s", tc.line, term.seen.String())
		}
	}
}
