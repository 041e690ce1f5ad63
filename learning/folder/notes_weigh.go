package folder

import (
	"slices"
	"strings"

	"skillrouter/internal/check"
	"skillrouter/internal/lazyregexp"
	"skillrouter/learning"
	"skillrouter/learning/lesson"
	"skillrouter/tfidf/wordlist"
)

// What people write to say how grave a lesson is. Words in capitals are marks
// wherever they stand; in small letters they are words like others, but for what
// a title begins with.
var (
	gravest   = lazyregexp.New(`\b(CRITICAL|NON-NEGOTIABLE|FORBIDDEN)\b`)
	grave     = lazyregexp.New(`\b(NEVER|MUST NOT|DO NOT|IMPORTANT|DANGER|WARNING)\b`)
	forbidden = lazyregexp.New(`(?i)^(?:(?:critical|important|warning|non-negotiable|forbidden|rule)\b[:!\s–—-]*)?(never|don['’]t|do not|must not|avoid|beware|no longer)\b|\bmust never\b`)
	universal = lazyregexp.New(`(?i)\bnon-negotiables?\b|\bprinciples?\b|\bgolden rules?\b|\bcardinal rules?\b`)
	recurring = lazyregexp.New(`(?i)\bpatterns?\b|\bbest practices?\b|\bconventions?\b|\bguidelines?\b|\bstandards?\b|\brules?\b|^always\b`)
)

// weigh reads from a note's words how grave it is ("" if they do not say), how far
// it holds, and whether it forbids something. Its title and the headings above it
// count; of its text, code apart, the marks in capitals.
func (n *note) weigh(title string) (severity learning.Severity, level lesson.Level, forbids bool) {
	above := strings.Join(n.path, "\n")
	said := strings.Join([]string{title, above, uncoded(n.text(partContext)), uncoded(n.text(partSolution)), uncoded(n.text(partPrevention))}, "\n")
	forbids = forbidden.MatchString(title) || strings.Contains(said, "FORBIDDEN")
	switch {
	case gravest.MatchString(said):
		severity = learning.SeverityCritical
	case forbids || grave.MatchString(said):
		severity = learning.SeverityHigh
	}
	level = lesson.LevelCase
	switch where := title + "\n" + above; {
	case n.symptom || n.text(partCause) != "": // something that happened
	case universal.MatchString(where) || strings.Contains(said, "NON-NEGOTIABLE"):
		level = lesson.LevelPrinciple
	case forbids || recurring.MatchString(where):
		level = lesson.LevelPattern
	}
	return severity, level, forbids
}

// uncoded is a text without its blocks of code: what a program printed is nobody's word.
func uncoded(text string) string {
	var kept []string
	for i, piece := range strings.Split(text, "```") {
		if i%2 == 0 {
			kept = append(kept, piece)
		}
	}
	return strings.Join(kept, "\n")
}

// domainWords is the most words of a heading that names a domain; a longer one says something.
const domainWords = 3

// domain is the outermost heading above a note that names a subject, as a domain; "" if none does.
func (n *note) domain() string {
	for _, heading := range n.path {
		words := strings.Fields(labelWords(heading))
		tag := tagOf(heading)
		if len(words) == 0 || len(words) > domainWords || tag == "" || len(tag) > check.MaxName || dated.MatchString(heading) ||
			slices.ContainsFunc(words, func(w string) bool { return generic()[w] || fileWords()[w] }) {
			continue
		}
		return tag
	}
	return ""
}

// fileWords are words of headings that name a file of notes or a part of it, and no subject.
var fileWords = wordlist.Phrases(wordsText, "names of files")

// instructions are headings over what tells how to write such notes.
var instructions = wordlist.Phrases(wordsText, "instructions")

// placeholder is what a template has in place of a text; a comment is none.
var placeholder = lazyregexp.New(`^[\s>*_#|-]*(?:[\p{L} /]{1,40}:)?[\s*_]*(?:\[[^\]()]{2,60}\]|<[^<>/!][^<>/]{1,59}>|\{[^{}]{2,60}\}|YYYY-MM-DD|\.\.\.|…)[\s*_|]*$`)

// link is an item of a table of contents: a link within the file, and nothing else.
var link = lazyregexp.New(`^\s*(?:[-*+]|\d+[.)])\s+\[[^\]]+\]\(#[^)]*\)\s*$`)

// instructs tells why a section is no lesson but part of the file's own furniture; "" if it is one.
func (r *notesReader) instructs(s *section) string {
	if s.head.line > 0 && instructions()[labelWords(s.head.title)] {
		return "tells how such notes are written"
	}
	lines, links, places := 0, 0, 0
	for n := s.first + s.head.lines; n < s.end && n <= len(r.starts); n++ {
		text := r.line(n)
		if strings.TrimSpace(text) == "" {
			continue
		}
		lines++
		if link.MatchString(text) {
			links++
		}
		if placeholder.MatchString(text) {
			places++
		}
	}
	switch {
	case lines > 1 && links == lines:
		return "is a table of contents"
	case lines > 1 && places*2 > lines:
		return "is a template"
	}
	return ""
}
