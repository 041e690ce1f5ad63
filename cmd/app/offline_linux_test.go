package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/hook/offline"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// guarded is a router with a rule that somebody ofLesson, and the hook of an agent beside it.
type guarded struct {
	hook, data, home string
	router           *process
}

const (
	ofLesson = "kubectl scale deploy shop --replicas=0" // what the rule is about
	ofPack   = "git push --force origin main"           // what a pack of the program blocks
	ofNobody = "go test ./..."
)

func guardedRouter(t *testing.T) *guarded {
	t.Helper()
	path := program(t, buildProgram)
	g := &guarded{hook: filepath.Join(filepath.Dir(path), "skillrouter-hook"), data: t.TempDir(), home: t.TempDir()}
	cmd := exec.Command("go", "build", "-tags", "nomsgpack", "-o", g.hook, "github.com/skillrouter/skillrouter/cmd/skillrouter-hook")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	g.router = start(t, path, g.data)
	lesson := map[string]any{
		"lesson_type": "anti_pattern", "domain": "ops", "category": "deploy", "action_taken": ofLesson, "title": "Never scale the shop to zero", "context": "it takes a day to come back", "outcome": "outage",
		"severity": "critical", "related_commands": []string{ofLesson},
	}
	if status, raw, err := g.router.post(t.Context(), "/lessons/report", lesson); err != nil || status/100 != 2 {
		t.Fatalf("%d %s %v", status, raw, err)
	}
	within(t, func() bool { // it is written a second behind the report
		c, err := offline.Read(g.data)
		return err == nil && len(c.Rules) == 1
	})
	return g
}

// within waits until something is so.
func within(t *testing.T, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	for !is() {
		if err := committer.Pause(ctx, 10*time.Millisecond); err != nil {
			t.Fatal("it does not come about")
		}
	}
}

// judges has the small program judge a command as Claude Code's hook, and returns what it answers and says.
func (g *guarded) judges(t *testing.T, command string) (out, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.hook, "hook", "pre-tool-use", "--for", "claude-code", "--agent", "me", "--verbose")
	cmd.Env = append(os.Environ(), "SKILLROUTER_SERVER=", "SKILLROUTER_TOKEN=", "SKILLROUTER_CONFIG=", "SKILLROUTER_DATA="+g.data,
		"SKILLROUTER_LISTEN="+strings.TrimPrefix(g.router.url, "http://"), "XDG_CACHE_HOME="+g.home, "HOME="+g.home)
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"s","cwd":%q,"tool_name":"Bash","tool_input":{"command":%q}}`, g.home, command))
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, &e)
	}
	return o.String(), e.String()
}

const denies = `"permissionDecision":"deny"`

// byCopy holds that the hook judges by the copy, and that without it what only the copy knows is let through.
func (g *guarded) byCopy(t *testing.T) {
	t.Helper()
	for command, want := range map[string][]string{
		ofLesson: {denies, "Never scale the shop to zero", "The router is away: this was judged by the copy of its rules of ", " old"},
		ofPack:   {denies, "The router is away: this was judged by the copy"},
	} {
		out, said := g.judges(t, command)
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: %q is not in %s (%s)", command, w, out, said)
			}
		}
	}
	if out, said := g.judges(t, ofNobody); out != "" || said == "" {
		t.Errorf("%s: %s (%s)", ofNobody, out, said)
	}
	// The negative control: it is the copy that held the rule, and the packs are there without it.
	away := filepath.Join(g.home, "taken")
	if err := os.Rename(filepath.Join(g.data, offline.CopyName), away); err != nil {
		t.Fatal(err)
	}
	if out, _ := g.judges(t, ofLesson); strings.Contains(out, denies) || !strings.Contains(out, "it is gone") {
		t.Errorf("without the copy the rule is known: %s", out)
	}
	if out, _ := g.judges(t, ofPack); !strings.Contains(out, denies) || !strings.Contains(out, "it is gone") {
		t.Errorf("without the copy the packs are off: %s", out)
	}
	if err := os.Rename(away, filepath.Join(g.data, offline.CopyName)); err != nil {
		t.Fatal(err)
	}
}

// takes has another program take the router's port.
func (g *guarded) takes(t *testing.T, serve func(net.Conn)) {
	t.Helper()
	listener, err := net.Listen("tcp", strings.TrimPrefix(g.router.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
}

// answering is a program that answers each request so.
func answering(status int, body string) func(net.Conn) {
	return func(conn net.Conn) {
		defer conn.Close()
		_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		_, _ = io.CopyN(io.Discard, conn, 100)
		_, _ = fmt.Fprintf(conn, "HTTP/1.0 %d X\r\nContent-Type: application/json\r\n\r\n%s", status, body)
	}
}

// A router that is away, however, leaves its rules in force.
func TestHookWhileTheRouterIsAway(t *testing.T) {
	stop := func(g *guarded, t *testing.T) {
		t.Helper()
		_ = g.router.cmd.Process.Signal(os.Interrupt)
		g.router.ended <- <-g.router.ended
	}
	for name, leave := range map[string]func(g *guarded, t *testing.T){
		"stopped": stop,
		"killed":  func(g *guarded, _ *testing.T) { g.router.kill() },
		"SIGSTOP": func(g *guarded, t *testing.T) {
			if err := g.router.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		},
		"the port is taken and silent": func(g *guarded, t *testing.T) {
			g.router.kill()
			g.takes(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
		},
		"the port answers garbage": func(g *guarded, t *testing.T) {
			g.router.kill()
			g.takes(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "SSH-2.0-OpenSSH_9.9\r\n"); _ = conn.Close() })
		},
		"the port answers 500": func(g *guarded, t *testing.T) { g.router.kill(); g.takes(t, answering(500, "oops")) },
		"the port answers 401": func(g *guarded, t *testing.T) { g.router.kill(); g.takes(t, answering(401, "{}")) },
		"the port answers {}":  func(g *guarded, t *testing.T) { g.router.kill(); g.takes(t, answering(200, "{}")) },
	} {
		t.Run(name, func(t *testing.T) {
			g := guardedRouter(t)
			if out, said := g.judges(t, ofLesson); !strings.Contains(out, denies) || strings.Contains(out, "away") || said != "" {
				t.Fatalf("the router itself answers %s (%s)", out, said)
			}
			leave(g, t)
			g.byCopy(t)
		})
	}
}

// A disk that stands still stalls the ledger and no verdict: the router itself answers, and one that starts meanwhile leaves the rules in
// force, whoever answers.
func TestHookWhileTheDiskIsStalled(t *testing.T) {
	g := guardedRouter(t)
	held(t, g.data, "learning")
	held(t, g.data, "operational")
	for range 3 {
		if out, said := g.judges(t, ofLesson); !strings.Contains(out, denies) || strings.Contains(out, "away") {
			t.Errorf("%s (%s)", out, said)
		}
	}
	g.router.kill()
	g.byCopy(t)
	cmd := exec.Command(program(t, buildProgram), "serve", "--listen", strings.TrimPrefix(g.router.url, "http://"), "--data", g.data)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 10 {
		if out, said := g.judges(t, ofLesson); !strings.Contains(out, denies) {
			t.Errorf("at the start: %s (%s)", out, said)
		}
	}
}

// A script that the agent wrote before is read from the disk, as the router is not there to remember it.
func TestHookReadsScriptsWhileTheRouterIsAway(t *testing.T) {
	g := guardedRouter(t)
	g.router.kill()
	if err := os.WriteFile(filepath.Join(g.home, "deploy.sh"), []byte("#!/bin/sh\nset -e\n"+ofLesson+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(g.home, "pipe.sh"), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]bool{"bash deploy.sh": true, "bash " + g.home + "/deploy.sh": true, "bash other.sh": false, "bash pipe.sh": false} {
		if out, _ := g.judges(t, command); strings.Contains(out, denies) != want {
			t.Errorf("%s: %s", command, out)
		}
	}
}

// What is not believed is refused loudly, and the packs hold.
func TestHookRefusesABadCopy(t *testing.T) {
	g := guardedRouter(t)
	g.router.kill()
	path := filepath.Join(g.data, offline.CopyName)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(filepath.Join(g.data, offline.KeyName))
	if err != nil {
		t.Fatal(err)
	}
	restore := func() {
		for name, text := range map[string][]byte{offline.CopyName: good, offline.KeyName: key} {
			_ = os.Remove(filepath.Join(g.data, name))
			if err := os.WriteFile(filepath.Join(g.data, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write := func(text []byte) func() error {
		return func() error { return os.WriteFile(path, text, 0o600) }
	}
	forged, err := (rule.Copy{At: time.Now(), Packs: map[string]rule.Mode{"core": rule.ModeOff}}).Seal(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		bad  func() error
		says string
	}{
		"a word is changed":      {write(bytes.Replace(good, []byte("shop"), []byte("shap"), 1)), "changed after it was signed"},
		"a pack is switched off": {write(bytes.Replace(good, []byte(`"core":"block"`), []byte(`"core":"off"  `), 1)), "changed after it was signed"},
		"cut off":                {write(good[:len(good)-40]), "cut off"},
		"cut off in its head":    {write(good[:30]), "cut off"},
		"longer":                 {write(append(bytes.Clone(good), ' ')), "changed after it was signed"},
		"empty":                  {write(nil), "no copy of the guard's rules"},
		"of another key":         {write(forged), "signed with another key"},
		"of a newer version":     {write(bytes.Replace(good, []byte("copy\":3"), []byte("copy\":4"), 1)), "it has the form 4, and this program knows the form 3"},
		"others may write it":    {func() error { return os.Chmod(path, 0o666) }, "may be read or written by others"},
		"the key is everybody's": {func() error { return os.Chmod(filepath.Join(g.data, offline.KeyName), 0o644) }, "may be read or written by others"},
		"the key is gone":        {func() error { return os.Remove(filepath.Join(g.data, offline.KeyName)) }, "the key that it was signed with is gone"},
		"a folder":               {func() error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, "is no file"},
	}
	if os.Geteuid() == 0 {
		cases["of another user"] = struct {
			bad  func() error
			says string
		}{func() error { return os.Chown(path, 65534, 65534) }, "belongs to another user"}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			restore()
			if err := c.bad(); err != nil {
				t.Fatal(err)
			}
			if out, _ := g.judges(t, ofPack); !strings.Contains(out, denies) || !strings.Contains(out, c.says) {
				t.Errorf("%s: %s", ofPack, out)
			}
			if out, _ := g.judges(t, ofNobody); strings.Contains(out, denies) || !strings.Contains(out, "is NOT used, because ") || !strings.Contains(out, c.says) {
				t.Errorf("%s: %s", ofNobody, out)
			}
		})
	}
	restore()
	g.byCopy(t)
}

// An upgrade: what an older or newer program wrote is read as far as it is of the same form, and rules that are not understood are told.
func TestHookReadsTheCopyOfAnotherVersion(t *testing.T) {
	g := guardedRouter(t)
	g.router.kill()
	c, err := offline.Read(g.data)
	if err != nil {
		t.Fatal(err)
	}
	c.Version, c.Packs["quantum"] = "99.0", rule.ModeBlock
	delete(c.Packs, "core")
	c.Rules = append(c.Rules, rule.RuleDraft{ID: "later", Title: "x", Severity: "apocalyptic", Commands: []string{"frobnicate --all"}})
	if err := offline.Write(g.data, c); err != nil {
		t.Fatal(err)
	}
	if out, _ := g.judges(t, ofLesson); !strings.Contains(out, denies) || !strings.Contains(out, "1 of its rules cannot be read by this program") {
		t.Error(out)
	}
	if out, _ := g.judges(t, ofPack); !strings.Contains(out, denies) {
		t.Errorf("a pack that the copy does not name is not as the program gives it: %s", out)
	}
	// The router that comes back writes its own.
	start(t, program(t, buildProgram), g.data)
	within(t, func() bool {
		c, err := offline.Read(g.data)
		return err == nil && c.Version != "99.0" && len(c.Rules) == 1
	})
	if holder, err := locate.ReadHolder(g.data); err != nil || holder.URL() == "" {
		t.Errorf("%+v %v", holder, err)
	}
}

// What hooks judged while the router was away is in its ledger after the next contact, once, and doctor tells of it.
func TestRouterLearnsWhatWasJudgedWithoutIt(t *testing.T) {
	g := guardedRouter(t)
	g.router.kill()
	commands := []string{ofLesson, ofPack, ofNobody}
	for _, command := range commands {
		g.judges(t, command)
	}
	spools, err := filepath.Glob(filepath.Join(g.home, "skillrouter", "hooks", "offline-*", "*"))
	if err != nil || len(spools) != len(commands) {
		t.Fatalf("%d checks wait: %v", len(spools), err)
	}
	spooled := map[string][]byte{}
	for _, name := range spools {
		if spooled[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(spools[0]), "cut"), []byte(`{"check_id":"01a2`), 0o600); err != nil {
		t.Fatal(err)
	}
	again := exec.Command(program(t, buildProgram), "serve", "--listen", strings.TrimPrefix(g.router.url, "http://"), "--data", g.data)
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Process.Kill(); _ = again.Wait() })
	within(t, func() bool {
		status, _, err := g.router.get(t.Context(), "/health")
		return err == nil && status == 200
	})
	ledger := func() (offline, all int) {
		t.Helper()
		_, raw, err := g.router.get(t.Context(), "/check/ledger?limit=200")
		var page struct {
			Checks []struct {
				Notes []string `json:"notes"`
			} `json:"checks"`
		}
		if err == nil {
			err = json.Unmarshal(raw, &page)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Checks {
			if len(c.Notes) > 0 && c.Notes[0] == lesson.NoteOffline {
				offline++
			}
		}
		return offline, len(page.Checks)
	}
	if offline, all := ledger(); offline != 0 || all != 0 {
		t.Fatalf("nobody has told yet, and the ledger has %d of %d", offline, all)
	}
	for round := range 2 { // the second time the files are there again, as after a kill before they were removed
		if out, said := g.judges(t, ofNobody); out != "" || said != "" {
			t.Errorf("%s (%s)", out, said)
		}
		if offline, all := ledger(); offline != len(commands) || all != len(commands)+round+1 {
			t.Errorf("round %d: the ledger has %d of %d", round, offline, all)
		}
		if left, _ := filepath.Glob(filepath.Join(g.home, "skillrouter", "hooks", "offline-*", "*")); len(left) != 0 {
			t.Errorf("still waiting: %v", left)
		}
		for name, text := range spooled {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	doctor := func(want string) {
		t.Helper()
		if _, raw, err := g.router.get(t.Context(), "/api/doctor"); err != nil || !strings.Contains(string(raw), want) {
			t.Errorf("doctor does not say %q: %s %v", want, raw, err)
		}
	}
	doctor("used 3 times within a week")
	// An agent whose hook tells of its tools and does not ask: its hook before a tool is gone.
	if status, raw, err := g.router.post(t.Context(), "/heartbeat", map[string]any{"agent_id": "half", "config_name": "claude-code", "status": "using Bash"}); err != nil || status != 200 {
		t.Fatalf("%d %s %v", status, raw, err)
	}
	doctor("and the guard was not asked: half (last ")
	if status, raw, err := g.router.post(t.Context(), "/check/anti-pattern", map[string]any{"proposed_action": "ls", "agent": "half"}); err != nil || status != 200 {
		t.Fatalf("%d %s %v", status, raw, err)
	}
	doctor("used tools within a day asked the guard")
}
