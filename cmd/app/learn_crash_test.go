package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/learning/history"
)

// learnParts is in how many parts the record of TestKillLearn is sent at least.
const learnParts = 3

// killing passes calls on, and kills a `skillrouter learn` at one of its parts.
type killing struct {
	mu      sync.Mutex
	forward http.Handler
	learner *exec.Cmd
	part    int  // that it is killed at, from 1; 0: it is not
	stored  bool // the router has stored that part, and the learner was not told
	parts   int
}

func (k *killing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/incidents/learn" {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.parts++
		if k.parts == k.part {
			if k.stored {
				k.forward.ServeHTTP(httptest.NewRecorder(), r)
			}
			_ = k.learner.Process.Kill()
			panic(http.ErrAbortHandler)
		}
	}
	k.forward.ServeHTTP(w, r)
}

// learn runs `skillrouter learn` and returns in how many parts it sent the record. killed at a part, it must have ended by that.
func (k *killing) learn(t *testing.T, program, server, record, project string, part int, stored bool) int {
	t.Helper()
	k.mu.Lock()
	k.part, k.stored, k.parts = part, stored, 0
	k.learner = exec.Command(program, "learn", record, "--project", project, "--server", server)
	err := k.learner.Start()
	learner := k.learner
	k.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if err := learner.Wait(); (err != nil) != (part > 0) {
		t.Fatalf("learn, to be killed at part %d: %v", part, err)
	}
	return k.parts
}

// learnedOf is what a router has learned of a project, without the project's name.
func learnedOf(t *testing.T, server, project string) (page history.Page) {
	t.Helper()
	answer, err := http.Get(server + "/api/incidents?project=" + project)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&page); err != nil {
		t.Fatal(err)
	}
	for i := range page.Incidents {
		page.Incidents[i].ID, page.Incidents[i].Project = "", ""
	}
	return page
}

// learnRecord writes Claude Code's record of a session that fails and mends it again and again.
func learnRecord(t *testing.T, name, calls string) string {
	t.Helper()
	var b strings.Builder
	for i := range 1500 {
		command, said, failed := fmt.Sprintf("ls folder%d", i), "a", false
		switch i % 10 {
		case 3:
			command, said, failed = fmt.Sprintf("python -m pytest core/test_%d.py", i), "Exit code 1\\n/opt/bin/python: No module named pytest", true
		case 7:
			command, said = fmt.Sprintf("bin/test core/test_%d.py", i-4), "ok"
		}
		fmt.Fprintf(&b, `{"type":"assistant","sessionId":"one","timestamp":"2025-11-01T10:%02d:%02dZ","message":{"role":"assistant","content":[{"type":"tool_use","id":"%s-%d","name":"Bash","input":{"command":"%s"}}]}}`+"\n", i/60, i%60, calls, i, command)
		fmt.Fprintf(&b, `{"type":"user","sessionId":"one","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s-%d","content":"%s","is_error":%t}]}}`+"\n", calls, i, said, failed)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestKillLearn kills `skillrouter learn` at each part of a record, before the router has stored it and after, and
// runs it again: what is known then is what a run that nobody killed learns.
func TestKillLearn(t *testing.T) {
	path := program(t, buildProgram)
	p := start(t, path, t.TempDir())
	at, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	k := &killing{forward: httputil.NewSingleHostReverseProxy(at)}
	server := httptest.NewServer(k)
	defer server.Close()
	record := learnRecord(t, "one.jsonl", "call")
	parts := k.learn(t, path, server.URL, record, "whole", 0, false)
	want := learnedOf(t, p.url, "whole")
	if parts < learnParts || len(want.Incidents) != 1 || want.Incidents[0].Count != 150 || want.Incidents[0].Solved != 150 {
		t.Fatalf("learned in %d parts: %+v", parts, want)
	}
	for part := 1; part <= parts; part++ {
		for _, stored := range []bool{false, true} {
			project := fmt.Sprintf("cut-%d-%t", part, stored)
			k.learn(t, path, server.URL, record, project, part, stored)
			if again := k.learn(t, path, server.URL, record, project, 0, false); again == 0 && !(part == parts && stored) {
				t.Errorf("%s: nothing was read again", project)
			}
			if diff := cmp.Diff(want, learnedOf(t, p.url, project)); diff != "" {
				t.Errorf("%s (-whole +killed):\n%s", project, diff)
			}
		}
	}
	// The negative control: calls that are others count again.
	k.learn(t, path, server.URL, learnRecord(t, "one.jsonl", "other"), "cut-1-true", 0, false)
	if cmp.Equal(want, learnedOf(t, p.url, "cut-1-true")) {
		t.Error("a session that was learned twice is not noticed")
	}
}
