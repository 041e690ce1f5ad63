package tfidf

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"skillrouter/tfidf/text"
)

const (
	// typoWord is the shortest word, in runes, that is corrected: shorter ones have too many neighbours.
	typoWord = 4
	// typoTwo is the shortest word that is corrected by two edits.
	typoTwo = 8
	// typoTries bounds how many words of the vocabulary are looked at for one word of a query, one with several of its groups several times.
	typoTries = 8192
	// typoBits is the width of a hashed group of three bytes.
	typoBits = 14
	// typoGroupCount is how many hashed groups there are.
	typoGroupCount = 1 << typoBits
)

// typoIndex finds words of the vocabulary by groups of three bytes.
type typoIndex [typoGroupCount][]uint32 // of each group, the words' numbers, ascending

// add takes in a new word.
func (x *typoIndex) add(id uint32, word string) {
	if correctable(word) {
		for _, g := range typoGroups(word) {
			x[g] = append(x[g], id)
		}
	}
}

// lists returns the words of each group of a word, the shortest list first.
func (x *typoIndex) lists(word string) (lists [][]uint32) {
	for _, g := range typoGroups(word) {
		lists = append(lists, x[g])
	}
	slices.SortStableFunc(lists, func(a, b []uint32) int { return len(a) - len(b) })
	return lists
}

// correctable tells whether a word may be taken for a misspelling or be a
// correction: letters only, because a number or a code with one digit changed
// is another one.
func correctable(word string) bool {
	if utf8.RuneCountInString(word) < typoWord-1 {
		return false
	}
	return strings.IndexFunc(word, func(r rune) bool { return r < utf8.RuneSelf && (r < 'a' || r > 'z') }) < 0
}

// typoGroups returns the distinct groups of three bytes of a word with its begin and end.
func typoGroups(word string) (groups []uint16) {
	x := uint32('^')
	add := func() {
		g := uint16((x & 0xffffff) * 0x9e3779b1 >> (32 - typoBits))
		if !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	for i := range len(word) {
		x = x<<8 | uint32(word[i])
		if i >= 1 {
			add()
		}
	}
	x = x<<8 | '$'
	add()
	return groups
}

// correct returns the word of a document that is nearest to one, and its
// distance: the smallest distance, then the word that most documents hold,
// then the first in order. It returns 0 if none is near enough.
func (x *typoIndex) correct(known []word, of string) (id uint32, distance int) {
	runes := []rune(of)
	if len(runes) < typoWord || !correctable(of) {
		return 0, 0
	}
	most := 1
	if len(runes) >= typoTwo {
		most = 2
	}
	lists := x.lists(of)
	// One edit touches at most four groups, so that of five one is left; the lists of the
	// commonest groups need not be read.
	lists = lists[:min(len(lists), 4*most+1)]
	best, held := most+1, uint32(0)
	tries, letters := 0, lettersOf(of)
	for _, list := range lists {
		for _, c := range list {
			w := &known[c]
			if len(w.text) > len(of)+4*most || len(w.text)+4*most < len(of) {
				continue
			}
			if tries++; tries > typoTries {
				break
			}
			if l := lettersOf(w.text); bits.OnesCount32(l&^letters) > best || bits.OnesCount32(letters&^l) > best {
				continue // an edit brings one letter and takes one away
			}
			if w.held == 0 {
				continue
			}
			d := EditDistance(runes, []rune(w.text), best)
			if d > most || d > best || d == best && (w.held < held || w.held == held && id != 0 && w.text >= known[id].text) {
				continue
			}
			id, best, held = c, d, w.held
		}
	}
	if id == 0 {
		return 0, 0
	}
	return id, best
}

// lettersOf has a bit for each of the letters a to z that a word has.
func lettersOf(word string) (set uint32) {
	for i := range len(word) {
		if c := word[i] - 'a'; c < 26 {
			set |= 1 << c
		}
	}
	return set
}

// EditDistance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment), or returns more
// than most.
func EditDistance(a, b []rune, most int) int {
	if d := len(a) - len(b); d > most || -d > most || len(b) > text.MaxWord || len(a) > text.MaxWord {
		return most + 1
	}
	var rows [3][text.MaxWord + 1]int
	before, row, next := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range a {
		next[0] = i + 1
		least := i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			d := min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			next[j+1] = d
			least = min(least, d)
		}
		if least > most {
			return most + 1
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
