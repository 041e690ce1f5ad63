package text

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// unspaced are the scripts that write words without spaces between them. They
// are searched by pairs of characters.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// isUnspaced tells whether r belongs to such a script; U+30FC lengthens a
// vowel in both kinds of Japanese letters and belongs to neither.
func isUnspaced(r rune) bool {
	return r >= 0x0e00 && (r == '\u30fc' || unicode.In(r, unspaced...))
}

// wide takes one rune outside ASCII.
func (s *Scanner) wide(r rune) {
	switch {
	case r == utf8.RuneError:
		s.endPath()
	case r == '\u00ad' || r == '\u200c' || r == '\u0640': // soft hyphen, zero-width non-joiner, tatweel: inside a word
	case isUnspaced(r):
		s.pair(r)
	case unicode.IsLetter(r):
		if unicode.IsUpper(r) {
			s.capital()
			s.prev = cUpper
		} else {
			s.open()
			s.upper, s.prev = 0, cLower
		}
		s.Buf = appendFolded(s.Buf, r)
	case unicode.IsMark(r):
		if s.word >= 0 && !isPointing(r) {
			s.Buf = utf8.AppendRune(s.Buf, r)
		}
	case unicode.IsNumber(r):
		s.open()
		s.Buf = utf8.AppendRune(s.Buf, r)
		s.upper, s.prev = 0, cDigit
	case unicode.Is(unicode.So, r):
		s.endPath()
		at := len(s.Buf)
		s.Buf = utf8.AppendRune(s.Buf, r)
		s.push(at, len(s.Buf), plain)
	default:
		s.endPath()
	}
}

// pair takes a character of a script without spaces: it is a token by itself
// and with the one before it.
func (s *Scanner) pair(r rune) {
	before := s.ideo
	s.endPath()
	at := len(s.Buf)
	s.Buf = utf8.AppendRune(s.Buf, r)
	s.push(at, len(s.Buf), single)
	if before >= 0 {
		s.push(before, len(s.Buf), plain)
	}
	s.ideo = at
}

// isPointing tells whether a mark only tells how to pronounce a letter that
// most people write without it: accents left over by normalisation, Hebrew
// points and Arabic vowels.
func isPointing(r rune) bool {
	return r >= 0x0300 && r <= 0x036f || r >= 0x0591 && r <= 0x05c7 || r >= 0x064b && r <= 0x065f || r == 0x0670
}

// appendFolded appends a letter without case and, in Latin and Greek, without accents.
func appendFolded(buf []byte, r rune) []byte {
	switch {
	case r < 0x0400 || r >= 0x1e00 && r < 0x2000:
		if f, ok := foldings()[r]; ok {
			return append(buf, f...)
		}
	case r == 'ё' || r == 'Ё':
		r = 'е'
	case r == 'أ' || r == 'إ' || r == 'آ' || r == 'ٱ':
		r = 'ا'
	}
	return utf8.AppendRune(buf, unicode.ToLower(r))
}

// foldings maps the accented letters of Latin and Greek to their bare small letters.
var foldings = sync.OnceValue(func() map[rune]string {
	m := map[rune]string{'ß': "ss", 'ẞ': "ss", 'æ': "ae", 'Æ': "ae", 'œ': "oe", 'Œ': "oe", 'ø': "o", 'Ø': "o", 'ł': "l", 'Ł': "l", 'đ': "d", 'Đ': "d", 'ð': "d", 'Ð': "d", 'þ': "th", 'Þ': "th", 'ı': "i", 'İ': "i", 'ς': "σ"}
	for _, span := range [][2]rune{{0x00c0, 0x0400}, {0x1e00, 0x2000}} {
		for r := span[0]; r < span[1]; r++ {
			if _, done := m[r]; done || !unicode.IsLetter(r) {
				continue
			}
			var bare []byte
			for _, d := range norm.NFD.String(string(r)) {
				if d < 0x0300 || d > 0x036f {
					bare = utf8.AppendRune(bare, unicode.ToLower(d))
				}
			}
			if len(bare) > 0 {
				m[r] = string(bare)
			}
		}
	}
	return m
})

// startsWord tells whether rest begins with a letter or digit, so that a sign
// before it joins two words.
func startsWord(rest string) bool {
	if rest == "" {
		return false
	}
	if c := rest[0]; c < utf8.RuneSelf {
		k := asciiClass[c]
		return k == cLower || k == cUpper || k == cDigit
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !isUnspaced(r)
}

// apostrophe handles the apostrophe, w bytes long, before rest and returns
// how many bytes are done with: a possessive and a contraction are dropped,
// don't becomes dont, and elsewhere the apostrophe parts two words.
func (s *Scanner) apostrophe(rest string, w int) int {
	if !startsWord(rest) {
		s.endPath()
		return w
	}
	n := 0
	for n < len(rest) && n < 3 && startsWord(rest[n:]) {
		n++
	}
	switch {
	case n == 1 && (rest[0]|0x20 == 't'):
		return w
	case n == 1 && (rest[0]|0x20 == 's' || rest[0]|0x20 == 'd' || rest[0]|0x20 == 'm'),
		n == 2 && (equalFold(rest[:2], "re") || equalFold(rest[:2], "ll") || equalFold(rest[:2], "ve")):
		s.endPath()
		return w + n
	}
	s.endPath()
	return w
}

// equalFold compares two ASCII letters with two small ones.
func equalFold(a, small string) bool { return a[0]|0x20 == small[0] && a[1]|0x20 == small[1] }

// suffixed ends a word that a sign belongs to, as in c++ and c#: it is known
// with the sign and without.
func (s *Scanner) suffixed(sign string) {
	at := s.word
	s.endWord()
	s.Buf = append(s.Buf, sign...)
	s.push(at, len(s.Buf), compound)
	s.endPath()
}
