package skillrouter

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Fencer makes the marks that enclose a text of an agent when a model reads it. A mark is
// computed from the text and from a key that only this process knows. So the writer of a
// text cannot know its mark, and the same text always gets the same mark, which lets a
// model's prompt cache work.
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

// Unfenced returns a text in which nothing looks like a mark: it replaces the opening
// bracket of each such place by another character.
func Unfenced(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	return imitation.ReplaceAllString(text, "‹$1")
}
