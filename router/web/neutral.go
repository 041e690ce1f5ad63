package web

import (
	"fmt"
	"unicode/utf8"
)

// neutralise returns a page in which no character is left that cannot be seen
// and changes what is: control characters, and those that turn the direction
// of text around or hide in it. Each is replaced by its number in brackets.
// It sees the whole page, so that no template can forget it.
func neutralise(page []byte) []byte {
	for i := 0; i < len(page); {
		r, n := utf8.DecodeRune(page[i:])
		if unseen(r) || r == utf8.RuneError && n == 1 {
			return rewrite(page, i)
		}
		i += n
	}
	return page
}

func rewrite(page []byte, from int) []byte {
	out := make([]byte, 0, len(page)+64)
	out = append(out, page[:from]...)
	for i := from; i < len(page); {
		r, n := utf8.DecodeRune(page[i:])
		switch {
		case unseen(r):
			out = fmt.Appendf(out, "[U+%04X]", r)
		default: // what is no UTF-8 becomes U+FFFD
			out = utf8.AppendRune(out, r)
		}
		i += n
	}
	return out
}

// unseen tells whether a character is neither text nor white space. The joiners
// U+200C and U+200D are text: scripts and emoji are written with them.
func unseen(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return false
	case r < ' ', r >= 0x7f && r <= 0x9f: // control characters
		return true
	case r < 0xad:
		return false
	case r == 0xad, r == 0x61c, r == 0x180e, r == 0x200b, r == 0x200e, r == 0x200f, r == 0xfeff:
		return true
	case r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f: // separators, embeddings, overrides, isolates, invisible operators
		return true
	case r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff: // annotations, tags
		return true
	}
	return false
}
