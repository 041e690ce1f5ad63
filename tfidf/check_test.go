package tfidf

import (
	"fmt"
	"maps"
	"slices"
)

// Check compares all that the index holds with what its documents say, and returns what differs, or nil.
func (ix *Index) Check() error {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	held, total, docs := map[uint32]uint32{}, uint64(0), 0
	lists, letters := map[uint32][]posting{}, [letterCount]uint32{}
	for number, d := range ix.docs {
		if d == nil {
			continue
		}
		if int(d.number) != number || ix.byID[d.id] != d.number || ix.lengths[number] != d.length {
			return fmt.Errorf("document %q has number %d, at %d", d.id, d.number, number)
		}
		docs++
		total += uint64(d.length)
		groups := map[uint16]bool{}
		for _, word := range slices.Compact(slices.Sorted(slices.Values(d.words))) {
			held[word]++
			for _, group := range letterGroups(ix.words[word].text) {
				groups[group] = true
			}
		}
		for group := range groups {
			letters[group]++
		}
		for term, tf := range ix.termsOf(d) {
			lists[term] = append(lists[term], posting{d.number, tf})
		}
	}
	if docs != len(ix.byID) || total != ix.total || letters != ix.letters {
		return fmt.Errorf("%d documents of length %d, and %d in all", len(ix.byID), total, ix.total)
	}
	for id, w := range ix.words {
		if id > 0 && ix.numbers[w.text] != uint32(id) || w.held != held[uint32(id)] || !slices.Equal(w.postings, lists[uint32(id)]) {
			return fmt.Errorf("word %q is held by %d documents, and by %d; as a term it is in %d, and in %d", w.text, w.held, held[uint32(id)], len(w.postings), len(lists[uint32(id)]))
		}
	}
	if len(ix.numbers) != len(ix.words)-1 || slices.Contains(slices.Collect(maps.Values(ix.numbers)), 0) {
		return fmt.Errorf("%d words of %d have numbers", len(ix.numbers), len(ix.words)-1)
	}
	return nil
}
