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

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/lazyregexp"
	"skillrouter/learning"
	"skillrouter/learning/lesson"
)

// note is a lesson that is being read.
type note struct {
	title       string
	topic       string // the heading that an item of a list stands under; the title begins with it
	first, last int
	texts       map[part][]string
	commands    []string
	tags        []string
	severity    learning.Severity
	path        []string // headings above it
	labelled    bool     // a label said what something is
	workaround  bool
	symptom     bool
	rows        bool // a table's rows are lessons of their own
}

func newNote(title string, first int) *note {
	return &note{title: title, first: first, last: first, texts: map[part][]string{}}
}

// add puts a text, as it was written, into a part.
func (n *note) add(p part, text string) {
	switch p {
	case partNone, partDate, partTags, partSeverity, partName: // which hold a value and no text
		p = partContext
	}
	if strings.TrimSpace(text) != "" || len(n.texts[p]) > 0 {
		n.texts[p] = append(n.texts[p], text)
	}
}

// value puts what stands behind a label into its part.
func (n *note) value(p part, label, text string) {
	n.labelled = true
	text = strings.TrimSpace(text)
	switch p {
	case partContext:
		n.symptom = true
	case partTags:
		if n.tag(text) {
			return
		}
		n.add(partContext, label+": "+text)
		return
	case partSeverity:
		word := learning.Severity(strings.ToLower(strings.Trim(text, "*_` .")))
		if slices.Contains(learning.Severities(), word) {
			n.severity = word
			return
		}
		n.add(partContext, label+": "+text)
		return
	case partDate:
		n.add(partContext, label+": "+text)
		return
	case partName:
		if n.title == "" && text != "" {
			n.title = text
			return
		}
		p = partContext
	case partAlternative:
		n.workaround = true
	}
	if text != "" {
		n.add(p, text)
	}
}

// tag takes a list of tags; false if it cannot hold them all.
func (n *note) tag(text string) bool {
	var found []string
	for item := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ';' || r == '\n' }) {
		tag := tagOf(item)
		if tag == "" || len(tag) > check.MaxName {
			return false
		}
		found = append(found, tag)
	}
	if len(n.tags)+len(found) > learning.MaxTags/2 { // the other half is for headings
		return false
	}
	n.tags = append(n.tags, found...)
	return true
}

// tagOf is a text as a tag: lower case, words joined by dashes.
func tagOf(s string) string {
	return strings.ToLower(strings.Join(pieces(s), "-"))
}

// text is a part's text.
func (n *note) text(p part) string {
	return strings.Trim(strings.Join(n.texts[p], "\n"), "\n")
}

// dated finds a date at either end of a title.
var dated = lazyregexp.New(`^\s*[\[(]?(\d{4}-\d{2}-\d{2})[\])]?\s*[:–—|-]?\s*|\s*[–—|-]?\s*[\[(]?(\d{4}-\d{2}-\d{2})[\])]?\s*$`)

// draft makes the lesson. It is Invalid or TooLarge if the service could not take it.
func (n *note) draft(domain string, ids map[string]int) (lesson.Draft, error) {
	context := n.text(partContext)
	title := n.title
	if bare := strings.TrimSpace(dated.ReplaceAllString(title, "")); bare != title && bare != "" {
		for _, m := range dated.FindAllString(title, -1) {
			context = joinTexts(context, "Date: "+strings.Trim(m, " []()-–—|:"))
		}
		title = bare
	}
	if title == "" {
		title = opening(cmp.Or(context, n.text(partSolution), n.text(partCause), n.text(partPrevention), n.text(partAction), n.text(partAlternative), n.text(partOutcome), strings.Join(n.commands, " ")))
	}
	line := strings.Join(strings.Fields(strings.Map(printable, title)), " ")
	if short := clip(line, maxNoteTitle); short != line {
		context = joinTexts(title, context)
		line = short
	}
	confidence := lesson.DefaultConfidence
	d := lesson.Draft{
		Type: learning.LessonDiscovery, Domain: cmp.Or(domain, n.domain(), DefaultDomain), Category: NotesCategory, Title: line, Severity: n.severity, Level: lesson.LevelCase,
		RootCause: n.text(partCause), Action: n.text(partAction), Outcome: n.text(partOutcome), Confidence: &confidence,
	}
	d.Solution = n.text(partSolution)
	if prevention := n.text(partPrevention); prevention != "" {
		d.Solution = joinTexts(d.Solution, "Prevention: "+prevention)
	}
	var body []string
	d.Alternatives, body = items(n.text(partAlternative), "Workaround", body)
	d.RelatedFiles, body = items(n.text(partFiles), "Files", body)
	commands := n.commands
	if listed := n.text(partCommands); listed != "" {
		body = append(body, "Commands:\n"+listed)
		for command := range strings.Lines(listed) {
			command = strings.Trim(unbulleted(strings.TrimSpace(command)), "`")
			if !strings.HasPrefix(strings.TrimSpace(command), "```") {
				commands = append(commands, strings.TrimPrefix(command, "$ "))
			}
		}
	}
	for _, command := range commands {
		if command = strings.TrimSpace(command); command != "" && len(command) <= lesson.MaxListItem && len(d.RelatedCommands) < lesson.MaxListItems && !slices.Contains(d.RelatedCommands, command) {
			d.RelatedCommands = append(d.RelatedCommands, command)
		}
	}
	d.Tags = n.tags
	for _, above := range n.path {
		tag := tagOf(above)
		switch {
		case tag == "" || slices.Contains(d.Tags, tag):
		case len(tag) > check.MaxName || len(d.Tags) == learning.MaxTags:
			context = joinTexts(context, "Under: "+above)
		default:
			d.Tags = append(slices.Clone(d.Tags), tag)
		}
	}
	d.Tags = slices.Compact(d.Tags)
	d.Context = context
	for _, long := range []struct {
		name string
		text *string
	}{{"Context", &d.Context}, {"Cause", &d.RootCause}, {"Fix", &d.Solution}, {"Action", &d.Action}, {"Outcome", &d.Outcome}} {
		if len(*long.text) > lesson.MaxText {
			body = append(body, long.name+":\n"+*long.text)
			*long.text = ""
		}
	}
	d.Body = strings.Join(body, "\n\n")
	if len(d.Body) > learning.MaxContent {
		return d, errs.Errorf(errs.TooLarge, "is part of a lesson that is longer than %d bytes", learning.MaxContent)
	}
	if d.Title == "" {
		return d, errs.Errorf(errs.Invalid, "holds no words that could be a title")
	}
	severity, level, forbids := n.weigh(d.Title)
	d.Severity, d.Level = cmp.Or(d.Severity, severity), level
	switch {
	case n.workaround && d.Solution == "":
		d.Type = learning.LessonWorkaround
	case n.symptom || d.RootCause != "":
		d.Type = learning.LessonFailure
	case forbids:
		d.Type, d.Proposed = learning.LessonAntiPattern, true
	}
	key := strings.Join(n.path, "\x00") + "\x00" + d.Title
	ids[key]++
	sum := sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(ids[key])))
	d.ID = strings.TrimSuffix(fmt.Sprintf("note-%.40s", slug(d.Title)), "-") + "-" + hex.EncodeToString(sum[:5])
	if whole := strings.Join(strings.Fields(strings.Map(printable, n.topic)), " ") + ": " + d.Title; n.topic != "" && len(whole) <= maxNoteTitle {
		d.Title = whole
	}
	return d, nil
}

// maxNoteTitle bounds a title that was read from notes, in bytes: one that is
// longer is a paragraph, and stands in the context whole.
const maxNoteTitle = 200

// items are a text's items: a list's, or the text as one. What does not fit
// goes to the body under a name.
func items(text, name string, body []string) (list, rest []string) {
	if text == "" {
		return nil, body
	}
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		switch {
		case strings.TrimSpace(line) == "":
		case len(list) > 0 && (!bulleted(line) || indent(line) > 0):
			list[len(list)-1] += "\n" + line
		default:
			list = append(list, unbulleted(line))
		}
	}
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	if len(list) > lesson.MaxListItems || slices.ContainsFunc(list, func(s string) bool { return len(s) > lesson.MaxListItem }) {
		return nil, append(body, name+":\n"+text)
	}
	return list, body
}

// opening is what a text begins with, as a title: its first sentence, without marks.
func opening(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			continue
		}
		line = strings.TrimSpace(unbulleted(strings.TrimLeft(line, "> ")))
		if len(pieces(line)) == 0 {
			continue
		}
		for _, mark := range []string{"**", "__"} { // an item that begins with a bold phrase is about it
			if inner, ok := strings.CutPrefix(line, mark); ok {
				if bold, _, ok := strings.Cut(inner, mark); ok && len(pieces(bold)) > 1 {
					return strings.TrimRight(bold, ":. ")
				}
			}
		}
		for _, end := range []string{". ", "! ", "? "} {
			if at := strings.Index(line, end); at > 10 {
				line = line[:at]
			}
		}
		return strings.TrimRight(unmarked(line), ".: ")
	}
	return ""
}

func joinTexts(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
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
