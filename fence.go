package skillrouter

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Fencer draws the marks between which a text that agents wrote stands before a
// model. A mark follows from the text and from a key that only this process
// knows: whoever writes the text cannot know it beforehand, and the same text
// gets the same mark again, so that a prompt that is built twice is the same
// and a model's prompt cache holds.
type Fencer struct{ key [32]byte }

// NewFencer makes a Fencer with a key of its own.
func NewFencer() *Fencer {
	f := &Fencer{}
	_, _ = rand.Read(f.key[:]) // never fails, see crypto/rand
	return f
}

// Mark returns the mark of a text: eight hexadecimal digits that the text does not hold.
func (f *Fencer) Mark(text string) string {
	for turn := 0; ; turn++ {
		sum := hmac.New(sha256.New, f.key[:])
		sum.Write([]byte(strconv.Itoa(turn) + "\n" + text))
		if mark := hex.EncodeToString(sum.Sum(nil)[:4]); !strings.Contains(text, mark) {
			return mark
		}
	}
}

// imitation is what begins like a mark, in whatever spelling.
var imitation = Lazily(`(?i)<(\s*/?\s*memory)`)

// Unfenced returns a text in which nothing looks like a mark: of what does, the
// bracket is another one.
func Unfenced(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	return imitation.ReplaceAllString(text, "‹$1")
}
