package tfidf_test

import (
	"testing"

	"skillrouter/tfidf"
)

func TestIrregularForms(t *testing.T) {
	for form, word := range map[string]string{
		"went": "goes", "bought": "buying", "wrote": "writes", "overrode": "override", "frozen": "freezing",
		"children": "child", "indices": "index", "vertices": "vertex", "criteria": "criterion", "sent": "sending",
	} {
		if a, b := tfidf.Stem(form), tfidf.Stem(word); a != b {
			t.Errorf("the stem of %s is %s and that of %s is %s", form, a, word, b)
		}
	}
	// What is another word as often stays as it is.
	for form, word := range map[string]string{"left": "leave", "bound": "bind", "saw": "see", "lives": "life"} {
		if a, b := tfidf.Stem(form), tfidf.Stem(word); a == b {
			t.Errorf("%s and %s have one stem, %s", form, word, a)
		}
	}
}

// TestIrregularFormsFind asks in one tense for what was written in another.
func TestIrregularFormsFind(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	ix.Put(filler(60)...)
	ix.Put(
		tfidf.Document{ID: "a", Body: "we chose the smaller queue and it held"},
		tfidf.Document{ID: "b", Body: "the queue is drained at midnight"},
	)
	for _, q := range []string{"why choose the queue", "does the queue hold", "the queue that was chosen"} {
		if got := ix.Search(tfidf.Query{Text: q}); len(got.Hits) == 0 || got.Hits[0].ID != "a" {
			t.Errorf("%q found %+v", q, got.Hits)
		}
	}
}
