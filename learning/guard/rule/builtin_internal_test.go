package rule

import (
	"testing"

	"skillrouter/tfidf/wordlist"
)

func TestBuiltinList(t *testing.T) {
	for _, fault := range wordlist.Faults(words, func(word string) string { return word }) {
		t.Errorf("words, %s", fault)
	}
}
