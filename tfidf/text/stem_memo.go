package text

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

const (
	// stemSlots is how many stems are remembered, a power of two: the words that make up nearly
	// all of a team's texts, in at most some three megabytes.
	stemSlots = 1 << 15
	// memoWord bounds the words whose stems are remembered, in bytes: longer ones are seldom words.
	memoWord = 32
)

// stemmed is a word and its stem; it never changes.
type stemmed struct{ word, stem string }

// stemMemo remembers the stems of words that were met, each in the one slot
// that its hash gives, from which another word may push it. Finding a stem
// takes some hundred times what looking it up does, and is most of the cost of
// reading a text. A stem is a constant of its word, so one memo serves the process.
type stemMemo struct {
	seed  maphash.Seed
	slots [stemSlots]atomic.Pointer[stemmed]
}

var stemsMet = stemMemo{seed: maphash.MakeSeed()}

// of returns the stem of a folded word. A word that is remembered allocates nothing.
func (m *stemMemo) of(word []byte) string {
	if len(word) > memoWord {
		return FindStem(string(word))
	}
	slot := &m.slots[maphash.Bytes(m.seed, word)%stemSlots]
	if known := slot.Load(); known != nil && known.word == string(word) {
		return known.stem
	}
	fresh := &stemmed{word: string(word)}
	if fresh.stem = FindStem(fresh.word); strings.HasPrefix(fresh.word, fresh.stem) {
		fresh.stem = fresh.word[:len(fresh.stem)] // one copy of the letters for both
	}
	slot.Store(fresh)
	return fresh.stem
}

// StemFolded returns the stem of a folded word, from memory if it was met lately.
func StemFolded(word string) string {
	if len(word) <= 2 {
		return word
	}
	return stemsMet.of([]byte(word))
}
