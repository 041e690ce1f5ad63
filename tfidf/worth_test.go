package tfidf_test

import (
	"fmt"
	"math"
	"testing"

	"skillrouter/tfidf"
)

// TestClasses holds the classes of the first pass to what they stand for: they
// never fall where the number grows, and mean it within a few per cent.
func TestClasses(t *testing.T) {
	before := uint32(0)
	for tf := uint32(1); tf < 1<<16; tf++ {
		class, stands := tfidf.TFClass(tf)
		if class < before {
			t.Fatalf("frequency %d is of class %d, the one before of %d", tf, class, before)
		}
		if tf < 256 && math.Abs(stands/float64(tf)-1) > 0.15 {
			t.Fatalf("frequency %d stands as %v", tf, stands)
		}
		before = class
	}
	before = 0
	for length := uint32(1); length < 1<<24; length += 1 + length/1000 {
		class, stands := tfidf.LengthClass(length)
		if class < before {
			t.Fatalf("length %d is of class %d, the one before of %d", length, class, before)
		}
		if length < 1<<18 && math.Abs(stands/float64(length)-1) > 0.04 {
			t.Fatalf("length %d stands as %v", length, stands)
		}
		before = class
	}
}

// TestCommonWordAlone finds documents by a word that nearly all have beside
// rarer ones, although it is worth next to nothing.
func TestCommonWordAlone(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	var docs []tfidf.Document
	for i := range 400 {
		docs = append(docs, tfidf.Document{ID: fmt.Sprintf("%03d", i), Body: "shared " + word(uint64(i))})
	}
	ix.Put(docs...)
	text := "shared"
	for i := range 20 {
		text += " " + word(uint64(i))
	}
	if n := len(ix.Search(tfidf.Query{Text: text, Limit: 400}).Hits); n != 400 {
		t.Errorf("found %d of 400", n)
	}
}
