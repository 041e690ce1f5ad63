package tfidf

import (
	"maps"
	"slices"
)

// IDs returns the ids of all documents, in no order. Callers compare them
// with what they hold themselves.
func (ix *Index) IDs() []string {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return slices.Collect(maps.Keys(ix.byID))
}
