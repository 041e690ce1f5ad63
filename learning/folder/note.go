package folder

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/markdown"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// note is a lesson that is being read.
type note struct {
	r           *notesReader
	title       string
	said        string // the heading or the item that it begins with, as it was written
	topic       string // the heading that an item of a list stands under; the title begins with it
	first, last int
	path        []string // headings above it
	texts       map[part][]string

	labels   []string // headings that are its labels
	current  part
	labelled map[part]bool
	item     int  // the indentation of the item whose label began the part; −1: none did
	fenced   bool // a line stands in code
}

// begin begins a lesson.
func (r *notesReader) begin(title string, path []string, line int) *note {
	return &note{r: r, title: title, path: path, first: line, last: line, texts: map[part][]string{}, labelled: map[part]bool{}, item: -1}
}

// add puts a text, as it was written, into a part.
func (n *note) add(p part, text string) {
	if p == partNone {
		p = partContext
	}
	if strings.TrimSpace(text) != "" || len(n.texts[p]) > 0 {
		n.texts[p] = append(n.texts[p], text)
	}
}

// text is a part's text.
func (n *note) text(p part) string {
	return strings.Trim(strings.Join(n.texts[p], "\n"), "\n")
}

// label begins a part with what stands behind its label.
func (n *note) label(kind part, text string) {
	n.current, n.item, n.labelled[kind] = kind, -1, true
	if text = strings.TrimSpace(text); text != "" {
		n.add(kind, text)
	}
}

// tagOf is a text as a tag: lower case, words joined by dashes.
func tagOf(s string) string {
	return strings.ToLower(strings.Join(pieces(s), "-"))
}

func (n *note) blocks(blocks []markdown.Block) {
	for _, b := range blocks {
		if b.Line > n.last+1 {
			n.add(n.current, "")
		}
		n.fenced = false
		for i, line := range strings.Split(b.Text, "\n") {
			n.line(line, b.Line+i, b.Kind == markdown.HTML || b.Kind == markdown.Code || b.Kind == markdown.Table)
		}
		n.last = b.Last
	}
}

// line reads a line: a label begins a part, and all else goes to the part that it is in. In code and tables there are no labels.
func (n *note) line(line string, number int, code bool) {
	bare := strings.TrimLeft(markdown.Unmarked(strings.TrimSpace(line)), "> ")
	kind, rest, is := labelled(line)
	switch {
	case strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~"):
		n.fenced = !n.fenced
	case code || n.fenced:
	case is:
		n.next(kind, number)
		if n.label(kind, rest); rest != "" && bulleted(line) {
			n.item = indent(line)
		}
		return
	case n.item >= 0 && bulleted(line) && indent(line) <= n.item:
		n.current, n.item = partNone, -1
	}
	n.add(n.current, line)
}

// next begins another lesson if a label opens one that the present lesson has
// already: notes often put one problem after the other.
func (n *note) next(kind part, line int) {
	if kind != partContext || len(n.texts[partSolution])+len(n.texts[partPrevention])+len(n.texts[partAlternative]) == 0 {
		return
	}
	n.last = line - 1
	n.flush()
	path := n.path
	if n.title != "" && !slices.Contains(path, n.title) {
		path = append(slices.Clone(path), n.title)
	}
	*n = *n.r.begin("", path, line)
}

// flush ends the lesson.
func (n *note) flush() {
	draft, err := n.draft()
	if err == nil {
		n.r.out.Lessons = append(n.r.out.Lessons, Note{n.first, n.last, draft})
		for _, heading := range slices.Concat(n.path, n.labels, []string{n.title, n.topic}) {
			n.r.headings[heading] = true
		}
		return
	}
	n.r.leave(n.first, n.last, reason(err))
}

var (
	// gravest and grave are marks of how grave a lesson is, wherever they stand; prohibits is how a title begins that forbids something.
	gravest   = lazyregexp.New(`\b(CRITICAL|NON-NEGOTIABLE|FORBIDDEN)\b`)
	grave     = lazyregexp.New(`\b(NEVER|MUST NOT|DO NOT|IMPORTANT|DANGER|WARNING)\b`)
	prohibits = lazyregexp.New(`(?i)^(?:(?:critical|important|warning|rule)\b[:!\s–—-]*)?(never|don['’]t|do not|must not)\b|\bmust never\b`)
	// coded is a block of code: what a program printed is nobody's word.
	coded = lazyregexp.New("(?s)```.*?(?:```|$)")
	// rated is a line that says how grave a lesson is.
	rated = lazyregexp.New(`(?im)^[\s>*+-]*severity[*_]*\s*:[\s*_]*(low|medium|high|critical)\b`)
	// numbered is a date or a number that a heading begins with: it names no subject.
	numbered = lazyregexp.New(`^\W*\d`)
)

// maxNoteTitle bounds a title that was read from notes, in bytes: one that is
// longer is a paragraph, and stands in the context whole.
const maxNoteTitle = 200

// draft makes the lesson. It is Invalid or TooLarge if the service could not take it.
func (n *note) draft() (lesson.Draft, error) {
	title, context := n.title, n.text(partContext)
	if title == "" {
		title = opening(cmp.Or(context, n.text(partSolution), n.text(partCause), n.text(partPrevention), n.text(partAction), n.text(partAlternative), n.text(partOutcome)))
	}
	line := strings.Join(strings.Fields(strings.Map(printable, title)), " ")
	if short := check.Clip(line, maxNoteTitle); short != line {
		context, line = joinTexts(title, context), short
	}
	confidence := lesson.DefaultConfidence
	d := lesson.Draft{
		Type: learning.LessonDiscovery, Domain: cmp.Or(n.r.domain, domainOf(n.path), DefaultDomain), Category: NotesCategory, Title: line, Context: context,
		Level: lesson.LevelCase, RootCause: n.text(partCause), Solution: n.text(partSolution), Action: n.text(partAction), Outcome: n.text(partOutcome),
		Confidence: &confidence,
	}
	if prevention := n.text(partPrevention); prevention != "" {
		d.Solution = joinTexts(d.Solution, "Prevention: "+prevention)
	}
	alternatives := n.text(partAlternative)
	d.Alternatives = items(alternatives)
	if len(d.Alternatives) > lesson.MaxListItems || slices.ContainsFunc(d.Alternatives, func(s string) bool { return len(s) > lesson.MaxListItem }) {
		d.Alternatives, d.Body = nil, "Workaround:\n"+alternatives
	}
	forbidden := act.Forbidden(n.said)
	for _, command := range forbidden {
		if len(command) <= lesson.MaxListItem && len(d.RelatedCommands) < lesson.MaxListItems {
			d.RelatedCommands = append(d.RelatedCommands, command)
		}
	}
	for _, above := range n.path {
		if tag := tagOf(above); len(tag) > check.MaxName || len(d.Tags) == learning.MaxTags {
			d.Context = joinTexts(d.Context, "Under: "+above)
		} else if tag != "" && !slices.Contains(d.Tags, tag) {
			d.Tags = append(slices.Clone(d.Tags), tag)
		}
	}
	if max(len(d.Context), len(d.RootCause), len(d.Solution), len(d.Action), len(d.Outcome)) > lesson.MaxText || len(d.Body) > learning.MaxContent {
		return d, errs.Errorf(errs.TooLarge, "is part of a lesson of which one text is longer than %d bytes", lesson.MaxText)
	}
	if d.Title == "" {
		return d, errs.Errorf(errs.Invalid, "holds no words that could be a title")
	}
	said := coded.ReplaceAllString(strings.Join([]string{d.Title, context, d.Solution}, "\n"), "")
	forbids := prohibits.MatchString(d.Title) || len(forbidden) > 0
	switch rating := rated.FindStringSubmatch(said); {
	case rating != nil:
		d.Severity = learning.Severity(strings.ToLower(rating[1]))
	case gravest.MatchString(said):
		d.Severity = learning.SeverityCritical
	case forbids || grave.MatchString(said):
		d.Severity = learning.SeverityHigh
	}
	switch {
	case n.labelled[partAlternative] && d.Solution == "":
		d.Type = learning.LessonWorkaround
	case n.labelled[partContext] || d.RootCause != "":
		d.Type = learning.LessonFailure
	case forbids:
		d.Type, d.Proposed = learning.LessonAntiPattern, true
	}
	key := strings.Join(n.path, "\x00") + "\x00" + d.Title
	n.r.ids[key]++
	sum := sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(n.r.ids[key])))
	d.ID = strings.TrimSuffix(fmt.Sprintf("note-%.40s", slug(d.Title)), "-") + "-" + hex.EncodeToString(sum[:5])
	if whole := n.topic + ": " + d.Title; n.topic != "" && len(whole) <= maxNoteTitle {
		d.Title = whole
	}
	return d, nil
}

// domainWords is the most words of a heading that names a domain; a longer one says something.
const domainWords = 3

// domainOf is the outermost of some headings that names a subject, as a domain; "" if none does.
func domainOf(headings []string) string {
	for _, heading := range headings {
		words, tag := strings.Fields(labelWords(heading)), tagOf(heading)
		if len(words) > 0 && len(words) <= domainWords && tag != "" && len(tag) <= check.MaxName && !numbered.MatchString(heading) &&
			!slices.ContainsFunc(words, func(w string) bool { return generic()[w] || fileWords()[w] }) {
			return tag
		}
	}
	return ""
}

// items are the items of a list, or a text as one.
func items(text string) (list []string) {
	for line := range strings.Lines(text) {
		switch {
		case strings.TrimSpace(line) == "":
		case len(list) > 0 && (!bulleted(line) || indent(line) > 0):
			list[len(list)-1] += "\n" + strings.TrimRight(line, "\n")
		default:
			list = append(list, strings.TrimSpace(markdown.Unmarked(line)))
		}
	}
	return list
}

// opening is what a text begins with, as a title: a bold phrase that its first line begins with, or its first sentence.
func opening(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(markdown.Unmarked(strings.TrimLeft(line, "> ")))
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			continue
		}
		if inner, bold := strings.CutPrefix(line, "**"); bold { // an item that begins with a bold phrase is about it
			if phrase, _, ends := strings.Cut(inner, "**"); ends && len(pieces(phrase)) > 1 {
				line = phrase
			}
		}
		if line = markdown.Plain(line); len(pieces(line)) == 0 {
			continue
		}
		for _, end := range []string{". ", "! ", "? "} {
			if at := strings.Index(line, end); at > 10 {
				line = line[:at]
			}
		}
		return strings.TrimRight(line, ".: ")
	}
	return ""
}

func joinTexts(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// printable makes what is no printable character a space.
func printable(r rune) rune {
	if unicode.IsControl(r) || r == 0x2028 || r == 0x2029 {
		return ' '
	}
	return r
}
