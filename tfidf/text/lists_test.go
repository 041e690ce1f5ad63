package text

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf/wordlist/wordlisttest"
)

// folded is how the scan reads a word, the parts of a compound one as one.
func folded(word string) string {
	var s Scanner
	s.Scan(word)
	words, _ := s.Query(nil, nil)
	return strings.Join(words, " ")
}

func TestLists(t *testing.T) {
	for name, text := range map[string]string{
		"thesaurus": thesaurus, "everyday": everyday, "irregular": irregular, "tools": tools, "kinds": kinds, "hints": hintsText,
	} {
		for _, fault := range wordlisttest.Faults(text, folded) {
			t.Errorf("%s, %s", name, fault)
		}
	}
	for form, stem := range forms() {
		if ruleStem(form) == stem {
			t.Errorf("irregular: the rules find %s for %s, so it need not stand there", stem, form)
		}
	}
}
