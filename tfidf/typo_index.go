package tfidf

import (
	"encoding/binary"
	"slices"
	"sync"
)

// typoIndex finds words of the vocabulary by groups of three bytes. The words
// of each group lie one after the other in one array, as the distances between
// their numbers, and what is newer than that in a list of each group's own,
// until there is much of it.
type typoIndex struct {
	mu    sync.RWMutex
	until uint32 // words with smaller numbers, and this one, are in

	packed packedGroups
	newer  [typoGroupCount][]uint32
	fresh  int // how many are in newer
}

// packedGroups are lists of ascending numbers.
type packedGroups struct {
	starts []uint32 // per group, where its list starts; one more for the end of the last
	sizes  []uint32 // per group, how many numbers it has
	gaps   []byte   // uvarints
}

// typoFresh is how many words may be in the lists of their own, besides half as
// many as in the array.
const typoFresh = 1 << 16

// grow takes in the words that are new in the vocabulary.
func (x *typoIndex) grow(v *vocabulary) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var buf []uint16
	for until := v.count.Load(); x.until < until; {
		x.until++
		word := v.text(x.until)
		if !correctable(word) {
			continue
		}
		buf = typoGroups(word, buf[:0])
		for _, g := range buf {
			x.newer[g] = append(x.newer[g], x.until)
		}
		x.fresh += len(buf)
	}
	if x.fresh > typoFresh+len(x.packed.gaps)/4 { // two bytes are what most gaps take
		x.packed = x.pack(x.until)
		clear(x.newer[:])
		x.fresh = 0
	}
}

// compact leaves nothing in the lists of their own.
func (x *typoIndex) compact() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.fresh > 0 {
		x.packed = x.pack(x.until)
		clear(x.newer[:])
		x.fresh = 0
	}
}

// group appends the words of a group.
func (x *typoIndex) group(g uint16, words []uint32) []uint32 {
	if len(x.packed.starts) > 0 {
		words = x.packed.group(g, words)
	}
	return append(words, x.newer[g]...)
}

func (p *packedGroups) group(g uint16, out []uint32) []uint32 {
	b, last := p.gaps[p.starts[g]:p.starts[g+1]], uint32(0)
	for len(b) > 0 {
		gap, n := uvarint(b)
		last += gap
		out, b = append(out, last), b[n:]
	}
	return out
}

// size returns how many words a group has.
func (x *typoIndex) size(g uint16) int {
	n := len(x.newer[g])
	if len(x.packed.sizes) > 0 {
		n += int(x.packed.sizes[g])
	}
	return n
}

// pack returns the words up to a number.
func (x *typoIndex) pack(until uint32) packedGroups {
	p := packedGroups{
		starts: make([]uint32, typoGroupCount+1), sizes: make([]uint32, typoGroupCount),
		gaps: make([]byte, 0, len(x.packed.gaps)+2*x.fresh),
	}
	var words []uint32
	for g := range typoGroupCount {
		words = x.group(uint16(g), words[:0])
		n, _ := slices.BinarySearch(words, until+1)
		last := uint32(0)
		for _, word := range words[:n] {
			p.gaps = binary.AppendUvarint(p.gaps, uint64(word-last))
			last = word
		}
		p.sizes[g], p.starts[g+1] = uint32(n), uint32(len(p.gaps))
	}
	p.gaps = slices.Clip(p.gaps)
	return p
}
