package tfidf

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is the longest word, in bytes after folding, that is told apart
// from others; a longer one is cut there. A SHA-256 in hexadecimal fits.
const maxWord = 64

// kind says where a token comes from.
type kind uint8

const (
	plain    kind = iota // a word, or a part of an identifier
	compound             // an identifier, path or code as a whole, beside its parts
	single               // one character of a script without spaces, beside the pairs
)

// token is a folded word: scanner.buf[start:end].
type token struct {
	start, end int32
	kind       kind
}

// Character classes of the scanner.
const (
	cOther = iota
	cLower
	cUpper
	cDigit
	cJoin  // _ and -: join the parts of an identifier
	cDot   // joins names, file extensions and versions
	cSlash // joins the components of a path
	cQuote // an apostrophe
)

var asciiClass = func() (t [utf8.RuneSelf]uint8) {
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z':
			t[c] = cLower
		case 'A' <= c && c <= 'Z':
			t[c] = cUpper
		case '0' <= c && c <= '9':
			t[c] = cDigit
		}
	}
	t['_'], t['-'], t['.'], t['/'], t['\\'], t['\''] = cJoin, cJoin, cDot, cSlash, cSlash, cQuote
	return t
}()

// scanner splits a text into folded tokens. Words that are joined without
// white space stand next to each other in buf, so that a compound is a slice
// over its parts.
type scanner struct {
	buf  []byte
	toks []token

	word   int // where the word being read starts in buf, or -1
	part   int // where the names joined by _, - or case start, or -1
	dotted int // where the names joined by dots start, or -1
	path   int // where the components joined by slashes start, or -1

	words, parts, comps int // how many words, parts, components were closed since
	upper               int // capitals at the end of the word being read
	prev                uint8
	ideo                int // where the last character of a script without spaces starts, or -1
}

// scan replaces s.buf and s.toks with the tokens of text.
func (s *scanner) scan(text string) {
	s.buf, s.toks = s.buf[:0], s.toks[:0]
	s.reset()
	if !norm.NFKC.IsNormalString(text) {
		text = norm.NFKC.String(text)
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, w := utf8.DecodeRuneInString(text[i:])
			if r == '\u2019' && s.word >= 0 {
				i += s.apostrophe(text[i+w:], w)
				continue
			}
			s.wide(r)
			i += w
			continue
		}
		switch asciiClass[c] {
		case cLower:
			s.lower(c, text[i+1:])
			s.buf = append(s.buf, c)
			s.prev = cLower
		case cUpper:
			s.capital()
			s.buf = append(s.buf, c+'a'-'A')
			s.prev = cUpper
		case cDigit:
			s.open()
			s.buf = append(s.buf, c)
			s.upper, s.prev = 0, cDigit
		case cJoin:
			for i+1 < len(text) && text[i+1] == c && c == '_' {
				i++
			}
			if s.word < 0 || !startsWord(text[i+1:]) {
				s.endPath()
				break
			}
			s.endWord()
		case cDot:
			if s.word < 0 || !startsWord(text[i+1:]) {
				s.endPath()
				break
			}
			digits := s.prev == cDigit && text[i+1]-'0' < 10
			s.endPart()
			if digits {
				s.buf = append(s.buf, '.')
			}
		case cSlash:
			if s.word < 0 || !startsWord(text[i+1:]) {
				s.endPath()
				break
			}
			s.endDotted()
			s.buf = append(s.buf, '/')
		case cQuote:
			if s.word < 0 {
				s.endPath()
				break
			}
			i += s.apostrophe(text[i+1:], 1)
			continue
		default:
			switch {
			case c == ':' && s.word >= 0 && i+2 < len(text) && text[i+1] == ':' && startsWord(text[i+2:]):
				i++
				s.endPart() // a::b is a dotted name
			case c == '+' && s.word >= 0 && i+1 < len(text) && text[i+1] == '+' && len(s.buf)-s.word <= 3:
				i++
				s.suffixed("++")
			case c == '#' && s.word >= 0 && len(s.buf)-s.word == 1 && !startsWord(text[i+1:]):
				s.suffixed("#")
			default:
				s.endPath()
			}
		}
		i++
	}
	s.endPath()
}

func (s *scanner) reset() {
	s.word, s.part, s.dotted, s.path = -1, -1, -1, -1
	s.words, s.parts, s.comps, s.upper, s.prev, s.ideo = 0, 0, 0, 0, cOther, -1
}

// open begins a word unless one is being read.
func (s *scanner) open() {
	if s.word >= 0 {
		return
	}
	at := len(s.buf)
	s.ideo = -1
	s.word, s.upper, s.prev = at, 0, cOther
	if s.part < 0 {
		s.part = at
	}
	if s.dotted < 0 {
		s.dotted = at
	}
	if s.path < 0 {
		s.path = at
	}
}

// lower prepares for the small letter c before rest: in HTTPServer the last
// capital begins the second word, in URLs the s is a plural.
func (s *scanner) lower(c byte, rest string) {
	s.open()
	if s.upper >= 2 && !s.hex() && (c != 's' || startsWord(rest)) {
		last := len(s.buf) - 1
		if s.buf[last] < utf8.RuneSelf && last > s.word {
			s.push(s.word, last, plain)
			s.words++
			s.word = last
		}
	}
	s.upper = 0
}

// capital prepares for a capital: in camelCase it begins a word.
func (s *scanner) capital() {
	if s.word >= 0 && s.prev == cLower && !s.hex() {
		s.endWord()
	}
	s.open()
	s.upper++
}

// hex tells whether the word being read is a number like 0xDEADBEEF.
func (s *scanner) hex() bool {
	return len(s.buf)-s.word >= 2 && s.buf[s.word] == '0' && s.buf[s.word+1] == 'x'
}

func (s *scanner) push(start, end int, k kind) {
	if k == compound && end-start > maxWord {
		return
	}
	if end-start > maxWord {
		end = start + maxWord
		for end > start && !utf8.RuneStart(s.buf[end]) {
			end--
		}
	}
	s.toks = append(s.toks, token{int32(start), int32(end), k})
}

func (s *scanner) endWord() {
	if s.word < 0 {
		return
	}
	s.push(s.word, len(s.buf), plain)
	s.words++
	s.word, s.upper, s.prev = -1, 0, cOther
}

func (s *scanner) endPart() {
	s.endWord()
	if s.part >= 0 {
		if s.words >= 2 {
			s.push(s.part, len(s.buf), compound)
		}
		s.parts++
	}
	s.part, s.words = -1, 0
}

func (s *scanner) endDotted() {
	s.endPart()
	if s.dotted >= 0 {
		if s.parts >= 2 {
			s.push(s.dotted, len(s.buf), compound)
		}
		s.comps++
	}
	s.dotted, s.parts = -1, 0
}

func (s *scanner) endPath() {
	if s.path < 0 {
		s.ideo = -1
		return
	}
	s.endDotted()
	if s.comps >= 2 {
		s.push(s.path, len(s.buf), compound)
	}
	s.reset()
}
