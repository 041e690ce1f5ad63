package contexts

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// maxEnds bounds how many places a text is offered to be cut at: the text that
// fits a budget has fewer.
const maxEnds = 1 << 16

// abbreviations end with a full stop that ends no sentence, in lower case.
var abbreviations = map[string]bool{
	"e.g": true, "i.e": true, "etc": true, "cf": true, "vs": true, "approx": true, "resp": true, "incl": true, "excl": true,
	"no": true, "nr": true, "fig": true, "sec": true, "ch": true, "p": true, "pp": true, "vol": true, "ed": true, "al": true,
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "jr": true, "sr": true, "dept": true, "est": true, "max": true, "min": true,
	"z.b": true, "d.h": true, "bzw": true, "usw": true, "ca": true,
}

// sentenceEnds returns the places, ascending, at which a text can be cut so
// that no sentence is cut through: behind the sign that ends one and the
// quotes and brackets that close there, and at the end of a line. A text ends
// at its end too. In a block of code (```) only lines end.
func sentenceEnds(text string) []int {
	var ends []int
	add := func(at int) {
		if at > 0 && len(ends) < maxEnds && (len(ends) == 0 || ends[len(ends)-1] < at) {
			ends = append(ends, at)
		}
	}
	code := false
	for begin := 0; begin < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[begin:], '\n'); n >= 0 {
			end = begin + n
		}
		line := text[begin:end]
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") {
			code = !code
		} else if !code {
			lineEnds(line, func(at int) { add(begin + at) })
		}
		if trimmed != "" && !(code && strings.HasPrefix(trimmed, "```")) { // not behind the line that opens a block
			add(end)
		}
		begin = end + 1
	}
	return ends
}

// mark is a sign that may end a sentence, and the quotes and brackets that close behind it.
var mark = lazyregexp.New(`[.!?。！？．…؟।]["')\]}»”’」』）】]*`)

// lineEnds finds the ends of sentences within a line.
func lineEnds(line string, add func(at int)) {
	for _, found := range mark.Compiled().FindAllStringIndex(line, -1) {
		sign, rest := line[found[0]], line[found[1]:]
		next, _ := utf8.DecodeRuneInString(rest)
		switch {
		case sign >= utf8.RuneSelf: // of a language that puts no space behind it
		case rest != "" && !unicode.IsSpace(next): // a decimal, a file's name, a version, "..."
			continue
		case sign == '.' && !ends(line[:found[0]], strings.TrimLeftFunc(rest, unicode.IsSpace)):
			continue
		}
		add(found[1])
	}
}

// ends tells whether a full stop behind before ends a sentence.
func ends(before, after string) bool {
	word := before[strings.LastIndexFunc(before, func(r rune) bool { return unicode.IsSpace(r) || r == '(' || r == '"' })+1:]
	if abbreviations[strings.ToLower(word)] {
		return false
	}
	if r, size := utf8.DecodeRuneInString(word); size == len(word) && unicode.IsUpper(r) { // an initial: J. Doe
		return false
	}
	// What goes on in lower case goes on: "approx. twice".
	first, _ := utf8.DecodeRuneInString(after)
	return !unicode.IsLower(first)
}
