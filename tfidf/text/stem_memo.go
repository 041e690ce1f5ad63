package text

import (
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// mostStems is how many stems are remembered: the words that make up nearly all of a team's texts, in some three megabytes.
	mostStems = 1 << 15
	// memoWord bounds the words whose stems are remembered, in bytes: longer ones are seldom words.
	memoWord = 32
)

// stemsMet are the stems of words that were met. Finding a stem takes some hundred times what looking it up does, and is most
// of the cost of reading a text. A stem is a constant of its word, so one memory serves the process; when it is full, it begins anew.
var (
	stemsMet  sync.Map
	stemsHeld atomic.Int64
)

// stemOf returns the stem of a folded word, from memory if it was met lately.
func stemOf(word string) string {
	if stem, met := stemsMet.Load(word); met {
		return stem.(string)
	}
	stem := FindStem(word)
	if len(word) <= memoWord {
		if stemsHeld.Add(1) > mostStems {
			stemsMet.Clear()
			stemsHeld.Store(0)
		}
		stemsMet.Store(strings.Clone(word), strings.Clone(stem)) // both may be parts of a whole text
	}
	return stem
}

// StemFolded is stemOf for a word that may be a name of two letters, which is its own stem.
func StemFolded(word string) string {
	if len(word) <= 2 {
		return word
	}
	return stemOf(word)
}
