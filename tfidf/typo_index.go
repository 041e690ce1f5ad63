package tfidf

import "sync"

// typoIndex finds words of the vocabulary by groups of three bytes.
type typoIndex struct {
	mu    sync.RWMutex
	until uint32                   // words with smaller numbers, and this one, are in
	words [typoGroupCount][]uint32 // of each group, their numbers, ascending
}

// grow takes in the words that are new in the vocabulary.
func (x *typoIndex) grow(v *vocabulary) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var buf []uint16
	for until := v.count.Load(); x.until < until; {
		x.until++
		if word := v.text(x.until); correctable(word) {
			buf = typoGroups(word, buf[:0])
			for _, g := range buf {
				x.words[g] = append(x.words[g], x.until)
			}
		}
	}
}
