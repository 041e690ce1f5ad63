package respond

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTasksThatNeverBegan gives tasks to subagents that never begin: none of them is another one's later, or left at the session's end.
func TestTasksThatNeverBegan(t *testing.T) {
	h := ofSession(t, func(context.Context, string, string, any, any) error { return nil })
	files := func() []string {
		found, err := filepath.Glob(cached("task-*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	h.delegate("look at the shop", "scout")
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(files()[0], before, before); err != nil {
		t.Fatal(err)
	}
	h.delegate("look at the cart", "scout")
	h.call.Kind = "scout"
	if got := h.delegated(); got != "look at the cart" {
		t.Errorf("the subagent was given %q", got)
	}
	if got := h.delegated(); got != "" || len(files()) != 0 {
		t.Errorf("the next one was given %q, and %q is left", got, files())
	}
	h.delegate("look at the till", "scout")
	if err := h.end(t.Context()); err != nil || len(files()) != 0 {
		t.Errorf("the session's end leaves %q: %v", files(), err)
	}
}
