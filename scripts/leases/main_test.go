package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestBriefly is the whole thing in small, and its negative control.
func TestBriefly(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and kills the real program")
	}
	binary := filepath.Join(t.TempDir(), "skillrouter")
	if output, err := exec.Command("go", "build", "-tags", "nomsgpack", "-o", binary, "github.com/skillrouter/skillrouter/cmd/skillrouter").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	seen, err := run(t.Context(), options{binary: binary, agents: 4, edits: 400, kills: 4, seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if seen.wrong() > 0 || seen.Stopped == 0 || seen.Away == 0 {
		t.Errorf("%+v", *seen)
	}
	blind, err := run(t.Context(), options{binary: binary, agents: 4, edits: 300, kills: 2, seed: 1, blind: true})
	if err != nil {
		t.Fatal(err)
	}
	if blind.Undetected == 0 {
		t.Errorf("the guard sees no edit, and nothing was found: %+v", *blind)
	}
}
