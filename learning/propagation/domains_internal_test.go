package propagation

import (
	"testing"

	"skillrouter/tfidf/wordlist"
)

func TestDomainsList(t *testing.T) {
	for _, fault := range wordlist.Faults(domainsText, func(word string) string { return word }) {
		t.Errorf("domains, %s", fault)
	}
}
