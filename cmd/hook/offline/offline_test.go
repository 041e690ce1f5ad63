package offline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/hook/offline"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// TestCopyThatWasTakenBack: a copy that is gone, or an older one in its place, is not believed, and said.
func TestCopyThatWasTakenBack(t *testing.T) {
	dir := t.TempDir()
	if _, err := offline.Read(dir); !os.IsNotExist(err) {
		t.Fatalf("nobody wrote one: %v", err)
	}
	at := time.Date(2026, 11, 28, 12, 0, 0, 5, time.UTC)
	write := func(at time.Time) []byte {
		t.Helper()
		if err := offline.Write(dir, rule.Copy{At: at, Packs: map[string]rule.Mode{}}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, offline.CopyName))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	put := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, offline.CopyName), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	older := write(at)
	newer := write(at.Add(time.Minute))
	if c, err := offline.Read(dir); err != nil || !c.At.Equal(at.Add(time.Minute)) {
		t.Fatalf("%v %v", c.At, err)
	}
	put(older)
	if _, err := offline.Read(dir); err == nil || !strings.Contains(err.Error(), "older one that was put back") {
		t.Errorf("an older copy: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, offline.CopyName)); err != nil {
		t.Fatal(err)
	}
	if _, err := offline.Read(dir); err == nil || os.IsNotExist(err) || !strings.Contains(err.Error(), "it is gone") {
		t.Errorf("no copy: %v", err)
	}
	put(newer) // the negative control
	if _, err := offline.Read(dir); err != nil {
		t.Error(err)
	}
}
