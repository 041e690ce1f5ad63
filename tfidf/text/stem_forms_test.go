package text_test

import (
	"testing"

	"github.com/skillrouter/skillrouter/tfidf/text"
)

func TestIrregularForms(t *testing.T) {
	for form, word := range map[string]string{
		"went": "goes", "bought": "buying", "wrote": "writes", "overrode": "override", "frozen": "freezing",
		"children": "child", "indices": "index", "vertices": "vertex", "criteria": "criterion", "sent": "sending",
	} {
		if a, b := text.Stem(form), text.Stem(word); a != b {
			t.Errorf("the stem of %s is %s and that of %s is %s", form, a, word, b)
		}
	}
	// What is another word as often stays as it is.
	for form, word := range map[string]string{"left": "leave", "bound": "bind", "saw": "see", "lives": "life"} {
		if a, b := text.Stem(form), text.Stem(word); a == b {
			t.Errorf("%s and %s have one stem, %s", form, word, a)
		}
	}
}
