package respond

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestHeardAsTimeIsUp has a check-in answered when the time for it is up too: what it brought is told.
func TestHeardAsTimeIsUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		a := &attendance{begun: time.Now().Add(-toldTime), done: make(chan struct{})}
		close(a.done)
		if err := a.wait(ctx, toldTime); err != nil || !a.heard {
			t.Fatalf("heard: %t, %v", a.heard, err)
		}
	}
}

// TestOneHookTellsAMessage has two hooks run at once: the second tells nothing until the first has told, or did not come to its end.
func TestOneHookTellsAMessage(t *testing.T) {
	path, h := filepath.Join(t.TempDir(), "agent"), new(Hook)
	if !h.claims(path) || h.claims(path) {
		t.Fatal("both hooks tell it")
	}
	h.release(path)
	if !h.claims(path) {
		t.Fatal("nobody tells what comes next")
	}
	before := time.Now().Add(-tellTime - time.Second)
	if err := os.Chtimes(path+".telling", before, before); err != nil {
		t.Fatal(err)
	}
	if !h.claims(path) {
		t.Error("a hook that was killed keeps all others silent")
	}
	if !h.claims("") || !h.claims(filepath.Join(t.TempDir(), "no", "folder")) {
		t.Error("without a folder nothing is told")
	}
}
