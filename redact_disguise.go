package skillrouter

import (
	"slices"
	"strings"
)

// edit is a part of a text that is left out where the text is read without
// disguise, or stands for one byte there.
type edit struct {
	from, to int
	char     byte // 0 for none
}

// maxJoint is how much may stand between two parts of one string literal: quotes, an operator, indentation.
const maxJoint = 48

// disguise looks whether what is at i breaks up a token: an invisible
// character, a percent-encoded byte, the seam of two string literals, or the
// end of a line within a token.
func (f *finder) disguise(i int) {
	if f.inner || len(f.edits) > 0 && i < f.edits[len(f.edits)-1].to {
		return
	}
	rest := f.text[i:]
	switch rest[0] {
	case '%':
		f.encoded(i, 1)
	case '\\': // JSON writes <, > and & so
		if strings.HasPrefix(rest, `\u00`) {
			f.encoded(i, len(`\u00`))
		}
	case 0xC2, 0xE2, 0xEF:
		for _, hidden := range []string{"\u00ad", "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2060", "\ufeff"} {
			if strings.HasPrefix(rest, hidden) {
				f.edits = append(f.edits, edit{i, i + len(hidden), 0})
				return
			}
		}
	case '"', '\'':
		f.seam(i)
	case '\n':
		f.brokenLine(i)
	}
}

// encoded looks whether two hexadecimal digits after n bytes at i are one byte of ASCII.
func (f *finder) encoded(i, n int) {
	if i+n+2 > len(f.text) {
		return
	}
	high, low := strings.IndexByte(hexOrder, lower(f.text[i+n])), strings.IndexByte(hexOrder, lower(f.text[i+n+1]))
	if c := byte(high<<4 | low); high >= 2 && low >= 0 && c < 0x7f {
		f.edits = append(f.edits, edit{i, i + n + 2, c})
	}
}

const hexOrder = "0123456789abcdef"

// seam looks whether two string literals that are one value meet at the quote at i.
func (f *finder) seam(i int) {
	if i == 0 || !isTokenByte(f.text[i-1]) {
		return
	}
	at := i + 1
	most := min(len(f.text)-1, i+maxJoint)
	operator := false
	for at < most && f.text[at] != f.text[i] {
		switch c := f.text[at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\':
		case strings.IndexByte("+.&", c) >= 0:
			operator = true
		default:
			return
		}
		at++
	}
	if at >= most || !isTokenByte(f.text[at+1]) || at == i+1 && !operator && f.text[i] == '\'' {
		return
	}
	f.edits = append(f.edits, edit{i, at + 1, 0})
}

// brokenLine looks whether the end of a line at i breaks up a token: what
// stands before it begins as one, and what follows is no word.
func (f *finder) brokenLine(i int) {
	end := i
	for end > 0 && (f.text[end-1] == '\r' || f.text[end-1] == '\\') {
		end--
	}
	from := runBack(f.text, end, maxSecretValue/2, isDotted)
	if end-from < 4 {
		return
	}
	chained := len(f.edits) > 0 && f.edits[len(f.edits)-1].to == from
	if !chained && !beginsToken(f.text[from:end]) {
		return
	}
	next := i + 1
	for next < len(f.text) && next < i+maxJoint && strings.IndexByte(" \t+>|#*/", f.text[next]) >= 0 {
		next++
	}
	to := run(f.text[:min(len(f.text), next+maxSecretValue)], next, isTokenByte)
	part := f.text[next:to]
	if len(part) < 4 || !mixed(part) && !random(part) || to < len(f.text) && (f.text[to] == '=' || f.text[to] == ':' || f.text[to] == '(') {
		return
	}
	f.edits = append(f.edits, edit{end, next, 0})
}

// beginsToken tells whether text begins with the prefix of a token's form, and has more of it.
func beginsToken(text string) bool {
	return slices.ContainsFunc(tables().formsBy[text[0]], func(f tokenForm) bool {
		return len(f.prefix) >= 3 && len(text) > len(f.prefix) && strings.HasPrefix(text, f.prefix)
	})
}

// undisguised is a text without what broke its tokens up, and where its bytes were.
type undisguised struct {
	text string
	at   []int32 // where each byte begins in the text before
	ends []int32 // and where it ends
}

func (u undisguised) from(i int) int { return int(u.at[i]) }

func (u undisguised) to(i int) int { return int(u.ends[i-1]) }

// undisguise applies the edits.
func undisguise(text string, edits []edit) undisguised {
	u := undisguised{at: make([]int32, 0, len(text)), ends: make([]int32, 0, len(text))}
	var out strings.Builder
	out.Grow(len(text))
	keep := func(from, to int) {
		out.WriteString(text[from:to])
		for i := from; i < to; i++ {
			u.at, u.ends = append(u.at, int32(i)), append(u.ends, int32(i+1)) //nolint:gosec // texts are far shorter
		}
	}
	copied := 0
	for _, e := range edits {
		keep(copied, e.from)
		if e.char != 0 {
			out.WriteByte(e.char)
			u.at, u.ends = append(u.at, int32(e.from)), append(u.ends, int32(e.to)) //nolint:gosec // as above
		}
		copied = e.to
	}
	keep(copied, len(text))
	u.text = out.String()
	return u
}
