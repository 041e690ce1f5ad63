package incident

import (
	"slices"
	"strings"
	"testing"

	"skillrouter/tfidf/wordlist"
)

// TestBlamed tells which words of a command an error is about.
func TestBlamed(t *testing.T) {
	for _, test := range []struct {
		command, line string
		want          []string // without the command as such
	}{
		{"rm a.py b.py", "rm: cannot remove 'b.py': No such file or directory", []string{"argument rm b.py"}},
		{"ls src/old", "ls: cannot access 'src/old': No such file", []string{"file ls src/old", "folder ls src/"}},
		{"git push --no-thin origin", "error: unknown option --no-thin", []string{"flag git push --no-thin"}},
		{"cd web && npm run lint", "sh: cd: web: No such file", []string{"cd web"}},
		{"pip install -q xy", "error: externally-managed-environment", []string{"argument pip install xy", "flag pip install -q", "program pip install"}},
		{"test_a x", "no such test: test_ab", []string{"program test_a"}}, // a part of a word is none of it
	} {
		var got []string
		for _, f := range blamed(features(test.command), test.line) {
			if !f.full() {
				got = append(got, f.name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, not %v", test.command, got, test.want)
		}
	}
}

func TestPrograms(t *testing.T) {
	for _, fault := range wordlist.Faults(programsText, strings.ToLower) {
		t.Error(fault)
	}
}
