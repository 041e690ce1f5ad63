package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk mounts a file system of the size, in bytes, for the test.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("a small tmpfs cannot be mounted here (%v); as root this test runs", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes what is left of the disk, to the last byte, and returns what frees it.
func fill(t *testing.T, disk string) (free func()) {
	t.Helper()
	path := filepath.Join(disk, "filler")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for block := bytes.Repeat([]byte("x"), 1<<16); len(block) > 0; {
		if _, err = file.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk cannot be filled: %v", err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullDisk fills the disk under a router: writes are answered with 507 and
// nothing of them is kept, reads go on, and writes recover, without a restart,
// when there is room again.
func TestFullDisk(t *testing.T) {
	path := program(t, buildProgram)
	disk := smallDisk(t, 24<<20)
	p := start(t, path, filepath.Join(disk, "data"))
	content := strings.Repeat("A line of some entry. ", 200)
	store := func(n int) (status int, code string) {
		status, raw, err := p.post(t.Context(), "/api/knowledge", map[string]any{"category": "gotcha", "title": fmt.Sprint("Entry ", n), "content": content})
		if err != nil {
			t.Fatalf("%v\n%s", err, p.stderr)
		}
		var answer struct {
			Code string `json:"code"`
		}
		_ = json.Unmarshal(raw, &answer) // a success has no code
		return status, answer.Code
	}
	send := func() int {
		status, _, err := p.post(t.Context(), "/signal", map[string]any{"from_agent_id": "a", "to_agent_id": "b", "signal": "message", "context": map[string]any{"text": content}})
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	for _, agent := range []string{"a", "b"} {
		if status, raw, err := p.post(t.Context(), "/heartbeat", map[string]any{"agent_id": agent}); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s %v", status, raw, err)
		}
	}
	if status, _ := store(0); status/100 != 2 || send() != http.StatusOK {
		t.Fatalf("before: %d", status)
	}
	stored := 1
	for round := range 2 {
		free := fill(t, disk)
		full := 0
		for n := 1000 * (round + 1); full < 20 && n < 1000*(round+1)+500; n++ {
			switch status, code := store(n); {
			case status/100 == 2: // into room that the files have still
				stored++
			case status == http.StatusInsufficientStorage && code == "storage_full":
				full++
			default:
				t.Fatalf("a full disk is answered with %d %s\n%s", status, code, p.stderr)
			}
		}
		if full < 20 {
			t.Fatal("the disk never was full")
		}
		refused := 0
		for range 500 {
			if status := send(); status == http.StatusInsufficientStorage {
				refused++
			} else if status != http.StatusOK {
				t.Fatalf("a signal is answered with %d", status)
			}
			if refused == 5 {
				break
			}
		}
		if refused < 5 {
			t.Error("signals are taken without end")
		}
		for _, read := range []string{"/health", "/api/knowledge/" + first(t, p), "/messages/inbox?agent_id=b", "/messages/inbox?agent_id=newcomer", "/api/agents", "/shutdown-check?agent_id=b"} {
			if status, raw, err := p.get(t.Context(), read); err != nil || status != http.StatusOK {
				t.Errorf("while the disk is full, GET %s: %d %s %v", read, status, raw, err)
			}
		}
		if status, raw, err := p.post(t.Context(), "/api/knowledge/search", map[string]any{"query": "entry", "limit": 200}); err != nil || status != http.StatusOK || !strings.Contains(string(raw), `"Entry 0"`) && round == 0 && stored < 100 {
			t.Errorf("while the disk is full, a search: %d %v", status, err)
		}
		if status, _, err := p.post(t.Context(), "/heartbeat", map[string]any{"agent_id": "b"}); err != nil || status != http.StatusOK {
			t.Errorf("while the disk is full, the heartbeat of a known agent: %d %v", status, err)
		}
		// What is deleted goes.
		gone := first(t, p)
		if status, raw, err := p.call(t.Context(), http.MethodDelete, "/api/knowledge/"+gone, nil); err != nil || status/100 != 2 {
			t.Errorf("while the disk is full, DELETE: %d %s %v", status, raw, err)
		} else if status, _, err := p.get(t.Context(), "/api/knowledge/"+gone); err != nil || status != http.StatusNotFound {
			t.Errorf("what was deleted while the disk is full: %d %v", status, err)
		} else {
			stored--
		}
		free()
		if status, code := store(1000 * (round + 5)); status/100 != 2 {
			t.Fatalf("after room was made: %d %s\n%s", status, code, p.stderr)
		}
		stored++
		if status := send(); status != http.StatusOK {
			t.Fatalf("after room was made, a signal: %d", status)
		}
	}
	if faults := check(t, filepath.Join(disk, "data"), &acknowledged{}); len(faults) > 0 {
		t.Error(faults)
	}
	db := openReadOnly(t, filepath.Join(disk, "data"), "learning")
	defer db.Close()
	if got := column[int](t, db, "SELECT count(*) FROM knowledge")[0]; got != stored {
		t.Errorf("%d entries are stored, %d were acknowledged", got, stored)
	}
}

// first is the id of an entry that is stored.
func first(t *testing.T, p *process) string {
	t.Helper()
	_, raw, err := p.post(t.Context(), "/api/knowledge/search", map[string]any{"query": "entry", "limit": 1})
	var found struct {
		Results []struct {
			ID string `json:"id"`
		} `json:"results"`
	}
	if err != nil || json.Unmarshal(raw, &found) != nil || len(found.Results) != 1 {
		t.Fatalf("no entry is found: %s %v", raw, err)
	}
	return found.Results[0].ID
}
