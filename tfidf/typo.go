package tfidf

import (
	"bytes"
	"math/bits"
	"slices"
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

// correctable tells whether a word may be taken for a misspelling or be a
// correction: letters only, because a number or a code with one digit changed
// is another one.
func correctable(word []byte) bool {
	if utf8.RuneCount(word) < typoWord-1 {
		return false
	}
	for i := range len(word) {
		if c := word[i]; c < utf8.RuneSelf && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// typoGroups appends the distinct groups of three bytes of a word with its begin and end.
func typoGroups(word []byte, out []uint16) []uint16 {
	x := uint32('^')
	add := func() {
		g := uint16((x & 0xffffff) * 0x9e3779b1 >> (32 - typoBits))
		if !slices.Contains(out, g) {
			out = append(out, g)
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
	return out
}

// correct returns the word of a live document that is nearest to word, and its
// distance: the smallest distance, then the word that most documents hold,
// then the first in order. It returns 0 if none is near enough.
func (x *typoIndex) correct(v *vocabulary, word string) (id uint32, distance int) {
	runes := []rune(word)
	if len(runes) < typoWord || !correctable([]byte(word)) {
		return 0, 0
	}
	most := 1
	if len(runes) >= typoTwo {
		most = 2
	}
	x.grow(v)
	x.mu.RLock()
	defer x.mu.RUnlock()
	groups := typoGroups([]byte(word), nil)
	slices.SortFunc(groups, func(a, b uint16) int { return len(x.words[a]) - len(x.words[b]) })
	// One edit touches at most four groups, so that of five one is left; the lists of the
	// commonest groups need not be read.
	groups = groups[:min(len(groups), 4*most+1)]
	best, held := most+1, uint32(0)
	tries, letters := 0, lettersOf([]byte(word))
	var other []rune
	for _, g := range groups {
		for _, c := range x.words[g] {
			text := v.text(c)
			if len(text) > len(word)+4*most || len(text)+4*most < len(word) {
				continue
			}
			if tries++; tries > typoTries {
				break
			}
			if l := lettersOf(text); bits.OnesCount32(l&^letters) > best || bits.OnesCount32(letters&^l) > best {
				continue // an edit brings one letter and takes one away
			}
			h := v.entry(c).held.Load()
			if h == 0 {
				continue
			}
			other = appendRunes(other[:0], text)
			d := EditDistance(runes, other, best)
			if d > most || d > best || d == best && (h < held || h == held && id != 0 && bytes.Compare(text, v.text(id)) >= 0) {
				continue
			}
			id, best, held = c, d, h
		}
	}
	if id == 0 {
		return 0, 0
	}
	return id, best
}

// lettersOf has a bit for each of the letters a to z that a word has.
func lettersOf(word []byte) (set uint32) {
	for _, c := range word {
		if c -= 'a'; c < 26 {
			set |= 1 << c
		}
	}
	return set
}

func appendRunes(out []rune, text []byte) []rune {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		out, text = append(out, r), text[n:]
	}
	return out
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
