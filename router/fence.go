package router

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"skillrouter"
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
var imitation = skillrouter.Lazily(`(?i)<(\s*/?\s*memory)`)

// Unfenced returns a text in which nothing looks like a mark: of what does, the
// bracket is another one.
func Unfenced(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	return imitation.ReplaceAllString(text, "‹$1")
}

// Visible replaces what a reader would not see but a model or a terminal
// would: control characters other than tab and line feed, the marks that
// reverse the direction of writing, and the tag characters that can spell
// hidden text.
func Visible(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\r' {
			return -1
		}
		if hidden(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

func hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0,
		r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, // bidirectional embeddings, overrides and isolates
		r >= 0xe0000 && r <= 0xe007f: // tags
		return true
	}
	return false
}
