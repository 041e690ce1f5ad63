package folder

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf/wordlist/wordlisttest"
)

func TestWordsList(t *testing.T) {
	for _, fault := range wordlisttest.Faults(wordsText, strings.ToLower) {
		t.Errorf("words.txt, %s", fault)
	}
}
