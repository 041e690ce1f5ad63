package learning

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFingerprint(t *testing.T) {
	base := FingerprintOf("p", "Title", "Some content, café")
	for _, test := range []struct {
		name                    string
		project, title, content string
		same                    bool
	}{
		{"case", "p", "TITLE", "some CONTENT, CAFÉ", true},
		{"white space", "p", "  Title\n", "Some\t\tcontent,\r\n\u00a0 café \u3000", true},
		{"composition", "p", "Title", "Some content, cafe\u0301", true},
		{"project", "q", "Title", "Some content, café", false},
		{"project's case", "P", "Title", "Some content, café", false},
		{"punctuation", "p", "Title", "Some content café", false},
		{"accent", "p", "Title", "Some content, cafe", false},
		{"border moved", "p", "Title Some", "content, café", false},
		{"no space", "p", "Title", "Somecontent, café", false},
	} {
		if got := FingerprintOf(test.project, test.title, test.content) == base; got != test.same {
			t.Errorf("%s: same = %v", test.name, got)
		}
	}
	if FingerprintOf("", "Straße", "x") != FingerprintOf("", "STRASSE", "x") {
		t.Error("ß is not folded as Unicode says")
	}
	if FingerprintOf("", "a", "ΐ") != FingerprintOf("", "a", "\u03b9\u0308\u0301") {
		t.Error("what folds to a sequence is not composed again")
	}
}

// FuzzNormal holds the normal form to what makes it one: it is its own normal
// form, and neither case, spacing nor a longer way through changes it.
func FuzzNormal(f *testing.F) {
	for _, seed := range []string{"Hello  World", "ΐ\u0345", "e\u0301", "ǅ Σς", " \u00a0\u2003x ", "\u1e9e\u0130"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip("no text gets here without a check")
		}
		normal := string(AppendNormal(nil, text))
		if again := string(AppendNormal(nil, normal)); again != normal {
			t.Errorf("%q becomes %q and then %q", text, normal, again)
		}
		spaced := "\n\t " + strings.ReplaceAll(text, " ", " \r\n ") + "  "
		if got := string(AppendNormal(nil, spaced)); got != normal {
			t.Errorf("spaced, %q becomes %q and not %q", text, got, normal)
		}
	})
}
