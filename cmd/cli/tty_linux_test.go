package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0) // so that Close ends a Read
	if err != nil {
		t.Skipf("this machine has no pseudo-terminals: %v", err)
	}
	ptmx := os.NewFile(uintptr(fd), "/dev/ptmx")
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("this machine has no pseudo-terminals: %v", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
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

// TestPassphraseAtTheTerminal: a solo user whose agent is blocked follows the two lines of the refusal, on a terminal. Nobody without one can.
func TestPassphraseAtTheTerminal(t *testing.T) {
	const phrase = "correct horse battery staple"
	data := t.TempDir()
	router := exec.Command("skillrouter", "serve", "--listen", "127.0.0.1:0", "--data", data)
	router.Env = append(os.Environ(), "SKILLROUTER_DATA="+data)
	said, err := router.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := router.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = router.Process.Kill(); _ = router.Wait() })
	lines, url := bufio.NewScanner(said), ""
	for url == "" && lines.Scan() {
		if at := strings.Index(lines.Text(), "url=http"); at >= 0 {
			url, _, _ = strings.Cut(lines.Text()[at+len("url="):], " ")
		}
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	run := func(line string) *terminal {
		return openTerminal(t, "sh", "-c", "export SKILLROUTER_DATA="+data+" SKILLROUTER_SERVER="+url+"; "+line+"; echo ended=$?")
	}
	alone := func(stdin string, args ...string) (string, int) {
		cmd := exec.Command("skillrouter", args...)
		cmd.Env, cmd.Stdin = append(os.Environ(), "SKILLROUTER_DATA="+data, "SKILLROUTER_SERVER="+url), strings.NewReader(stdin)
		text, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(text), cmd.ProcessState.ExitCode()
	}
	token, err := os.ReadFile(filepath.Join(data, "owner.token"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SKILLROUTER_TOKEN", strings.TrimSpace(string(token)))

	blocked, code := alone("", "check", "--agent", "claude-code", "--folder", "/w", "--", "git push --force origin main")
	at := strings.Index(blocked, "      skillrouter check approve ")
	if code != 2 || !strings.Contains(blocked, "\n      skillrouter passphrase set\n") || at < 0 {
		t.Fatalf("%d: the refusal does not say how to go on:\n%s", code, blocked)
	}
	approve, _, _ := strings.Cut(strings.TrimSpace(blocked[at:]), "\n")
	if text, code := alone(phrase+"\n"+phrase+"\n", "passphrase", "set"); code != 2 || !strings.Contains(text, "terminal") {
		t.Errorf("without a terminal the first is set: %d %s", code, text)
	}
	if text, code := alone("", strings.Fields(approve)[1:]...); code != 2 {
		t.Errorf("before one is set, somebody approves: %d %s", code, text)
	}

	term := run("skillrouter passphrase set")
	for _, prompt := range []string{"The new passphrase: ", "Once more: "} {
		term.expect(prompt)
		term.enter(phrase + "\n")
	}
	term.expect("The passphrase is set")
	term.expect("ended=0")
	if term.count(phrase) > 0 {
		t.Error("the terminal shows the passphrase")
	}
	term = run("skillrouter passphrase set") // an interrupt leaves the terminal as it was
	term.expect("The passphrase that is set: ")
	term.enter("\x03")
	term.expect("ended=")

	if text, code := alone(phrase+"\n", strings.Fields(approve)[1:]...); code != 2 || !strings.Contains(text, "--passphrase-file") {
		t.Errorf("without a terminal: %d %s", code, text)
	}
	term = run(approve)
	term.expect("Passphrase: ")
	term.enter("not the passphrase\n")
	term.expect("not the one that is set")
	term.expect("ended=2")
	term = run(approve)
	term.expect("Passphrase: ")
	term.enter(phrase + "\n")
	term.expect("allowed once by owner")
	term.expect("ended=0")
	if text, code := alone("", "check", "--agent", "claude-code", "--folder", "/w", "--", "git push --force origin main"); code != 0 {
		t.Errorf("what was allowed: %d %s", code, text)
	}

	term = run("TERM=xterm skillrouter watch") // commands are typed while things happen, and the passphrase is asked for once
	term.expect("only watch): ")
	term.enter(phrase + "\n")
	term.expect("> ")
	term.enter("tasks add 'water the plants'\n")
	term.expect("water the plants")
	term.expect("pending")
	blocked, _ = alone("", "check", "--agent", "claude-code", "--folder", "/w", "--", "git push --force origin next")
	_, again, _ := strings.Cut(blocked, "      skillrouter check approve ")
	again, _, _ = strings.Cut(again, "\n")
	term.expect(again)
	term.expect("allows it once")
	term.enter("check approve " + again + "\n")
	term.expect("allowed once by owner")
	term.enter("serve\n")
	term.expect("not done here")
	for _, endless := range []string{"events --follow", "messages -f"} { // nothing that is typed would be read while it goes on
		term.enter(endless + "\n")
		term.expect("not done here")
	}
	term.enter("q\n")
	term.expect("ended=0")

	for _, end := range []string{"", "\n", "\r\n"} { // scripts
		file := filepath.Join(t.TempDir(), "phrase")
		if err := os.WriteFile(file, []byte(phrase+end), 0o600); err != nil {
			t.Fatal(err)
		}
		if text, code := alone("", "check", "packs", "warn", "docker", "--passphrase-file", file); code != 0 {
			t.Errorf("with a file that ends in %q: %d %s", end, code, text)
		}
	}
	if text, code := alone("", "check", "packs", "off", "core"); code != 2 {
		t.Errorf("the owner's token switches core off: %d %s", code, text)
	}
	if text, code := alone("", "passphrase", "reset"); code == 0 || !strings.Contains(text, "held by") {
		t.Errorf("reset while the router runs: %d %s", code, text)
	}
}
