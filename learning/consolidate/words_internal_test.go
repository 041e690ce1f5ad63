package consolidate

import (
	"strings"
	"testing"

	"skillrouter/tfidf/wordlist"
)

func TestRulesWordsList(t *testing.T) {
	for _, fault := range wordlist.Faults(rulesWords, strings.ToLower) {
		t.Errorf("rules_words, %s", fault)
	}
	for _, fault := range wordlist.Faults(rulesPrograms, strings.ToLower) {
		t.Errorf("rules_programs, %s", fault)
	}
}
