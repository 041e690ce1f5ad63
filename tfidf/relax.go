package tfidf

import "unicode/utf8"

// Bounds of relaxing a word.
const (
	// relaxTries bounds how many words of the vocabulary are compared with one word.
	relaxTries = 2 * typoTries
	// relaxWords is how many words of a query are relaxed.
	relaxWords = 8
	// relaxEdits is how many edits a word of typoTwo letters may be away, and a shorter
	// one of typoWord letters: one more than a search allows by itself.
	relaxEdits, relaxShort = 3, 2
	// relaxPrefix is the least length, in bytes, of a word that others begin with.
	relaxPrefix = 3
)

// Relax returns, for words of a query that no document has and nothing stands
// in for in a search, a word of the vocabulary that may be meant all the same:
// one that begins with it or that it begins with, or one further away in
// spelling. It is for a query that found nothing, and dearer than a search.
func (ix *Index) Relax(text string) map[string]string {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	var instead map[string]string
	unknown := ix.parse(text).unknown
	for _, word := range unknown[:min(len(unknown), relaxWords)] {
		if near := ix.typos.nearest(ix.words, word); near != "" {
			if instead == nil {
				instead = map[string]string{}
			}
			instead[word] = near
		}
	}
	return instead
}

// nearest returns the word of a live document that a word may be the begin of, or begin with, or be misspelt for.
func (x *typoIndex) nearest(known []word, of string) string {
	if len(of) < relaxPrefix || !correctable(of) {
		return ""
	}
	most := 0
	switch n := utf8.RuneCountInString(of); {
	case n >= typoTwo:
		most = relaxEdits
	case n >= typoWord:
		most = relaxShort
	}
	id, _ := x.near(known, of, most, relaxTries, true)
	return known[id].text // of none it is empty
}
