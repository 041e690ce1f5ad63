package contexts

import (
	"strings"
	"sync"
	"unicode"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Tokenizer is the encoding that token budgets are counted in: that of the
// GPT-4o generation and after (tiktoken's o200k_base). Its vocabulary is in the
// binary. Local models have encodings of their own, in which the same text is
// mostly a few tokens more; a budget for one of them should leave room.
const Tokenizer = "o200k_base"

// encoding loads the vocabulary once, which takes it up to a tenth of a second.
var encoding = sync.OnceValue(codec.NewO200kBase)

// countable makes a text what the library counts right: valid UTF-8, and without DEL, which it counts as nothing.
func countable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x7f", "\x01")
}

// CountTokens returns how many tokens a text is, the names of special tokens in it counted as what they are written with.
// A long run of white space may count a little more than it is.
func CountTokens(text string) (total int) {
	text = countable(text)
	count := func(part string) {
		n, err := encoding().Count(part)
		if err != nil {
			n = len(part) // it fails for text that is not UTF-8 alone; a token is a byte at least
		}
		total += n
	}
	from, run := 0, 0
	for at, r := range text {
		if run++; !unicode.IsSpace(r) {
			run = 0
		}
		if run == longSpace {
			count(text[from:at])
			from, run = at, 0
		}
	}
	count(text[from:])
	return total
}

// longSpace is how many blanks are counted together: the library takes the square of the time for a run of them.
const longSpace = 256
