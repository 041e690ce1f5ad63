package propagation

import (
	"testing"

	"github.com/skillrouter/skillrouter/tfidf/wordlist/wordlisttest"
)

func TestDomainsList(t *testing.T) {
	for _, fault := range wordlisttest.Faults(domainsText, func(word string) string { return word }) {
		t.Errorf("domains, %s", fault)
	}
}
