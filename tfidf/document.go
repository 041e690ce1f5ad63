package tfidf

import (
	"slices"

	"github.com/skillrouter/skillrouter/tfidf/text"
)

// doc is a document as the index holds it.
type doc struct {
	id                string
	number            uint32 // its place in Index.docs
	length            uint32 // how many words it has, those of the title counting more
	order             int64  // see Document.Order
	moment            int64  // see Document.At
	project, category string
	tags              []string
	words             []uint32 // in their order, by their numbers
	titled            int      // how many of them, the first ones, are its title
}

// scanned is a document that is split into words, before these have numbers.
type scanned struct {
	doc   doc
	words []string
}

// scan splits a document into words.
func scan(d Document) scanned {
	s := scanned{doc: doc{
		id: d.ID, order: d.Order, moment: d.At, project: d.Project, category: d.Category,
		tags: slices.Clone(d.Tags[:min(len(d.Tags), MaxTags)]),
	}}
	var in text.Scanner
	s.words = in.Words(nil, text.Cut(d.Title, text.MaxDocumentBytes))
	s.doc.titled = len(s.words)
	s.words = in.Words(s.words, text.Cut(d.Body, text.MaxDocumentBytes))
	return s
}

// read gives numbers to the words of a document.
func (ix *Index) read(s *scanned) *doc {
	d := s.doc
	d.words = make([]uint32, len(s.words))
	for i, word := range s.words {
		d.words[i] = ix.intern(word, &ix.typos)
	}
	return &d
}

// says tells whether a document has the words of another, so that the lists of its terms stay as they are.
func (d *doc) says(other *doc) bool {
	return d.titled == other.titled && slices.Equal(d.words, other.words)
}

const (
	// letterBits is the width of a hashed group of letters. With so many a vocabulary of a
	// laptop's size shares few of them.
	letterBits  = 16
	letterCount = 1 << letterBits
)

// letterGroups returns the hashed groups of four bytes of a word, in which its
// begin and end count as a byte each.
func letterGroups(word string) []uint16 {
	groups := make([]uint16, 0, max(len(word)-1, 1))
	x := uint32('^')
	for i := range len(word) {
		x = x<<8 | uint32(word[i])
		if i >= 2 {
			groups = append(groups, hashLetters(x))
		}
	}
	return append(groups, hashLetters(x<<8|'$'))
}

func hashLetters(x uint32) uint16 { return uint16(x * 0x9e3779b1 >> (32 - letterBits)) }
