package contexts

import (
	"compress/flate"
	_ "embed"
	"io"
	"strings"
)

// vocabularySize is how many tokens o200k_base has, special ones apart.
const vocabularySize = 199_998

// packedVocabulary is the library's table (tiktoken-go/tokenizer) in a seventh of the room that it
// takes as Go code: the length of each token, a byte each, then the tokens, by rank, deflated
// (RFC 1951). TestVocabulary compares the two, and writes the file anew.
//
//go:embed vocabulary.flate
var packedVocabulary string

// readVocabulary returns the rank of each token: the lower it is, the earlier a
// pair of bytes is merged into it. The table is all that is taken from the
// library: its splitting (v0.10.0, by an expression that was compiled into code)
// loses the character DEL and splits runs of white space with several line
// breaks otherwise than tiktoken does.
func readVocabulary() map[string]uint32 {
	var all strings.Builder
	if _, err := io.Copy(&all, flate.NewReader(strings.NewReader(packedVocabulary))); err != nil || all.Len() <= vocabularySize {
		panic("router: the embedded vocabulary cannot be read") // a broken build: every test of a budget fails
	}
	lengths, text := all.String()[:vocabularySize], all.String()[vocabularySize:]
	ranks := make(map[string]uint32, vocabularySize)
	for id := range vocabularySize {
		n := int(lengths[id])
		if n > 0 { // an id without a token
			ranks[text[:n]] = uint32(id)
		}
		text = text[n:]
	}
	return ranks
}

// shortPiece is up to how many bytes a piece is merged by looking at all pairs
// again and again, which is the faster way for few.
const shortPiece = 64

// mergedCount returns how many tokens a piece becomes by byte-pair encoding: of
// all neighbours, the two that make the token of the lowest rank, the leftmost
// of equals, are merged, until none make a token (Sennrich, Haddow and Birch,
// "Neural Machine Translation of Rare Words with Subword Units", 2016).
func mergedCount(ranks map[string]uint32, piece string) int {
	if len(piece) > shortPiece {
		return longMergedCount(ranks, piece)
	}
	var ends [shortPiece + 1]int // where each part ends; the first entry is the beginning
	n := len(piece) + 1
	for i := range n {
		ends[i] = i
	}
	for {
		best, at := unmergeable, 0
		for i := 0; i+2 < n; i++ {
			if rank, ok := ranks[piece[ends[i]:ends[i+2]]]; ok && rank < best {
				best, at = rank, i
			}
		}
		if best == unmergeable {
			return n - 1
		}
		copy(ends[at+1:n-1], ends[at+2:n])
		n--
	}
}

// unmergeable is the rank of two neighbours that make no token.
const unmergeable = ^uint32(0)

// part is a part of a piece, in the list of its parts; it begins where its index says.
type part struct {
	before, after int
	rank          uint32 // of the token that it and the next would make
}

// longMergedCount is mergedCount with a heap of the pairs that can be merged.
func longMergedCount(ranks map[string]uint32, piece string) int {
	parts := make([]part, len(piece)+1) // the last one is the end
	for i := range parts {
		parts[i] = part{before: i - 1, after: i + 1}
	}
	rankOf := func(i int) uint32 {
		next := parts[i].after
		if next >= len(piece) {
			return unmergeable
		}
		if rank, ok := ranks[piece[i:parts[next].after]]; ok {
			return rank
		}
		return unmergeable
	}
	pairs := make(pairHeap, 0, len(piece))
	rate := func(i int) (pair, bool) {
		parts[i].rank = rankOf(i)
		return pair(parts[i].rank)<<pairPlace | pair(i), parts[i].rank != unmergeable
	}
	for i := range len(piece) {
		if p, can := rate(i); can {
			pairs = append(pairs, p)
		}
	}
	pairs.order()
	count := len(piece)
	for len(pairs) > 0 {
		top := pairs.pop()
		i := int(top & (1<<pairPlace - 1))
		if parts[i].rank != uint32(top>>pairPlace) {
			continue // it was merged, or its neighbour was
		}
		gone := parts[i].after
		parts[gone].rank = unmergeable
		parts[i].after = parts[gone].after
		parts[parts[i].after].before = i
		count--
		if p, can := rate(i); can {
			pairs.push(p)
		}
		if before := parts[i].before; before >= 0 {
			if p, can := rate(before); can {
				pairs.push(p)
			}
		}
	}
	return count
}

// pair is two neighbouring parts that make a token: its rank, and below that
// where the first begins. So a smaller one is to be merged earlier.
type pair uint64

// pairPlace is how many bits of a pair say where it begins.
const pairPlace = 32

// pairHeap has the pair that is to be merged first at its head. It is
// container/heap's, without what an interface costs for each of millions.
type pairHeap []pair

// order makes a heap of pairs in any order.
func (h pairHeap) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

func (h *pairHeap) push(p pair) {
	*h = append(*h, p)
	list, i := *h, len(*h)-1
	for i > 0 && p < list[(i-1)/2] {
		list[i] = list[(i-1)/2]
		i = (i - 1) / 2
	}
	list[i] = p
}

func (h *pairHeap) pop() pair {
	list := *h
	top, last := list[0], len(list)-1
	list[0] = list[last]
	*h = list[:last]
	if last > 0 {
		h.sink(0)
	}
	return top
}

func (h pairHeap) sink(i int) {
	p := h[i]
	for child := 2*i + 1; child < len(h); child = 2*i + 1 {
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if p <= h[child] {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = p
}
