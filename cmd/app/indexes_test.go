package app_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// healthOf returns the states of the search indexes as GET /health has them.
func healthOf(t *testing.T, p *process) map[string]string {
	t.Helper()
	status, raw, err := p.get(t.Context(), "/health")
	var health struct {
		Search map[string]string `json:"search"`
	}
	if err != nil || status != http.StatusOK || json.Unmarshal(raw, &health) != nil {
		t.Fatalf("health answered %d %s, %v", status, raw, err)
	}
	return health.Search
}

// awaitComplete waits until every index is whole.
func awaitComplete(t *testing.T, p *process) {
	t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		whole := true
		for _, state := range healthOf(t, p) {
			whole = whole && state == "whole"
		}
		if whole {
			return
		}
		select {
		case <-look.C:
		case <-t.Context().Done():
			t.Fatal("an index is not whole in time")
		}
	}
}

// finds fails the test unless a word finds so many entries of the router's, or
// some of them and the answer says that it may lack others.
func finds(t *testing.T, p *process, word string, want int) (notice string) {
	t.Helper()
	status, raw, err := p.post(t.Context(), "/api/knowledge/search", map[string]any{"query": word, "limit": 100})
	var found struct {
		Count  int    `json:"count"`
		Notice string `json:"notice"`
	}
	if err != nil || status != http.StatusOK || json.Unmarshal(raw, &found) != nil {
		t.Fatalf("a search answered %d %s, %v", status, raw, err)
	}
	if found.Count > want || found.Count < want && (found.Notice == "" || found.Count == 0) {
		t.Errorf("%q finds %d of %d; notice %q, health %v", word, found.Count, want, found.Notice, healthOf(t, p))
	}
	return found.Notice
}

// storeEntries stores so many entries, every hundredth about kubelets.
func storeEntries(t *testing.T, p *process, from, to int) {
	t.Helper()
	entries := []map[string]any{}
	for i := from; i < to; i++ {
		content := fmt.Sprintf("what was learned of module m%d, step %d of it", i%977, i)
		if i%100 == 0 {
			content += " by the kubelet"
		}
		entries = append(entries, map[string]any{"id": fmt.Sprint("e", i), "category": "gotcha", "title": fmt.Sprint("Entry ", i), "content": content})
	}
	if status, raw, err := p.post(t.Context(), "/api/knowledge/bulk", entries); err != nil || status/100 != 2 {
		t.Fatalf("bulk answered %d %.200s, %v", status, raw, err)
	}
}

// TestIndexesAreReadAtTheStart kills a router between its writes: each start answers at once and correctly, says what it
// lacks, and mends it. The folder in which earlier versions kept indexes is removed.
func TestIndexesAreReadAtTheStart(t *testing.T) {
	program := program(t, buildProgram)
	data := t.TempDir()
	const many = 3000
	p := start(t, program, data)
	storeEntries(t, p, 0, many)
	finds(t, p, "kubelet", many/100)
	p.kill()
	left := filepath.Join(data, "index")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}

	p = start(t, program, data)
	finds(t, p, "kubelet", many/100) // what is not read yet is looked up
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the folder of an earlier version is still there: %v", err)
	}
	storeEntries(t, p, many, many+100)
	finds(t, p, "kubelet", many/100+1)
	awaitComplete(t, p)
	finds(t, p, "kubelet", many/100+1)
	interrupt(t, p)

	p = start(t, program, data)
	awaitComplete(t, p)
	finds(t, p, "kubelet", many/100+1)
	interrupt(t, p)
}

// interrupt stops a router as a person does.
func interrupt(t *testing.T, p *process) {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := <-p.ended
	p.ended <- err
	if err != nil {
		t.Errorf("it did not end cleanly: %v\n%s", err, p.stderr)
	}
}

// TestKillsWhileIndexesAreRead kills routers at random moments while they read many entries into
// their index: the next one always has all of them.
func TestKillsWhileIndexesAreRead(t *testing.T) {
	program := program(t, buildProgram)
	data := t.TempDir()
	const many, rounds = 9000, 8
	p := start(t, program, data)
	for i := 0; i < many; i += 3000 {
		storeEntries(t, p, i, i+3000)
	}
	p.kill()
	for range rounds {
		p = start(t, program, data)
		finds(t, p, "kubelet", many/100)
		wait := time.NewTimer(time.Duration(rand.Int64N(int64(1500 * time.Millisecond))))
		<-wait.C
		p.kill()
	}
	p = start(t, program, data)
	awaitComplete(t, p)
	finds(t, p, "kubelet", many/100)
	interrupt(t, p)
}
