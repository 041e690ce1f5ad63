package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
)

// TestStopsGetThroughAFullDisk (finding B9): on a full disk a heartbeat that
// brings something new was answered with 507, and so did not tell the agent to stop;
// a Captain's stop and an acknowledgement were refused, too.
func TestStopsGetThroughAFullDisk(t *testing.T) {
	path := program(t, buildProgram)
	disk := smallDisk(t, 24<<20)
	data := filepath.Join(disk, "data")
	p := start(t, path, data)
	post := func(path string, body map[string]any) (int, map[string]any) {
		t.Helper()
		status, raw, err := p.post(t.Context(), path, body)
		if err != nil {
			t.Fatalf("%v\n%s", err, p.stderr)
		}
		answer := map[string]any{}
		if err := json.Unmarshal(raw, &answer); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		return status, answer
	}
	beat := func(agent string, n int) (int, map[string]any) {
		return post("/heartbeat", map[string]any{"agent_id": agent, "status": fmt.Sprint("step ", n), "pid": 7})
	}
	for i, agent := range []string{"a", "b"} {
		if status, _ := beat(agent, i); status != http.StatusOK {
			t.Fatal(status)
		}
	}
	_, sent := post("/signal", map[string]any{"from_agent_id": "a", "to_agent_id": "b", "signal": "message", "ack_required": true})
	ballast := filepath.Join(data, app.BallastName)
	kept, err := os.Stat(ballast)
	if err != nil || kept.Size() < 1<<20 {
		t.Fatalf("%v %v", kept, err)
	}
	for round := range 2 {
		free := fill(t, disk)
		content := strings.Repeat("A line of some entry. ", 400)
		refused := 0
		for n := 0; refused < 5 && n < 1000; n++ {
			if status, _ := post("/api/knowledge", map[string]any{"category": "gotcha", "title": fmt.Sprint("Entry ", round, n), "content": content}); status == http.StatusInsufficientStorage {
				refused++
			}
		}
		if refused < 5 {
			t.Fatal("the disk never was full")
		}
		for n := range 40 { // more than the files have room for
			if status, answer := beat("b", 100*round+n+2); status != http.StatusOK {
				t.Fatalf("heartbeat %d with news: %d %v\n%s", n, status, answer, p.stderr)
			}
		}
		if strings.Count(p.stderr.String(), "only stops, acknowledgements, heartbeats and deletions are stored") <= round {
			t.Error("what is kept was not needed: this test shows nothing")
		}
		if status, answer := post("/signal", map[string]any{"from_agent_id": "captain", "to_agent_id": "b", "signal": "stop", "context": map[string]any{"reason": "the disk is full"}}); status != http.StatusOK {
			t.Errorf("a stop: %d %v", status, answer)
		}
		if status, answer := beat("b", 100*round+90); status != http.StatusOK || answer["should_stop"] != true || answer["stop_reason"] != "the disk is full" {
			t.Errorf("a heartbeat with news, after the stop: %d %v", status, answer)
		}
		if status, answer := post("/messages/ack", map[string]any{"agent_id": "b", "seq": sent["seq"]}); status != http.StatusOK {
			t.Errorf("an acknowledgement: %d %v", status, answer)
		}
		for _, read := range []string{"/health", "/messages/inbox?agent_id=b", "/api/agents", "/shutdown-check?agent_id=b"} {
			if status, raw, err := p.get(t.Context(), read); err != nil || status != http.StatusOK {
				t.Errorf("GET %s: %d %s %v", read, status, raw, err)
			}
		}
		free()
		if status, answer := post("/api/knowledge", map[string]any{"category": "gotcha", "title": fmt.Sprint("After ", round), "content": "c"}); status/100 != 2 {
			t.Fatalf("after room was made: %d %v\n%s", status, answer, p.stderr)
		}
		if again, err := os.Stat(ballast); err != nil || again.Size() != kept.Size() {
			t.Errorf("what is kept is not there again: %v", err)
		}
	}
	if faults := check(t, data, &acknowledged{}); len(faults) > 0 {
		t.Error(faults)
	}
}

// TestFileSizeLimit (finding B8): a limit on the size of files, as a quota, was
// answered with 500 "the disk failed" and not as the want of room that it is.
func TestFileSizeLimit(t *testing.T) {
	path := program(t, buildProgram)
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash to set a limit")
	}
	data := t.TempDir()
	first := start(t, path, data) // its migrations write more than the limit
	if err := first.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	first.ended <- <-first.ended
	limited := filepath.Join(t.TempDir(), "limited")
	script := fmt.Sprintf("#!/bin/bash\nulimit -f 2500\nexec %s \"$@\"\n", path)
	if err := os.WriteFile(limited, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	p := start(t, limited, data)
	content := strings.Repeat("A line of some entry. ", 400)
	refused := 0
	for n := 0; refused < 5 && n < 2000; n++ {
		status, raw, err := p.post(t.Context(), "/api/knowledge", map[string]any{"category": "gotcha", "title": fmt.Sprint("Entry ", n), "content": fmt.Sprint(n, content)})
		switch {
		case err != nil:
			t.Fatalf("%v\n%s", err, p.stderr)
		case status == http.StatusInsufficientStorage && strings.Contains(string(raw), "file too large") && strings.Contains(string(raw), "storage_full"):
			refused++
		case status/100 != 2:
			t.Fatalf("%d %s\n%s", status, raw, p.stderr)
		}
	}
	if refused < 5 {
		t.Fatal("the limit was never reached")
	}
	if status, _, err := p.get(t.Context(), "/health"); err != nil || status != http.StatusOK {
		t.Errorf("GET /health: %d %v", status, err)
	}
}

// TestHangup (finding B12): a closed terminal ended the router without a clean
// stop; under nohup it must go on.
func TestHangup(t *testing.T) {
	path := program(t, buildProgram)
	heard := make(chan os.Signal, 1) // or a child of tests that were started by nohup would ignore it too
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	p := start(t, path, t.TempDir())
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	err := <-p.ended
	p.ended <- err
	if said := p.stderr.String(); err != nil || !strings.Contains(said, "stopped") || !strings.Contains(said, "clean=true") {
		t.Errorf("it ended with %v:\n%s", err, said)
	}
	deaf := filepath.Join(t.TempDir(), "deaf")
	if err := os.WriteFile(deaf, []byte(fmt.Sprintf("#!/bin/sh\ntrap '' HUP\nexec %s \"$@\"\n", path)), 0o700); err != nil {
		t.Fatal(err)
	}
	p = start(t, deaf, t.TempDir())
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if status, _, err := p.get(t.Context(), "/health"); err != nil || status != http.StatusOK {
			t.Fatalf("one that ignores hang-ups: %d %v\n%s", status, err, p.stderr)
		}
	}
}

// TestFailedSync (finding B10): fsync fails below a router. It must take no
// more writes, end, say why, and be whole when it starts again.
func TestFailedSync(t *testing.T) {
	path := program(t, buildProgram)
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("there is no strace to make fsync fail")
	}
	data := t.TempDir()
	p := start(t, path, data)
	var stored []string
	put := func(n int) (int, string) {
		status, raw, err := p.post(t.Context(), "/api/knowledge", map[string]any{"id": fmt.Sprint("entry-", n), "category": "gotcha", "title": fmt.Sprint("Entry ", n), "content": fmt.Sprint("It was the number ", n)})
		if err != nil {
			return 0, err.Error()
		}
		if status/100 == 2 {
			stored = append(stored, fmt.Sprint("entry-", n))
		}
		return status, string(raw)
	}
	for n := range 5 {
		if status, said := put(n); status/100 != 2 {
			t.Fatal(status, said)
		}
	}
	said := &output{}
	tracer := exec.Command(strace, "-f", "-p", fmt.Sprint(p.cmd.Process.Pid), "-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO")
	tracer.Stderr = said
	if err := tracer.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tracer.Process.Kill(); _ = tracer.Wait() }()
	limit := time.NewTimer(startTime)
	defer limit.Stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for !strings.Contains(said.String(), "attached") {
		select {
		case <-limit.C:
			t.Skipf("strace cannot be attached here: %s", said)
		case <-look.C:
		}
	}
	status, answer := put(5)
	// Where a write of the router's own met the fault first, nobody is answered any more.
	if status != 0 && (status != http.StatusInternalServerError || !strings.Contains(answer, "may be there or not")) {
		t.Errorf("the write in doubt: %d %s", status, answer)
	}
	for n := 6; n < 10; n++ {
		if status, answer := put(n); status/100 == 2 {
			t.Errorf("a write after it: %d %s", status, answer)
		}
	}
	select {
	case err := <-p.ended:
		p.ended <- err
		if err == nil || !strings.Contains(p.stderr.String(), "what is on disk is unknown") {
			t.Errorf("it ended with %v and says:\n%s", err, p.stderr)
		}
	case <-limit.C:
		t.Fatalf("it goes on:\n%s", p.stderr)
	}
	_ = tracer.Process.Kill()
	p = start(t, path, data)
	for _, id := range stored {
		if status, raw, err := p.get(t.Context(), "/api/knowledge/"+id); err != nil || status != http.StatusOK {
			t.Errorf("%s was acknowledged: %d %s %v", id, status, raw, err)
		}
	}
	if status, said := put(11); status/100 != 2 {
		t.Errorf("the next start takes no writes: %d %s", status, said)
	}
}
