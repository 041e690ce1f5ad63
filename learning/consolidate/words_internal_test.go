package consolidate

import (
	"strings"
	"testing"

	"skillrouter/tfidf/wordlist"
)

func TestRulesWordsList(t *testing.T) {
	for _, fault := range wordlist.Faults(rulesWords, strings.ToLower) {
		t.Errorf("words, %s", fault)
	}
	for _, fault := range wordlist.Faults(rulesPrograms, strings.ToLower) {
		t.Errorf("programs, %s", fault)
	}
}
