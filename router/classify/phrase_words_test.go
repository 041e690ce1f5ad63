package classify

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf/wordlist/wordlisttest"
)

// TestFunctionWords: a word that Phrase would spell otherwise is never met.
func TestFunctionWords(t *testing.T) {
	for _, fault := range wordlisttest.Faults(functionWords, func(word string) string { return strings.Join(Phrase(word), " ") }) {
		t.Error(fault)
	}
}
