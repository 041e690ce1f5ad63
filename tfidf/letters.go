package tfidf

import "sync/atomic"

// letterBits is the width of a hashed letter group. With 65,536 buckets a
// vocabulary of a laptop's size shares few of them.
const letterBits = 16

// letterCounts holds how many live documents hold each letter group.
type letterCounts [1 << letterBits]atomic.Uint32

// letterGroups appends the hashed groups of four bytes of a word, in which its
// begin and end count as a byte each.
func letterGroups(word string, out []uint16) []uint16 {
	x := uint32('^')
	for i := range len(word) {
		x = x<<8 | uint32(word[i])
		if i >= 2 {
			out = append(out, hashLetters(x))
		}
	}
	return append(out, hashLetters(x<<8|'$'))
}

func hashLetters(x uint32) uint16 { return uint16(x * 0x9e3779b1 >> (32 - letterBits)) }

// count adds delta to the groups of the words of one document, each once.
func (c *letterCounts) count(t *tally, words []uint32, vocab *vocabulary, delta int32) {
	if t.seen == nil {
		t.seen = make([]uint32, len(c))
	}
	t.round++
	if t.round == 0 { // after four thousand million documents the old rounds come back
		clear(t.seen)
		t.round = 1
	}
	for _, id := range words {
		word := vocab.text(id)
		x := uint32('^')
		for i := range len(word) {
			x = x<<8 | uint32(word[i])
			if i >= 2 {
				c.once(t, hashLetters(x), delta)
			}
		}
		c.once(t, hashLetters(x<<8|'$'), delta)
	}
}

func (c *letterCounts) once(t *tally, g uint16, delta int32) {
	if t.seen[g] != t.round {
		t.seen[g] = t.round
		c[g].Add(uint32(delta))
	}
}
