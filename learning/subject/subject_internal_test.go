package subject

import (
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf/text"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

func TestWords(t *testing.T) {
	s := Known()
	for _, list := range s.asked {
		for _, phrase := range list {
			if len(s.Search[phrase.subject]) == 0 {
				t.Errorf("%q is asked for, and is no subject", phrase.subject)
			}
		}
	}
	for _, heading := range []string{"subjects", "asked"} {
		seen := map[string]bool{}
		for name, line := range wordlist.Pairs(words, heading) {
			if seen[name] {
				t.Errorf("%s: %q stands there twice", heading, name)
			}
			seen[name] = true
			phrases := []string{}
			for one := range strings.SplitSeq(line, ";") {
				stems := strings.Join(text.Terms(one), " ")
				if stems == "" || slices.Contains(phrases, stems) {
					t.Errorf("%s of %q is empty, or stands there twice: %q", heading, name, one)
				}
				phrases = append(phrases, stems)
			}
		}
	}
}
