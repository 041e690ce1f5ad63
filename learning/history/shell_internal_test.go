package history

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf/wordlist/wordlisttest"
)

func TestPrograms(t *testing.T) {
	for _, fault := range wordlisttest.Faults(programsText, strings.ToLower) {
		t.Error(fault)
	}
}

// TestSimples reads shell texts as the guard does, also those that a log cut.
func TestSimples(t *testing.T) {
	for text, want := range map[string]string{
		"cd a && FOO=1 make test | tail -3":               "cd a/FOO=1 make test/tail -3",
		"for f in a b; do echo $f; done; > out":           "echo $f",
		"if test -e 'a b'; then rm \"a b\"; fi":           "test -e a b/rm a b",
		"cat <<'EOF' > x.py\nimport os\nEOF\npython x.py": "cat/python x.py",
		"echo 'never closed && git push":                  "echo 'never closed/git push",
		"":                                                "",
	} {
		var got []string
		for _, c := range simples(text) {
			got = append(got, strings.Join(c.words, " "))
		}
		if strings.Join(got, "/") != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// FuzzSimples: whatever a log holds is read to its end.
func FuzzSimples(f *testing.F) {
	for _, text := range []string{"> a", "a |& b || c", "((1+", "$(", "a <<X", "{ a; }", "case a in b) c;; esac", "\x00\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range simples(text) {
			if len(c.words) == 0 {
				t.Errorf("%q has a command without words", text)
			}
			_ = programOf(c)
		}
	})
}

// TestBanner: an error is named by the line that says it, not by a banner above it.
func TestBanner(t *testing.T) {
	for output, want := range map[string]string{
		"WARN checker is a preview. Expect bugs and fatal errors.\nerror[unresolved]: Cannot resolve module foo": "error[unresolved]: Cannot resolve module foo",
		"error during build:\nRollupError: could not resolve ./x":                                                "RollupError: could not resolve ./x",
		"warning: fatal things may happen":                                                                       "warning: fatal things may happen", // where nothing else does
	} {
		if got := errorLine(errorLines(output)); got != want {
			t.Errorf("%q is named %q", output, got)
		}
	}
}

// TestReadCall: an editor that is told by "command" what to do edits a file, and runs nothing.
func TestReadCall(t *testing.T) {
	for _, c := range []struct {
		tool, input, want string
		edited            bool
	}{
		{"str_replace_based_edit_tool", `{"command":"str_replace","path":"src/lib.rs","old_str":"a","new_str":"b"}`, "src/lib.rs", true},
		{"Edit", `{"file_path":"a.go"}`, "a.go", true},
		{"Bash", `{"command":"make test"}`, "make test", false},
		{"shell", `{"command":["bash","-lc","make test"]}`, "make test", false},
	} {
		if got, edited := ReadCall(c.tool, []byte(c.input)); got != c.want || edited != c.edited {
			t.Errorf("%s: %q, %v", c.tool, got, edited)
		}
	}
}
