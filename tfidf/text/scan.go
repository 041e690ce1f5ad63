// Package text turns texts into words as the search reads them, and knows what words mean to it.
//
// It splits and folds a text (Scanner), finds the stem of each word, and has the lists of words that
// people can read and correct: stop words and hints, irregular forms, and the thesauri. It must not
// know any index: what is returned depends on the text alone.
package text

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxWord is the longest word, in bytes after folding, that is told apart
// from others; a longer one is cut there. A SHA-256 in hexadecimal fits.
const MaxWord = 64

// kind says where a token comes from.
type kind uint8

const (
	plain    kind = iota // a word, or a part of an identifier
	compound             // an identifier, path or code as a whole, beside its parts
	single               // one character of a script without spaces, beside the pairs
)

// Token is a folded word: Scanner.Buf[Start:End].
type Token struct {
	Start, End int32
	kind       kind
}

// Character classes of the Scanner.
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

// Scanner splits a text into folded tokens. Words that are joined without
// white space stand next to each other in Buf, so that a compound is a slice
// over its parts. The zero value is ready; it serves one goroutine at a time.
type Scanner struct {
	Buf    []byte
	Tokens []Token

	word   int // where the word being read starts in Buf, or -1
	part   int // where the names joined by _, - or case start, or -1
	dotted int // where the names joined by dots start, or -1
	path   int // where the components joined by slashes start, or -1

	words, parts, comps int // how many words, parts, components were closed since
	upper               int // capitals at the end of the word being read
	prev                uint8
	ideo                int // where the last character of a script without spaces starts, or -1
}

// Words appends the folded tokens of a text.
func (s *Scanner) Words(words []string, text string) []string {
	s.Scan(text)
	all := string(s.Buf)
	words = slices.Grow(words, len(s.Tokens))
	for _, t := range s.Tokens {
		words = append(words, all[t.Start:t.End])
	}
	return words
}

// Scan replaces s.Buf and s.Tokens with the tokens of text.
func (s *Scanner) Scan(text string) {
	s.Buf, s.Tokens = s.Buf[:0], s.Tokens[:0]
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
			s.Buf = append(s.Buf, c)
			s.prev = cLower
		case cUpper:
			s.capital()
			s.Buf = append(s.Buf, c+'a'-'A')
			s.prev = cUpper
		case cDigit:
			s.open()
			s.Buf = append(s.Buf, c)
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
				s.Buf = append(s.Buf, '.')
			}
		case cSlash:
			if s.word < 0 || !startsWord(text[i+1:]) {
				s.endPath()
				break
			}
			s.endDotted()
			s.Buf = append(s.Buf, '/')
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
			case c == '+' && s.word >= 0 && i+1 < len(text) && text[i+1] == '+' && len(s.Buf)-s.word <= 3:
				i++
				s.suffixed("++")
			case c == '#' && s.word >= 0 && len(s.Buf)-s.word == 1 && !startsWord(text[i+1:]):
				s.suffixed("#")
			default:
				s.endPath()
			}
		}
		i++
	}
	s.endPath()
}

func (s *Scanner) reset() {
	s.word, s.part, s.dotted, s.path = -1, -1, -1, -1
	s.words, s.parts, s.comps, s.upper, s.prev, s.ideo = 0, 0, 0, 0, cOther, -1
}

// open begins a word unless one is being read.
func (s *Scanner) open() {
	if s.word >= 0 {
		return
	}
	at := len(s.Buf)
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
func (s *Scanner) lower(c byte, rest string) {
	s.open()
	if s.upper >= 2 && !s.hex() && (c != 's' || startsWord(rest)) {
		last := len(s.Buf) - 1
		if s.Buf[last] < utf8.RuneSelf && last > s.word {
			s.push(s.word, last, plain)
			s.words++
			s.word = last
		}
	}
	s.upper = 0
}

// capital prepares for a capital: in camelCase it begins a word.
func (s *Scanner) capital() {
	if s.word >= 0 && s.prev == cLower && !s.hex() {
		s.endWord()
	}
	s.open()
	s.upper++
}

// hex tells whether the word being read is a number like 0xDEADBEEF.
func (s *Scanner) hex() bool {
	return len(s.Buf)-s.word >= 2 && s.Buf[s.word] == '0' && s.Buf[s.word+1] == 'x'
}

func (s *Scanner) push(start, end int, k kind) {
	if k == compound && end-start > MaxWord {
		return
	}
	if end-start > MaxWord {
		end = start + MaxWord
		for end > start && !utf8.RuneStart(s.Buf[end]) {
			end--
		}
	}
	s.Tokens = append(s.Tokens, Token{int32(start), int32(end), k})
}

func (s *Scanner) endWord() {
	if s.word < 0 {
		return
	}
	s.push(s.word, len(s.Buf), plain)
	s.words++
	s.word, s.upper, s.prev = -1, 0, cOther
}

func (s *Scanner) endPart() {
	s.endWord()
	if s.part >= 0 {
		if s.words >= 2 {
			s.push(s.part, len(s.Buf), compound)
		}
		s.parts++
	}
	s.part, s.words = -1, 0
}

func (s *Scanner) endDotted() {
	s.endPart()
	if s.dotted >= 0 {
		if s.parts >= 2 {
			s.push(s.dotted, len(s.Buf), compound)
		}
		s.comps++
	}
	s.dotted, s.parts = -1, 0
}

func (s *Scanner) endPath() {
	if s.path < 0 {
		s.ideo = -1
		return
	}
	s.endDotted()
	if s.comps >= 2 {
		s.push(s.path, len(s.Buf), compound)
	}
	s.reset()
}
