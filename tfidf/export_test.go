package tfidf

import "github.com/zeebo/xxh3"

// SearchExhaustive answers like Search, but scores every document.
func (ix *Index) SearchExhaustive(q Query) Result { return ix.search(q, false) }

// Segments returns how many segments there are, and how many documents, dead ones too, each holds.
func (ix *Index) Segments() (sizes []int) {
	for _, s := range ix.view.Load().segs {
		sizes = append(sizes, s.docs())
	}
	return sizes
}

// Words returns the folded words of a text before stemming, compounds in brackets.
func Words(text string) (words []string) {
	var s scanner
	s.scan(text)
	for i, t := range s.toks {
		w := string(s.buf[t.start:t.end])
		switch {
		case t.kind == compound:
			w = "[" + w + "]"
		case t.kind == single && inPair(s.toks, i):
			w = "(" + w + ")"
		}
		words = append(words, w)
	}
	return words
}

// TFClass returns the class of a frequency and what the class stands for.
func TFClass(tf uint32) (class uint32, stands float64) { return tfClass(tf), classTF(tfClass(tf)) }

// LengthClass returns the class of a length and what the class stands for.
func LengthClass(length uint32) (class uint32, stands float64) {
	c := uint32(lengthClass(length))
	return c, classLength(c)
}

// FormatOf returns a hash of what the columns of the index's segments hold.
func FormatOf(ix *Index) uint64 {
	h := xxh3.New()
	for _, s := range ix.Capture().segments() {
		for _, c := range s.columns() {
			_, _ = h.WriteString(c.name)
			_, _ = h.Write(c.bytes())
		}
	}
	return h.Sum64()
}

// The versions in a snapshot's head.
const (
	SnapshotFormat   = snapshotFormat
	SnapshotAnalysis = snapshotAnalysis
)
