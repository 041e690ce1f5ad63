package tfidf

import "strings"

// IDs returns the ids of all documents, in no order. Callers compare them
// with what they hold themselves.
func (ix *Index) IDs() []string {
	v := ix.view.Load()
	out := make([]string, 0, v.docs)
	for _, s := range v.segs {
		for d := range uint32(s.docs()) {
			if s.alive(d, v.seq) {
				out = append(out, strings.Clone(s.id(d)))
			}
		}
	}
	for _, d := range v.tail {
		if d.alive(v.seq) {
			out = append(out, d.id)
		}
	}
	return out
}
