package locate

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/process"
	"github.com/skillrouter/skillrouter/tfidf/wordlist/wordlisttest"
)

// TestMain lets this program be run as what an agent runs: it says who it is.
func TestMain(m *testing.M) {
	if kind := os.Getenv("LOCATE_KIND"); kind != "" {
		dir, err := os.Getwd()
		if err != nil {
			panic(err)
		}
		fmt.Println(Place{}.SessionName(kind, kind, dir), Place{}.SessionHere())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestNames(t *testing.T) {
	for _, fault := range wordlisttest.Faults(sessionNames, strings.ToLower) {
		t.Error(fault)
	}
	one, again, other := session{Folder: "/a", Host: "h"}, session{Folder: "/a", Host: "h"}, session{Folder: "/b", Host: "h"}
	if one.suffix(0, 0) != again.suffix(0, 0) || one.suffix(0, 0) == other.suffix(0, 0) || one.suffix(0, 0) == one.suffix(1, 0) {
		t.Error("a folder's name is not its own")
	}
	seen := map[string]bool{}
	for i := range 1000 {
		seen[session{Folder: fmt.Sprint("/work/", i), Host: "h"}.suffix(0, 0)] = true
	}
	if len(seen) < 950 { // of 46,000 pairs, 1,000 draws meet some 11 times
		t.Errorf("1,000 folders have %d names", len(seen))
	}
}

func TestFree(t *testing.T) {
	me := session{Folder: "/a", Host: "h"}
	first := me.suffix(0, 0)
	if got := me.free([]session{{Name: "codex:" + first, Folder: "/a", Host: "h"}}, 0); got != first {
		t.Errorf("another kind in the same folder has %s, and this one %s", first, got)
	}
	for _, there := range []session{{Name: "codex:" + first, Folder: "/b", Host: "h"}, {Name: "codex:" + first, Folder: "/a", Host: "other"}} {
		if got := me.free([]session{there}, 0); got != me.suffix(0, 1) {
			t.Errorf("the name that %v has is given again: %s", there, got)
		}
	}
}

func TestRuns(t *testing.T) {
	for _, c := range []struct {
		agent string
		args  []string
		want  bool
	}{
		{"claude-code", []string{"claude"}, true},
		{"claude-code", []string{"/usr/bin/claude", "-p", "hello"}, true},
		{"claude-code", []string{"node", "--max-old-space-size=1", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"}, true},
		{"claude-code", []string{"sh", "-c", "claude -p hello"}, false},
		{"claude-code", []string{"vim", "--", "CLAUDE.md"}, false},
		{"claude-code", []string{"/home/me/claude/bin/server"}, false},
		{"codex", []string{"/opt/node_modules/@openai/codex/vendor/x/codex/codex", "exec"}, true},
		{"gemini", []string{"node", "/usr/bin/gemini"}, true},
		{"gemini", []string{"node.exe", "C:/x/node_modules/@google/gemini-cli/dist/index.js"}, true},
		{"opencode", []string{"opencode", "run"}, true},
		{"cursor", []string{"/Applications/Cursor.app/Contents/MacOS/Cursor"}, true},
		{"generic", []string{"generic"}, false},
		{"codex", nil, false},
	} {
		if got := runs(c.agent, c.args); got != c.want {
			t.Errorf("%v is a program of %s: %t", c.args, c.agent, got)
		}
	}
}

// anAgent is a running agent: a script of an agent's name that runs this program at each line it reads.
type anAgent struct {
	in  io.WriteCloser
	out *bufio.Scanner
	cmd *exec.Cmd
}

func (a anAgent) ask(t *testing.T) string {
	t.Helper()
	if _, err := io.WriteString(a.in, "\n"); err != nil || !a.out.Scan() {
		t.Fatalf("the agent does not answer: %v", err)
	}
	return a.out.Text()
}

func (a anAgent) end(t *testing.T) {
	t.Helper()
	_ = a.in.Close()
	if err := a.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// TestSessions runs agents in worktrees: each has one name for all that it runs, no two
// that run at once have the same, and tomorrow it is the same again.
func TestSessions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script")
	}
	base := folders(t, map[string]string{"one/.git/HEAD": onMain, "one/src/x": "", "two/.git": "gitdir: nowhere\n", "bin/x": ""})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claude", "codex"} {
		script := "#!/bin/sh\nwhile read line; do sh -c \"'" + self + "'; true\"; done\n"
		if err := os.WriteFile(filepath.Join(base, "bin", name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	start := func(program, kind, dir string) anAgent {
		t.Helper()
		cmd := exec.Command(filepath.Join(base, "bin", program))
		cmd.Dir = filepath.Join(base, dir)
		cmd.Env = append(os.Environ(), "LOCATE_KIND="+kind)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return anAgent{in, bufio.NewScanner(out), cmd}
	}
	first := start("claude", "claude-code", "one/src")
	name := first.ask(t)
	if !regexp.MustCompile(`^(claude-code:[a-z]+-[a-z]+) claude-code:[a-z]+-[a-z]+$`).MatchString(name) || strings.Split(name, " ")[0] != strings.Split(name, " ")[1] {
		t.Fatalf("its hooks and its commands have the names %q", name)
	}
	if again := first.ask(t); again != name {
		t.Errorf("the same agent is %s and then %s", name, again)
	}
	second, third, codex := start("claude", "claude-code", "one"), start("claude", "claude-code", "two"), start("codex", "codex", "one")
	names := []string{name, second.ask(t), third.ask(t), codex.ask(t)}
	for i, one := range names {
		for _, other := range names[i+1:] {
			if one == other {
				t.Errorf("two agents have one name: %q", names)
			}
		}
	}
	if want := strings.ReplaceAll(name, "claude-code", "codex"); names[3] != want {
		t.Errorf("another kind in the same worktree is %s and not %s", names[3], want)
	}
	first.end(t)
	if again := second.ask(t); again != names[1] {
		t.Errorf("one agent's end renames another: %s and then %s", names[1], again)
	}
	tomorrow := start("claude", "claude-code", "one")
	if got := tomorrow.ask(t); got != name {
		t.Errorf("tomorrow in the same worktree it is %s and not %s", got, name)
	}
	for _, a := range []anAgent{second, third, codex, tomorrow} {
		a.end(t)
	}
	if got := (Place{}).SessionHere(); got != "" {
		t.Errorf("who runs no agent is %s", got)
	}
}

// TestSessionsAtOnce: agents that begin in one folder at the same moment have names of their own.
func TestSessionsAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script")
	}
	const agents = 12
	base := folders(t, map[string]string{"one/.git/HEAD": onMain, "bin/x": ""})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(base, "bin", "claude")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n'"+self+"' & '"+self+"'; wait; read line\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	found := map[string]int{}
	var all sync.WaitGroup
	var ends []io.Closer
	for range agents {
		cmd := exec.Command(script)
		cmd.Dir, cmd.Env = filepath.Join(base, "one"), append(os.Environ(), "LOCATE_KIND=claude-code")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, in)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			lines := bufio.NewScanner(out)
			var said []string
			for len(said) < 2 && lines.Scan() {
				said = append(said, lines.Text())
			}
			if len(said) != 2 || said[0] != said[1] {
				t.Errorf("one agent has the names %q", said)
				return
			}
			mu.Lock()
			found[said[0]]++
			mu.Unlock()
		})
	}
	all.Wait()
	for _, in := range ends {
		_ = in.Close()
	}
	if len(found) != agents {
		t.Errorf("%d agents have %d names: %v", agents, len(found), found)
	}
}

func TestTidy(t *testing.T) {
	base := folders(t, map[string]string{"here/x": ""})
	file := filepath.Join(base, "sessions.jsonl")
	me := process.Ancestors()
	if len(me) == 0 {
		t.Skip("nothing is known of other processes here")
	}
	alive := session{Name: "claude-code:mine-fox", Folder: filepath.Join(base, "gone"), Host: hostname(), PID: me[0].PID, Started: me[0].Started}
	lines := []session{alive, {Name: "claude-code:old-cat", Folder: filepath.Join(base, "gone"), Host: hostname(), PID: 1 << 30, Started: "1"}}
	for range maxSessions {
		lines = append(lines, session{Name: "claude-code:kept-owl", Folder: filepath.Join(base, "here"), Host: hostname(), PID: 1 << 30, Started: "1"})
	}
	for _, line := range lines {
		if !addLine(file, line) {
			t.Fatal("a line cannot be written")
		}
	}
	tidy(file, readRegister(file, session.named))
	left := readRegister(file, session.named)
	if len(left) != 2 || left[0] != alive || left[1].Name != "claude-code:kept-owl" {
		t.Errorf("what is left: %v", left)
	}
}
