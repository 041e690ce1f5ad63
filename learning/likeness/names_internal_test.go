package likeness

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf/text"
	"github.com/skillrouter/skillrouter/tfidf/wordlist/wordlisttest"
)

func TestNamesList(t *testing.T) {
	for _, fault := range wordlisttest.Faults(namesText, strings.ToLower) {
		t.Errorf("names, %s", fault)
	}
	for name, other := range Names() {
		if text.Stem(name) == "" || text.Stem(other) == "" {
			t.Errorf("names: no stem can be %q or %q", name, other)
		}
	}
}
