package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManual: every command has a page of the commit's month, nothing tells of the machine that made it, and a second time gives the same bytes.
func TestManual(t *testing.T) {
	var made [2]map[string]string
	for i := range made {
		out := t.TempDir()
		if err := run([]string{"1.0.0", "1795291290", out}); err != nil {
			t.Fatal(err)
		}
		made[i] = map[string]string{}
		if err := filepath.WalkDir(out, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(file)
			made[i][filepath.ToSlash(strings.TrimPrefix(file, out+string(filepath.Separator)))] = string(text)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"man/man1/skillrouter.1", "man/man1/skillrouter-serve.1", "completions/bash/skillrouter", "completions/zsh/_skillrouter", "completions/fish/skillrouter.fish", "completions/powershell/skillrouter.ps1"} {
		if made[0][name] == "" {
			t.Errorf("there is no %s", name)
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range made[0] {
		if made[1][name] != text {
			t.Errorf("%s is another one the second time", name)
		}
		if strings.HasPrefix(name, "man/") && (!strings.Contains(text, "Nov 2026") || strings.Contains(text, home+"/")) {
			t.Errorf("%s is not of the commit's month, or has a path of this machine:\n%.400s", name, text)
		}
	}
	if run([]string{"1.0.0", "today", t.TempDir()}) == nil || run(nil) == nil {
		t.Error("wrong arguments are taken")
	}
}
