package setup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/setup"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// TestGitHook: what was there is called, kept to the byte and put back; doing it twice changes nothing.
func TestGitHook(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "hooks")
	hook := filepath.Join(folder, setup.PreCommit)
	do := func(remove bool) error {
		t.Helper()
		_, err := setup.GitHook(folder, "/opt/skill router/skillrouter", remove)
		return err
	}
	read := func() string { text, _ := os.ReadFile(hook); return string(text) }
	if err := do(false); err != nil || !strings.Contains(read(), "'/opt/skill router/skillrouter' leases check --staged") {
		t.Fatalf("%v: %s", err, read())
	}
	if err := do(true); err != nil || read() != "" {
		t.Errorf("taken out: %v: %s", err, read())
	}
	own := "#!/bin/sh\nexit 0\n"
	if err := os.WriteFile(hook, []byte(own), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := do(true); err != nil || read() != own {
		t.Errorf("a hook that is not ours: %v: %s", err, read())
	}
	for range 2 {
		if err := do(false); err != nil || read() == own {
			t.Fatalf("%v: %s", err, read())
		}
	}
	if err := do(true); err != nil || read() != own {
		t.Errorf("put back: %v: %s", err, read())
	}
	if err := do(false); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte(own), 0o755); err != nil { // somebody wrote over ours
		t.Fatal(err)
	}
	if err := do(false); errs.CodeOf(err) != errs.Conflict || read() != own {
		t.Errorf("two that are not ours: %v", err)
	}
}
