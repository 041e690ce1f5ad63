package rule

import (
	"testing"

	"github.com/skillrouter/skillrouter/tfidf/wordlist/wordlisttest"
)

func TestBuiltinList(t *testing.T) {
	for _, fault := range wordlisttest.Faults(words, func(word string) string { return word }) {
		t.Errorf("words, %s", fault)
	}
}
