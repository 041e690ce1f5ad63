package tfidf

import (
	"bytes"
	"slices"
)

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
	var instead map[string]string
	unknown := ix.parse(text, ix.view.Load()).unknown
	for _, word := range unknown[:min(len(unknown), relaxWords)] {
		if near := ix.typos.nearest(ix.vocab, word); near != "" {
			if instead == nil {
				instead = map[string]string{}
			}
			instead[word] = near
		}
	}
	return instead
}

// nearest returns the word of a live document that a word may be the begin of,
// or begin with, or be misspelt for: first the former, then the least edits,
// then the word that most documents hold, then the first in order.
func (x *typoIndex) nearest(v *vocabulary, word string) string {
	runes := []rune(word)
	if len(word) < relaxPrefix || !correctable([]byte(word)) {
		return ""
	}
	most := 0
	switch {
	case len(runes) >= typoTwo:
		most = relaxEdits
	case len(runes) >= typoWord:
		most = relaxShort
	}
	x.grow(v)
	x.mu.RLock()
	defer x.mu.RUnlock()
	groups := typoGroups([]byte(word), nil)
	slices.SortFunc(groups, func(a, b uint16) int { return len(x.words[a]) - len(x.words[b]) })
	var found []byte
	best, held, tries := most+1, uint32(0), 0
	seen := map[uint32]bool{}
	var other []rune
	for _, g := range groups {
		for _, c := range x.words[g] {
			h := v.entry(c).held.Load()
			if h == 0 || seen[c] {
				continue
			}
			seen[c] = true
			if tries++; tries > relaxTries {
				return string(found)
			}
			text, d := v.text(c), 0
			switch {
			case bytes.HasPrefix(text, []byte(word)) && len(text) <= 3*len(word):
			case len(text) > relaxPrefix && bytes.HasPrefix([]byte(word), text) && len(word) <= 2*len(text):
			default:
				other = appendRunes(other[:0], text)
				d = max(EditDistance(runes, other, min(best, most)), 1)
			}
			if d > most || d > best || d == best && (h < held || h == held && bytes.Compare(text, found) >= 0) {
				continue
			}
			found, best, held = text, d, h
		}
	}
	return string(found)
}
