package folder

import (
	"strings"
	"sync"
	"unicode"

	"skillrouter/internal/lazyregexp"
	"skillrouter/tfidf/wordlist"
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
	partDate
	partTags
	partSeverity
	partFiles
	partCommands
	partName
)

// partNames are the parts as words.txt names them.
var partNames = map[part]string{
	partContext: "context", partCause: "cause", partSolution: "solution", partAlternative: "alternative", partPrevention: "prevention", partAction: "action",
	partOutcome: "outcome", partDate: "date", partTags: "tags", partSeverity: "severity", partFiles: "files", partCommands: "commands", partName: "title",
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

// lessonColumns are the heads of columns that hold the lesson itself: its row's title.
var lessonColumns = wordlist.Phrases(wordsText, "columns of lessons")

// ordinal is the number of a heading, such as "2. Cause".
var ordinal = lazyregexp.New(`^\d{1,3}[.)]\s+`)

// labelOf is the part that a heading, or a cell of a table, names as a whole.
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

// maxLabel bounds a label with its marks, in bytes.
const maxLabel = 48

// labelled takes a line apart that begins with a label: "**Fix:** text",
// "- Fix: text", "**Fix** – text", or an emphasised label alone.
func labelled(line string) (p part, rest string, ok bool) {
	text := strings.TrimLeft(line, " \t>")
	text = unbulleted(text)
	inner := strings.TrimLeft(text, "*_")
	emphasised := len(inner) < len(text)
	window := inner
	if len(window) > maxLabel {
		window = window[:maxLabel]
	}
	colon := strings.IndexByte(window, ':')
	if wide := strings.Index(window, "："); wide >= 0 && (colon < 0 || wide < colon) {
		colon = wide
	}
	if colon > 0 {
		if p, ok := labels()[labelWords(window[:colon])]; ok {
			rest = strings.TrimPrefix(strings.TrimPrefix(inner[colon:], ":"), "：")
			if emphasised {
				rest = strings.TrimLeft(rest, "*_")
			}
			return p, strings.TrimSpace(rest), true
		}
	}
	if !emphasised {
		return partNone, "", false
	}
	if end := strings.IndexAny(window, "*_"); end > 0 {
		if p, ok := labels()[labelWords(window[:end])]; ok {
			rest = strings.TrimSpace(strings.TrimLeft(inner[end:], "*_"))
			for _, dash := range []string{"–", "—", "-"} {
				if after, found := strings.CutPrefix(rest, dash); found {
					return p, strings.TrimSpace(after), true
				}
			}
			return p, "", rest == ""
		}
	}
	return partNone, "", false
}

// unbulleted is a line without a list's mark at its beginning.
func unbulleted(line string) string {
	text := strings.TrimLeft(line, " \t")
	if text == "" {
		return text
	}
	mark := 0
	if strings.IndexByte("-*+", text[0]) >= 0 {
		mark = 1
	} else {
		for mark < len(text) && mark < 9 && text[mark] >= '0' && text[mark] <= '9' {
			mark++
		}
		if mark == 0 || mark == len(text) || text[mark] != '.' && text[mark] != ')' {
			return text
		}
		mark++
	}
	if mark < len(text) && text[mark] != ' ' && text[mark] != '\t' {
		return text
	}
	text = strings.TrimLeft(text[mark:], " \t")
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		text = strings.TrimPrefix(text, box)
	}
	return text
}

// bulleted tells whether a line begins an item of a list.
func bulleted(line string) bool {
	return len(unbulleted(line)) < len(strings.TrimLeft(line, " \t"))
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
