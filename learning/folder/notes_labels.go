package folder

import (
	"strings"
	"sync"
	"unicode"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/markdown"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// part is a part of a lesson that a label can name.
type part int

const (
	partNone part = iota
	partContext
	partCause
	partSolution
	partAlternative
	partPrevention
	partAction
	partOutcome
)

// partNames are the parts as words.txt names them.
var partNames = map[part]string{
	partContext: "context", partCause: "cause", partSolution: "solution", partAlternative: "alternative", partPrevention: "prevention", partAction: "action",
	partOutcome: "outcome",
}

// labels are the words that name a part of a lesson, in lower case.
var labels = sync.OnceValue(func() map[string]part {
	all := map[string]part{}
	for p, name := range partNames {
		for _, words := range wordlist.Lines(wordsText, "labels of "+name) {
			all[words] = p
		}
	}
	return all
})

// ordinal is the number of a heading, such as "2. Cause".
var ordinal = lazyregexp.New(`^\d{1,3}[.)]\s+`)

// labelOf is the part that a heading names as a whole.
func labelOf(title string) part {
	return labels()[labelWords(title)]
}

// labelWords is a text as labels are compared: without case, marks and what stands around the words.
func labelWords(s string) string {
	s = strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '(' && r != ')' })
	s = ordinal.ReplaceAllString(s, "")
	s = strings.TrimSuffix(s, "(s)")
	s = strings.Map(func(r rune) rune {
		if r == '*' || r == '_' || r == '`' {
			return -1
		}
		return r
	}, s)
	return strings.ToLower(strings.Join(strings.Fields(s), " "))
}

// labelLine is a line that may begin with a label: marks of emphasis, up to 48 bytes of words, and a colon; or, if they are emphasised, a dash or nothing.
var labelLine = lazyregexp.New(`^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?)?([*_]*)([^:：*_]{1,48}?)(?:[*_]*\s*[:：][*_]*|([*_]+)\s*(?:[–—-]|$))\s*(.*)$`)

// labelled takes a line apart that begins with a label: "**Fix:** text",
// "- Fix: text", "**Fix** – text", or an emphasised label alone.
func labelled(line string) (p part, rest string, ok bool) {
	found := labelLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
	if found == nil || found[1] == "" && found[3] != "" {
		return partNone, "", false
	}
	p, ok = labels()[labelWords(found[2])]
	return p, strings.TrimSpace(found[4]), ok
}

// bulleted tells whether a line begins an item of a list.
func bulleted(line string) bool {
	return len(markdown.Unmarked(line)) < len(strings.TrimLeft(line, " \t"))
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
