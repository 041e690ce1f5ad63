package tfidf

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/tfidf/text"
)

const (
	// typoWord is the shortest word, in runes, that is corrected: shorter ones have too many neighbours.
	typoWord = 4
	// typoTwo is the shortest word that is corrected by two edits.
	typoTwo = 8
	// typoTries bounds how many words of the vocabulary are looked at for one word of a query.
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
// distance. It returns 0 if none is near enough.
func (x *typoIndex) correct(known []word, of string) (id uint32, distance int) {
	n := utf8.RuneCountInString(of)
	switch {
	case n < typoWord || !correctable(of):
		return 0, 0
	case n < typoTwo:
		return x.near(known, of, 1, typoTries, false)
	}
	return x.near(known, of, 2, typoTries, false)
}

// near returns the word of a document that is at most so many edits from one, and its distance: the smallest distance,
// then the word that most documents hold, then the first in order. At distance 0 is, if beginnings count, a word that it
// begins with or that begins with it. So many words are compared at most, those with its rarest groups first.
func (x *typoIndex) near(known []word, of string, most, tries int, beginnings bool) (id uint32, distance int) {
	runes, letters, seen := []rune(of), lettersOf(of), map[uint32]bool{}
	best, held := most+1, uint32(0)
	for _, list := range x.lists(of) {
		for _, c := range list {
			w := &known[c]
			if w.held == 0 || seen[c] {
				continue
			}
			if seen[c] = true; len(seen) > tries {
				return id, best
			}
			d := 0
			if !beginnings || !w.begins(of) {
				// An edit brings one letter and takes one away: most words need no closer look.
				if l := lettersOf(w.text); bits.OnesCount32(l&^letters) > best || bits.OnesCount32(letters&^l) > best {
					continue
				}
				d = max(EditDistance(runes, []rune(w.text), min(best, most)), 1)
			}
			if d > most || d > best || d == best && (w.held < held || w.held == held && id != 0 && w.text >= known[id].text) {
				continue
			}
			id, best, held = c, d, w.held
		}
	}
	return id, best
}

// begins tells whether a word is the beginning of another or the other its, and not too small a part of it.
func (w *word) begins(of string) bool {
	return strings.HasPrefix(w.text, of) && len(w.text) <= 3*len(of) ||
		len(w.text) > relaxPrefix && strings.HasPrefix(of, w.text) && len(of) <= 2*len(w.text)
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
