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

// A part of several words is one word of a key, whichever way the whole is named.
func TestPartsOfKeys(t *testing.T) {
	for _, subject := range []string{"the API's retry limit", "the retry limit of the API"} {
		if key, slot := factKey(subject, ""); key != "api.retry_limit" || !slot {
			t.Errorf("%q is %q, slot %v", subject, key, slot)
		}
	}
}
