package search

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/tfidf/text"
)

// rankHits orders hits of several kinds, the likeliest first. Of equally likely
// ones the later is first, and then the order of Kinds and the id settle it.
func rankHits(hits []Hit) {
	order := Kinds()
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.place, a.place), b.At.Compare(a.At), cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)), cmp.Compare(a.ID, b.ID))
	})
}

const (
	// alike is from which share of their words in common on hits of two kinds say the same.
	alike = 0.7
	// bagWords bounds the words by which hits are compared.
	bagWords = 64
)

var bagSeed = maphash.MakeSeed()

// bagOf is the distinct words of a text's head, as numbers in ascending order.
func bagOf(title, body string) []uint32 {
	terms := text.Terms(title + "\n" + body[:min(len(body), snippetBytes)])
	bag := make([]uint32, 0, min(len(terms), bagWords))
	for _, term := range terms[:min(len(terms), bagWords)] {
		bag = append(bag, uint32(maphash.String(bagSeed, term)))
	}
	slices.Sort(bag)
	return slices.Compact(bag)
}

// foldAlike lists a hit that says what one of another kind says under that one:
// of a lesson and the episode that it came from the lesson is read. As many
// are folded as an answer of limit can show.
func foldAlike(hits []Hit, limit int) []Hit {
	order := Kinds()
	kept := make([]Hit, 0, min(len(hits), limit))
	for _, hit := range hits {
		if len(kept) == limit {
			break
		}
		at := slices.IndexFunc(kept, func(other Hit) bool {
			overlap, _ := learning.Likeness(other.words, hit.words)
			return other.Kind != hit.Kind && overlap >= alike
		})
		if at < 0 {
			kept = append(kept, hit)
			continue
		}
		first := &kept[at]
		if slices.Index(order, hit.Kind) < slices.Index(order, first.Kind) {
			hit.Relevance, hit.place, hit.Also, first.Also = max(hit.Relevance, first.Relevance), max(hit.place, first.place), first.Also, nil // its place is that of the likelier
			*first, hit = hit, *first
		}
		first.Also = append(first.Also, Ref{hit.Kind, hit.ID, hit.Title})
	}
	return kept
}
