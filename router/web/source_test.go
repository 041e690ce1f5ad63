package web_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTemplatesNeedNoInline: the Content-Security-Policy would let none of it work.
func TestTemplatesNeedNoInline(t *testing.T) {
	forbidden := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|javascript:|<script(?: defer)?>|hx-on|hx-vals=.js|(?:src|href|action)="https?:`)
	files, err := filepath.Glob("templates/*.html")
	if err != nil || len(files) < 9 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := forbidden.FindString(string(text)); found != "" {
			t.Errorf("%s has %q", name, found)
		}
	}
	for _, bad := range []string{`<p style="x">`, `<a onclick="x">`, `<script>`, `<img src="https://evil.example/x">`} {
		if !forbidden.MatchString(bad) {
			t.Errorf("%s is not found", bad)
		}
	}
}

// TestVendored holds the copied libraries to the sums of their list, and the list to the files.
func TestVendored(t *testing.T) {
	const dir = "assets/vendor/"
	list, err := os.ReadFile(dir + "VENDORED.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{"VENDORED.txt": true}
	for line := range strings.Lines(string(list)) {
		fields := strings.Fields(line)
		if len(fields) != 6 || len(fields[5]) != 2*sha256.Size {
			continue
		}
		content, err := os.ReadFile(dir + fields[0])
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		if hex.EncodeToString(sum[:]) != fields[5] {
			t.Errorf("%s is not the file that %s %s has", fields[0], fields[1], fields[2])
		}
		if text, err := os.ReadFile(dir + fields[4]); err != nil || len(text) < 100 {
			t.Errorf("the license of %s is not there: %v", fields[1], err)
		}
		listed[fields[0]], listed[fields[4]] = true, true
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(listed) < 5 {
		t.Fatal(listed, err)
	}
	for _, e := range entries {
		if !listed[e.Name()] {
			t.Errorf("%s is in no list", e.Name())
		}
	}
}
