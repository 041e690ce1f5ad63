package wordlist_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf/wordlist"
	"github.com/skillrouter/skillrouter/tfidf/wordlist/wordlisttest"
)

const example = `# What stands before all headings has none.
red green
blue

[ports]
# sorted
http: 80
ssh: 22
urn:x: 1
nothing:
[last]
one
`

func TestLists(t *testing.T) {
	if got := slices.Sorted(maps.Keys(wordlist.Set(example, "")())); !slices.Equal(got, []string{"blue", "green", "red"}) {
		t.Errorf("the words are %q", got)
	}
	want := map[string]string{"http": "80", "ssh": "22", "urn:x": "1", "nothing": ""}
	if got := wordlist.Map(example, "ports")(); !maps.Equal(got, want) {
		t.Errorf("the pairs are %q", got)
	}
	if got := wordlist.Lines(example, "last"); !slices.Equal(got, []string{"one"}) {
		t.Errorf("the lines are %q", got)
	}
	for key := range wordlist.Pairs(example, "ports") {
		if key != "http" {
			t.Errorf("the first key is %q", key)
		}
		break
	}
}

func TestMissingHeading(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a heading that is not there was found")
		}
	}()
	wordlist.Lines(example, "colours")
}

// TestFaults is the negative control of all tests that lists are well formed.
func TestFaults(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"one two\nthree one\n", `line 2: the entry "one" stands there twice`},
		{"# groups\none two\nthree one\n", ""},
		{"# groups\none two one\n", `line 2: the entry "one" stands there twice`},
		{"# phrases\nthe one\nthe other\n", ""},
		{"# phrases\nthe one\nthe one\n", `line 3: the entry "the one" stands there twice`},
		{"k: a\nl: a\nk: b\n", `line 3: the key "k" stands there twice`},
		{"k: list file, show file\n", ""},
		{"k: list file, list file\n", `line 1: the entry "list file" stands there twice`},
		{"[x]\na\n[y]\na\n", ""},
		{"[x]\na\n[x]\nb\n", `line 3: the heading "[x]" stands there twice`},
		{"# sorted\nb: 1\na: 2\n", `line 3: "a: 2" stands behind "b: 1"`},
		{"One\n", `line 1: "One" is read as "one"`},
		{" one\n", `line 1: blanks stand around " one"`},
	} {
		if got := strings.Join(wordlisttest.Faults(test.text, strings.ToLower), "; "); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}
