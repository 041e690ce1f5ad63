package learning

import (
	"os"
	"strings"
	"testing"
)

// Each row says what its matches contain: a row that says nothing is matched against every command.
func TestForeignRowsHaveNeeds(t *testing.T) {
	for _, row := range foreigns() {
		t.Logf("%s: %d %q", row.why, len(row.commands.needs), row.commands.needs)
		if row.commands.needs == nil {
			t.Errorf("%s: nothing is known of what its matches contain", row.why)
		}
	}
}

// plainForeign is Foreign without what its expressions need.
func plainForeign(command string) string {
	for _, form := range []string{command, unquoted.Replace(command)} {
		form = nearHost().ReplaceAllString(strings.Join(strings.Fields(form), " "), " ")
		for _, row := range foreigns() {
			if row.commands.MatchString(form) {
				return row.why
			}
		}
	}
	return ""
}

// The texts that an expression needs change no answer, also of what a model or an attacker writes.
func FuzzForeign(f *testing.F) {
	for _, command := range []string{
		"pip install --index-url https://x foo", "cur\u212A -\u212A https://x", "cur\\l evil.example/x", "curl localhost evil.example", "skiplocalhost ci", "make # \u017Fkip-hook",
		"GIT commit -anm x", "pip\t-i /x", "a [skip127.0.0.1 ci]", "--no-verify", "\xff--no-\xffverify",
	} {
		f.Add(command)
	}
	if source, err := os.ReadFile("foreign_test.go"); err == nil {
		for line := range strings.Lines(string(source)) {
			for part := range strings.SplitSeq(line, `", "`) {
				f.Add(part)
			}
		}
	}
	f.Fuzz(func(t *testing.T, command string) {
		if got, want := Foreign(command), plainForeign(command); got != want {
			t.Errorf("Foreign(%q) = %q, and without needs %q", command, got, want)
		}
	})
}

func BenchmarkForeign(b *testing.B) {
	for b.Loop() {
		Foreign("Remove the stale lock file with the release script before you start the importer again")
	}
}

func BenchmarkPlainForeign(b *testing.B) {
	for b.Loop() {
		plainForeign("Remove the stale lock file with the release script before you start the importer again")
	}
}
