package contexts

import (
	"unicode"
	"unicode/utf8"
)

// nextPiece returns the length of the first piece of a text, as o200k_base
// splits texts before it looks for tokens; no token spans two pieces. It does
// what the encoding's expression does, without going back over the text:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// A consequence that the context builder builds on: a piece that holds a line
// break ends with white space or a "/" after it. So where a line ends and the
// next begins with neither, the counts of both sides add up to that of the whole.
func nextPiece(text string) int {
	first, size := utf8.DecodeRuneInString(text)
	class := classOf(first)
	leads := class != classNumber && !class.letter() && first != '\r' && first != '\n'
	for _, word := range []func(string) int{lowerWord, upperWord} {
		if leads {
			if n := word(text[size:]); n > 0 {
				return size + n
			}
		}
		if n := word(text); n > 0 {
			return n
		}
	}
	if class == classNumber {
		return numberPiece(text)
	}
	if n := signPiece(text, first, size); n > 0 {
		return n
	}
	return spacePiece(text)
}

// runeClass is what the expression tells characters apart by.
type runeClass uint8

const (
	classOther runeClass = iota
	classUpper           // Lu, Lt
	classLower           // Ll
	classBoth            // Lm, Lo: letters without a case
	classMark            // M
	classNumber
	classSpace
)

func (c runeClass) letter() bool { return c == classUpper || c == classLower || c == classBoth }
func (c runeClass) upper() bool  { return c == classUpper || c == classBoth || c == classMark }
func (c runeClass) lower() bool  { return c == classLower || c == classBoth || c == classMark }

// asciiClasses are the classes of the first 128 characters, which most texts are made of.
var asciiClasses = func() (classes [utf8.RuneSelf]runeClass) {
	for r := range rune(utf8.RuneSelf) {
		classes[r] = runeClassOf(r)
	}
	return classes
}()

func classOf(r rune) runeClass {
	if r < utf8.RuneSelf {
		return asciiClasses[r]
	}
	return runeClassOf(r)
}

func runeClassOf(r rune) runeClass {
	switch {
	case unicode.Is(unicode.Ll, r):
		return classLower
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return classUpper
	case unicode.In(r, unicode.Lm, unicode.Lo):
		return classBoth
	case unicode.Is(unicode.M, r):
		return classMark
	case unicode.Is(unicode.N, r):
		return classNumber
	case unicode.IsSpace(r):
		return classSpace
	}
	return classOther
}

// span returns how many bytes the characters at the start of a text have that are of a kind.
func span(text string, of func(runeClass) bool) int {
	for i, r := range text {
		if !of(classOf(r)) {
			return i
		}
	}
	return len(text)
}

// lowerWord is [Lu Lt Lm Lo M]*[Ll Lm Lo M]+ and a contraction; 0 if the text does not begin so.
func lowerWord(text string) int {
	upper := span(text, runeClass.upper)
	if lower := span(text[upper:], runeClass.lower); lower > 0 {
		return upper + lower + contraction(text[upper+lower:])
	}
	// The last of the upper ones that may also be a lower one ends the word.
	for end := upper; end > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:end])
		if classOf(r).lower() {
			return end + contraction(text[end:])
		}
		end -= size
	}
	return 0
}

// upperWord is [Lu Lt Lm Lo M]+[Ll Lm Lo M]* and a contraction; 0 if the text does not begin so.
func upperWord(text string) int {
	upper := span(text, runeClass.upper)
	if upper == 0 {
		return 0
	}
	end := upper + span(text[upper:], runeClass.lower)
	return end + contraction(text[end:])
}

// contraction is (?i:'s|'t|'re|'ve|'m|'ll|'d)?.
func contraction(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if len(text) > 2 && text[2]|0x20 == 'e' {
			return 3
		}
	case 'l':
		if len(text) > 2 && text[2]|0x20 == 'l' {
			return 3
		}
	}
	return 0
}

// numberPiece is \p{N}{1,3}.
func numberPiece(text string) int {
	n := 0
	for i, r := range text {
		if n == 3 || classOf(r) != classNumber {
			return i
		}
		n++
	}
	return len(text)
}

// signPiece is " ?[^\s\p{L}\p{N}]+[\r\n/]*"; 0 if the text does not begin so.
func signPiece(text string, first rune, size int) int {
	begin := 0
	if first == ' ' {
		begin = size
	}
	n := span(text[begin:], func(c runeClass) bool { return c == classOther || c == classMark })
	if n == 0 {
		return 0
	}
	end := begin + n
	for end < len(text) && (text[end] == '\r' || text[end] == '\n' || text[end] == '/') {
		end++
	}
	return end
}

// spacePiece is \s*[\r\n]+|\s+(?!\S)|\s+.
func spacePiece(text string) int {
	run := span(text, func(c runeClass) bool { return c == classSpace })
	for end := run; end > 0; end-- {
		if text[end-1] == '\n' || text[end-1] == '\r' {
			return end
		}
	}
	if run == len(text) {
		return run
	}
	if _, last := utf8.DecodeLastRuneInString(text[:run]); run > last {
		return run - last
	}
	return run
}
