package learning

import (
	"strings"
	"testing"

	"skillrouter/tfidf"
	"skillrouter/tfidf/wordlist"
)

func TestWordLists(t *testing.T) {
	asGiven := func(word string) string { return word }
	for _, test := range []struct {
		name, text string
		folded     func(word string) string
	}{
		{"rules_words", rulesWords, strings.ToLower},
		{"rules_programs", rulesPrograms, strings.ToLower},
		{"guard_words", guardWords, asGiven},
		{"domains", domainsText, asGiven},
		{"likeness_names", likenessNamesText, strings.ToLower},
	} {
		for _, fault := range wordlist.Faults(test.text, test.folded) {
			t.Errorf("%s, %s", test.name, fault)
		}
	}
	for name, other := range likenessNames() {
		if tfidf.Stem(name) == "" || tfidf.Stem(other) == "" {
			t.Errorf("likeness_names: no stem can be %q or %q", name, other)
		}
	}
}
