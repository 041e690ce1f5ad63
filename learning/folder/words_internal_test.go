package folder

import (
	"strings"
	"testing"

	"skillrouter/tfidf/wordlist"
)

func TestWordsList(t *testing.T) {
	for _, fault := range wordlist.Faults(wordsText, strings.ToLower) {
		t.Errorf("words.txt, %s", fault)
	}
}
