package tfidf

import (
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/tfidf/text"
)

// A vocabulary numbers words and stems, and holds where the stems occur. A
// number is never given up; 0 is no word.
type vocabulary struct {
	numbers map[string]uint32
	words   []word // by number
}

// word has two faces: one that documents hold (stem, held) and the stem of
// such words, the term that postings are kept by.
type word struct {
	text     string
	stem     uint32    // the term of this word
	held     uint32    // how many documents hold this very word
	groups   []uint16  // its groups of letters, see letterGroups
	postings []posting // of the documents that hold a word with this stem, in the order of their numbers
}

// posting says that a document has a term, and how often, words of the title counting more.
type posting struct{ doc, tf uint32 }

func newVocabulary() vocabulary {
	return vocabulary{numbers: map[string]uint32{}, words: make([]word, 1)}
}

// df returns how many documents hold a term.
func (v *vocabulary) df(term uint32) int { return len(v.words[term].postings) }

// intern returns the number of a word. One that is new gets a number, and so does its stem.
func (v *vocabulary) intern(of string, typos *typoIndex) uint32 {
	if id := v.numbers[of]; id != 0 {
		return id
	}
	of = strings.Clone(of) // it is a part of a whole text
	id := uint32(len(v.words))
	v.numbers[of] = id
	v.words = append(v.words, word{text: of, stem: id, groups: letterGroups(of)})
	typos.add(id, of)
	if stem := text.FindStem(of); stem != of {
		v.words[id].stem = v.intern(stem, typos)
	}
	return id
}

// find returns where the posting of a document is in a list, or would be.
func find(list []posting, number uint32) (int, bool) {
	return slices.BinarySearchFunc(list, number, func(p posting, number uint32) int { return int(p.doc) - int(number) })
}
