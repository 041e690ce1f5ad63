package contexts

import (
	"compress/flate"
	_ "embed"
	"hash/maphash"
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

// vocabulary is the rank of each token: the lower it is, the earlier a pair of bytes is merged into it. It is a table of ranks by
// the hash of a token's bytes, in which the next slot is looked at until one is free (linear probing). A map has the place and the length of
// each token besides, which its rank tells here: it takes twice the memory, and is slower.
type vocabulary struct {
	text   string                  // all tokens, by rank
	starts []uint32                // where each begins in text, and where the last ends
	slots  [vocabularySlots]uint32 // a rank and one; 0: free
	seed   maphash.Seed
}

// vocabularySlots keeps three slots of five free: what is no token is asked for as often as what is.
const vocabularySlots = 1 << 19

// readVocabulary returns the encoding's vocabulary. The table is all that is taken from the
// library: its splitting (v0.10.0, by an expression that was compiled into code)
// loses the character DEL and splits runs of white space with several line
// breaks otherwise than tiktoken does.
func readVocabulary() *vocabulary {
	var all strings.Builder
	if _, err := io.Copy(&all, flate.NewReader(strings.NewReader(packedVocabulary))); err != nil || all.Len() <= vocabularySize {
		panic("router: the embedded vocabulary cannot be read") // a broken build: every test of a budget fails
	}
	v := &vocabulary{text: all.String()[vocabularySize:], starts: make([]uint32, vocabularySize+1), seed: maphash.MakeSeed()}
	for id, length := range []byte(all.String()[:vocabularySize]) {
		v.starts[id+1] = v.starts[id] + uint32(length)
		if length == 0 { // an id without a token
			continue
		}
		slot := v.slot(v.token(uint32(id))) //nolint:gosec // below 199,998
		for ; v.slots[slot] != 0; slot = (slot + 1) % vocabularySlots {
		}
		v.slots[slot] = uint32(id) + 1 //nolint:gosec // likewise
	}
	return v
}

// token returns the token of a rank.
func (v *vocabulary) token(rank uint32) string { return v.text[v.starts[rank]:v.starts[rank+1]] }

// slot is where looking for a token begins.
func (v *vocabulary) slot(token string) uint64 {
	return maphash.String(v.seed, token) % vocabularySlots
}

// rank returns the rank of a token, or unmergeable of what is none.
func (v *vocabulary) rank(token string) uint32 {
	for slot := v.slot(token); v.slots[slot] != 0; slot = (slot + 1) % vocabularySlots {
		if rank := v.slots[slot] - 1; v.token(rank) == token {
			return rank
		}
	}
	return unmergeable
}

// shortPiece is up to how many bytes a piece is merged by looking at all pairs
// again and again, which is the faster way for few.
const shortPiece = 64

// mergedCount returns how many tokens a piece becomes by byte-pair encoding: of
// all neighbours, the two that make the token of the lowest rank, the leftmost
// of equals, are merged, until none make a token (Sennrich, Haddow and Birch,
// "Neural Machine Translation of Rare Words with Subword Units", 2016).
func mergedCount(ranks *vocabulary, piece string) int {
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
			if rank := ranks.rank(piece[ends[i]:ends[i+2]]); rank < best {
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
func longMergedCount(ranks *vocabulary, piece string) int {
	parts := make([]part, len(piece)+1) // the last one is the end
	for i := range parts {
		parts[i] = part{before: i - 1, after: i + 1}
	}
	rankOf := func(i int) uint32 {
		next := parts[i].after
		if next >= len(piece) {
			return unmergeable
		}
		return ranks.rank(piece[i:parts[next].after])
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
