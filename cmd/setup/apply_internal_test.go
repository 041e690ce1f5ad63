package setup

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestRollback sees that a write that fails takes back those before it.
func TestRollback(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	changed, made, gone := filepath.Join(dir, "changed"), filepath.Join(dir, "made"), filepath.Join(dir, "gone")
	for _, path := range []string{changed, gone} {
		if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := Plan{
		Agent: Generic, target: Target{Agent: Generic, Dir: dir, Home: dir}, store: Store{filepath.Join(dir, "store")},
		Changes: []Change{
			{Path: changed, real: changed, mode: 0o600, before: []byte("before"), after: []byte("after"), Action: Modify},
			{Path: made, real: made, mode: 0o600, after: []byte("after"), Action: Create},
			{Path: gone, real: gone, mode: 0o600, before: []byte("before"), Action: Delete},
			// Neither made nor modified: no folder is made for it, so that it cannot be written.
			{Path: "x", real: filepath.Join(dir, "missing", "x"), mode: 0o600, after: []byte("after"), Action: "hindered"},
		},
	}
	if err := p.Apply(time.Unix(0, 0)); err == nil {
		t.Fatal("it was applied")
	}
	for _, path := range []string{changed, gone} {
		if text, err := os.ReadFile(path); err != nil || string(text) != "before" {
			t.Errorf("%s holds %q, %v", path, text, err)
		}
	}
	if _, err := os.Lstat(made); err == nil {
		t.Error("what was made is left")
	}
	if entries, _ := os.ReadDir(p.store.Dir); len(entries) > 0 {
		t.Errorf("the store keeps %v", entries)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.bak")); len(left) > 0 {
		t.Errorf("backups are left: %v", left)
	}
}
