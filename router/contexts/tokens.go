package contexts

import (
	"math"
	"strings"
	"sync"
)

// Tokenizer is the encoding that token budgets are counted in: that of the
// GPT-4o generation and after (tiktoken's o200k_base). Its vocabulary is in the
// binary. Local models have encodings of their own, in which the same text is
// mostly a few tokens more; a budget for one of them should leave room.
const Tokenizer = "o200k_base"

const (
	// memoPiece bounds the pieces whose counts are remembered, in bytes: words are shorter.
	memoPiece = 48
	// memoMost bounds how many are remembered: a few megabytes, and more odd words than a
	// team's memory has. Then remembering begins anew.
	memoMost = 1 << 15
)

// tokenCounter counts tokens exactly: it splits a text into pieces, as the
// encoding says, looks each up in the vocabulary, and merges the bytes of those
// that are not in it. What a merged piece counts is remembered.
type tokenCounter struct {
	vocabulary func() *vocabulary

	mu    sync.RWMutex
	known map[string]uint16 // counts of pieces that are more than one token
}

func newTokenCounter(vocabulary func() *vocabulary) *tokenCounter {
	return &tokenCounter{vocabulary: vocabulary, known: map[string]uint16{}}
}

// tokens is the one counter of the process: what it remembers are constants of the encoding.
var tokens = newTokenCounter(sync.OnceValue(readVocabulary))

// CountTokens returns how many tokens a text is, the names of special tokens
// in it counted as what they are written with. The first call unpacks the
// vocabulary, which takes it some tenths of a second. The cost grows with the
// text, and within a piece (a word, a run of white space or signs) of n bytes
// with n·log n.
func CountTokens(text string) int { return tokens.count(text, math.MaxInt) }

// count counts the tokens of a text, and no further than to what is more than most: a text of which somebody asks whether
// it fits is mostly much too long.
func (c *tokenCounter) count(text string, most int) int {
	text = strings.ToValidUTF8(text, "\uFFFD")
	vocabulary := c.vocabulary()
	total := 0
	var odd []string
	for len(text) > 0 && total+len(odd) <= most { // a piece is at least one token
		n := nextPiece(text)
		if vocabulary.rank(text[:n]) != unmergeable {
			total++
		} else {
			odd = append(odd, text[:n])
		}
		text = text[n:]
	}
	if len(odd) == 0 {
		return total
	}
	fresh := odd[:0]
	c.mu.RLock()
	for _, piece := range odd {
		if known, ok := c.known[piece]; ok {
			total += int(known)
		} else {
			fresh = append(fresh, piece)
		}
	}
	c.mu.RUnlock()
	for _, piece := range fresh {
		n := mergedCount(vocabulary, piece)
		total += n
		if len(piece) <= memoPiece {
			c.remember(piece, n)
		}
	}
	return total
}

func (c *tokenCounter) remember(piece string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= memoMost {
		clear(c.known)
	}
	c.known[strings.Clone(piece)] = uint16(n)
}
