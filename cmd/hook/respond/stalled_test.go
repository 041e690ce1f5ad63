package respond

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/hook"
)

// silent is a router that takes connections and answers nothing, and counts them.
func silent(t *testing.T) (url string, met *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	met = new(atomic.Int32)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			met.Add(1)
			go func() { _, _ = io.Copy(io.Discard, conn) }()
		}
	}()
	return "http://" + l.Addr().String(), met
}

// runs runs a hook at a time, and returns what it says.
func runs(t *testing.T, url string, event hook.Event, message string, at time.Time) string {
	t.Helper()
	var out, errors bytes.Buffer
	env := map[string]string{"SKILLROUTER_SERVER": url, "SKILLROUTER_DATA": os.Getenv("SKILLROUTER_DATA")}
	h, ok := Parse(Process{
		In: strings.NewReader(message), Out: &out, Err: &errors, Connect: ConnectPlain, Now: func() time.Time { return at },
		LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Offline: func(_ context.Context, _ string, asked []byte) ([]byte, error) {
			decision := "allow"
			if bytes.Contains(asked, []byte("prune")) {
				decision = "block"
			}
			return fmt.Appendf(nil, `{"decision":%q,"check_id":"c","offline":"judged by the copy","matching_patterns":[{"title":"never"}]}`, decision), nil
		},
	}, []string{"hook", string(event), "--for", "claude-code", "--agent", "claude-code:owl", "--project", "shop"})
	if !ok {
		t.Fatal("no hook")
	}
	h.Run(t.Context())
	return out.String()
}

const (
	aPrompt = `{"session_id":"s","cwd":"/","prompt":"write a mutation"}`
	aPrune  = `{"session_id":"s","cwd":"/","tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"docker volume prune"}}`
	aList   = `{"session_id":"s","cwd":"/","tool_name":"Bash","tool_use_id":"2","tool_input":{"command":"ls"}}`
)

func home(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "SKILLROUTER_DATA"} {
		t.Setenv(name, filepath.Join(dir, strings.ToLower(name)))
	}
}

// TestStalled: a router that is stalled is met by one hook, which says so; others leave it alone for a minute, and the guard holds.
func TestStalled(t *testing.T) {
	home(t)
	url, met := silent(t)
	now := time.Now()
	if said := runs(t, url, hook.UserPrompt, aPrompt, now); !strings.Contains(said, leftAlone) {
		t.Errorf("the first hook says %q", said)
	}
	first := met.Load()
	for event, message := range map[hook.Event]string{hook.UserPrompt: aPrompt, hook.SessionStart: aPrompt, hook.PreToolUse: aList, hook.PostFailure: aList, hook.TurnEnd: aPrompt} {
		if said := runs(t, url, event, message, now.Add(aloneFor-time.Second)); said != "" {
			t.Errorf("%s says %q", event, said)
		}
	}
	if said := runs(t, url, hook.PreToolUse, aPrune, now.Add(time.Second)); !strings.Contains(said, `"deny"`) || !strings.Contains(said, "The router is away: judged by the copy") {
		t.Errorf("the guard says %q", said)
	}
	if met.Load() != first {
		t.Errorf("%d calls were made of a router that is left alone", met.Load()-first)
	}
	if said := runs(t, url, hook.PreToolUse, aList, now.Add(aloneFor)); !strings.Contains(said, leftAlone) || met.Load() == first {
		t.Errorf("after a minute it is not tried again: %q", said)
	}
}

// TestStalledAndBack: a router that answers again is asked after a minute, and nothing is left; one that is busy and lives is waited for.
func TestStalledAndBack(t *testing.T) {
	home(t)
	var asked atomic.Int32
	busy := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path == "/api/context" {
			<-busy
		}
		if r.URL.Path == "/health" {
			select {
			case <-busy:
			default:
				close(busy)
			}
		}
		_, _ = io.WriteString(w, `{"text":"Mutations were never finished","status":"ok","server":"skillrouter"}`)
	}))
	defer server.Close()
	name, now := cached("stalled-"+digest(server.URL)), time.Now()
	if said := runs(t, server.URL, hook.UserPrompt, aPrompt, now); !strings.Contains(said, "never finished") {
		t.Errorf("a router that is busy: %q", said)
	}
	for content, left := range map[string]bool{
		now.Add(-time.Second).UTC().Format(time.RFC3339Nano): true, now.Add(-aloneFor).UTC().Format(time.RFC3339Nano): false,
		now.Add(time.Hour).UTC().Format(time.RFC3339Nano): false, "": false, "2026-11-": false, strings.Repeat("9", 1<<20): false, "\x00\xff": false,
	} {
		keep(name, content)
		before := asked.Load()
		runs(t, server.URL, hook.UserPrompt, aPrompt, now)
		if (asked.Load() == before) != left {
			t.Errorf("%.40q: %d calls", content, asked.Load()-before)
		}
	}
	keep(name, now.Add(-aloneFor).UTC().Format(time.RFC3339Nano))
	runs(t, server.URL, hook.UserPrompt, aPrompt, now)
	if _, err := os.Stat(name); err == nil {
		t.Error("it answers, and the file is left")
	}
}

// TestStalledTogether: many hooks at once leave one file that can be read.
func TestStalledTogether(t *testing.T) {
	home(t)
	url, met := silent(t)
	now := time.Now()
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() { runs(t, url, hook.UserPrompt, aPrompt, now) })
	}
	all.Wait()
	before := met.Load()
	if said := runs(t, url, hook.UserPrompt, aPrompt, now); said != "" || met.Load() != before {
		t.Errorf("it is met again: %q", said)
	}
}

// TestStalledUntilACopy: that the router wrote its copy of the rules since shows that it is there, as after an approval.
func TestStalledUntilACopy(t *testing.T) {
	home(t)
	const url = "http://127.0.0.1:1"
	data := t.TempDir()
	at := time.Now().Add(-10 * time.Second)
	h := New(Process{LookupEnv: os.LookupEnv})
	ask := func() error {
		h.alone.Store(false)
		c := h.patient(func(context.Context, string, string, any, any) error { return nil }, url, data)
		return c(t.Context(), "GET", "/", nil, nil)
	}
	name := cached("stalled-" + digest(url))
	keep(name, at.UTC().Format(time.RFC3339Nano))
	keep(filepath.Join(data, copyName), "x")
	for since, alone := range map[time.Duration]bool{-time.Second: true, time.Second: false} {
		keep(name, at.UTC().Format(time.RFC3339Nano))
		if err := os.Chtimes(filepath.Join(data, copyName), at.Add(since), at.Add(since)); err != nil {
			t.Fatal(err)
		}
		if err := ask(); (err != nil) != alone {
			t.Errorf("a copy of %s later: %v", since, err)
		}
	}
}

// TestStalledWithoutAHome: where there is no folder to keep a file in, none is left in the project's; each hook says that the router is stalled.
func TestStalledWithoutAHome(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "SKILLROUTER_DATA"} {
		t.Setenv(name, "")
	}
	project := t.TempDir()
	t.Chdir(project)
	url, _ := silent(t)
	for range 2 {
		if said := runs(t, url, hook.UserPrompt, aPrompt, time.Now()); !strings.Contains(said, leftAlone) {
			t.Errorf("it says %q", said)
		}
	}
	if left, err := os.ReadDir(project); err != nil || len(left) > 0 {
		t.Errorf("left in the working folder: %v %v", left, err)
	}
}
