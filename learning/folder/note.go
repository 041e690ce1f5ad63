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
	"unicode/utf8"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/lazyregexp"
	"skillrouter/internal/markdown"
	"skillrouter/learning"
	"skillrouter/learning/guard/act"
	"skillrouter/learning/lesson"
	"skillrouter/tfidf/wordlist"
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
	commands    []string
	tags        []string
	severity    learning.Severity

	labels   []string // headings that are its labels
	current  part
	labelled map[part]bool
	item     int  // the indentation of the item whose label began the part; −1: none did
	fenced   bool // a line stands in code
	shell    bool // which is commands
	rows     bool // a table's rows are lessons of their own
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

// label begins a part with what stands behind its label. What is a value and no text is the value that it can be, or a text.
func (n *note) label(kind part, name, text string) {
	n.current, n.item = kind, -1
	n.labelled[kind], text = true, strings.TrimSpace(text)
	switch {
	case kind == partTags && n.tag(text):
	case kind == partSeverity && slices.Contains(learning.Severities(), severityOf(text)):
		n.severity = severityOf(text)
	case kind == partName && n.title == "" && text != "":
		n.title = markdown.Plain(text)
	case kind == partTags || kind == partSeverity || kind == partName || kind == partDate:
		n.current = partNone
		n.add(partContext, strings.TrimRight(name+": "+text, " "))
		return
	default:
		if text != "" {
			n.add(kind, text)
		}
		return
	}
	n.current = partNone
}

func severityOf(text string) learning.Severity {
	return learning.Severity(strings.ToLower(strings.Trim(text, "*_` .")))
}

// tag takes a list of tags; false if it cannot hold them all, or there is none.
func (n *note) tag(text string) bool {
	var found []string
	for item := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ';' }) {
		tag := tagOf(item)
		if tag == "" || len(tag) > check.MaxName {
			return false
		}
		found = append(found, tag)
	}
	if len(found) == 0 || len(n.tags)+len(found) > learning.MaxTags/2 { // the other half is for headings
		return false
	}
	n.tags = append(n.tags, found...)
	return true
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
		if n.fenced = false; b.Kind != markdown.Table || !n.table(b) {
			for i, line := range strings.Split(b.Text, "\n") {
				n.line(line, b.Line+i, b.Kind == markdown.HTML || b.Kind == markdown.Code)
			}
		}
		n.last = b.Last
	}
}

// shellLanguages are the languages of code blocks that hold commands.
var shellLanguages = wordlist.Phrases(wordsText, "shells")

// line reads a line: a label begins a part, and all else goes to the part that it is in. In code there are no labels.
func (n *note) line(line string, number int, code bool) {
	trimmed := strings.TrimSpace(line)
	bare := strings.TrimLeft(markdown.Unmarked(trimmed), "> ")
	kind, rest, is := labelled(line)
	switch command, prompt := strings.CutPrefix(trimmed, "$ "); {
	case strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~"):
		language, _, _ := strings.Cut(strings.TrimLeft(bare, "`~ "), " ")
		n.fenced, n.shell = !n.fenced, shellLanguages()[strings.ToLower(language)]
	case code || n.fenced:
		if (n.fenced && n.shell || prompt) && trimmed != "" && !strings.HasPrefix(trimmed, "#") {
			n.commands = append(n.commands, command)
		}
	case is:
		n.next(kind, number)
		name, _, _ := strings.Cut(strings.TrimSuffix(trimmed, rest), ":")
		if n.label(kind, strings.Trim(bareLabel(name), "*_ "), rest); rest != "" && bulleted(line) {
			n.item = indent(line)
		}
		return
	case n.item >= 0 && bulleted(line) && indent(line) <= n.item:
		n.current, n.item = partNone, -1
	}
	n.add(n.current, line)
}

func bareLabel(name string) string { return markdown.Unmarked(strings.TrimLeft(name, "> ")) }

// next begins another lesson if a label opens one that the present lesson has
// already: notes often put one problem after the other.
func (n *note) next(kind part, line int) {
	if kind != partContext && kind != partName || len(n.texts[partSolution])+len(n.texts[partPrevention])+len(n.texts[partAlternative]) == 0 {
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

// labelledTable tells a table whose heads are labels.
func labelledTable(b markdown.Block) bool {
	labels := 0
	for _, cell := range b.Parts[0].Cells {
		if labelOf(cell) != partNone {
			labels++
		}
	}
	return labels >= 2
}

// lessonColumns are the heads of columns that hold the lesson itself: its row's title.
var lessonColumns = wordlist.Phrases(wordsText, "columns of lessons")

// table makes a lesson of each row of a table whose heads are labels: titled by the column of lessons, or by the first one if that is no
// label. Any other table stays text.
func (n *note) table(b markdown.Block) bool {
	if !labelledTable(b) {
		return false
	}
	n.rows = true
	head, path := b.Parts[0].Cells, n.path
	if n.title != "" && !slices.Contains(path, n.title) {
		path = append(slices.Clone(path), n.title)
	}
	for _, row := range b.Parts[1:] {
		one := n.r.begin("", path, row.Line)
		title := slices.IndexFunc(head, func(cell string) bool { return lessonColumns()[labelWords(cell)] })
		if title < 0 && labelOf(head[0]) == partNone {
			title = 0
		}
		if title >= 0 {
			one.title, one.said = markdown.Plain(row.Cells[title]), row.Cells[title]
		}
		for c, cell := range row.Cells {
			switch kind := labelOf(head[c]); {
			case c == title && kind != partNone || cell == "":
			case kind == partNone:
				one.add(partContext, head[c]+": "+cell)
			default:
				one.label(kind, head[c], cell)
			}
		}
		one.flush()
	}
	return true
}

// flush ends the lesson.
func (n *note) flush() {
	if n.rows && len(n.texts) == 0 {
		return
	}
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
		title = opening(cmp.Or(context, n.text(partSolution), n.text(partCause), n.text(partPrevention), n.text(partAction), n.text(partAlternative), n.text(partOutcome), strings.Join(n.commands, " ")))
	}
	line := strings.Join(strings.Fields(strings.Map(printable, title)), " ")
	if short := clip(line, maxNoteTitle); short != line {
		context, line = joinTexts(title, context), short
	}
	confidence := lesson.DefaultConfidence
	d := lesson.Draft{
		Type: learning.LessonDiscovery, Domain: cmp.Or(n.r.domain, domainOf(n.path), DefaultDomain), Category: NotesCategory, Title: line, Context: context,
		Severity: n.severity, Level: lesson.LevelCase, RootCause: n.text(partCause), Solution: n.text(partSolution), Action: n.text(partAction), Outcome: n.text(partOutcome),
		Confidence: &confidence, Tags: n.tags,
	}
	if prevention := n.text(partPrevention); prevention != "" {
		d.Solution = joinTexts(d.Solution, "Prevention: "+prevention)
	}
	var body []string
	d.Alternatives, body = items(n.text(partAlternative), "Workaround", body)
	d.RelatedFiles, body = items(n.text(partFiles), "Files", body)
	listed, body := items(n.text(partCommands), "Commands", body)
	forbidden := act.Forbidden(n.said)
	for _, command := range slices.Concat(forbidden, n.commands, listed) {
		if command = strings.Trim(command, "`"); len(command) <= lesson.MaxListItem && len(d.RelatedCommands) < lesson.MaxListItems && !slices.Contains(d.RelatedCommands, command) {
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
	d.Tags = slices.Compact(d.Tags)
	for _, long := range []struct {
		name string
		text *string
	}{{"Context", &d.Context}, {"Cause", &d.RootCause}, {"Fix", &d.Solution}, {"Action", &d.Action}, {"Outcome", &d.Outcome}} {
		if len(*long.text) > lesson.MaxText {
			body = append(body, long.name+":\n"+*long.text)
			*long.text = ""
		}
	}
	if d.Body = strings.Join(body, "\n\n"); len(d.Body) > learning.MaxContent {
		return d, errs.Errorf(errs.TooLarge, "is part of a lesson that is longer than %d bytes", learning.MaxContent)
	}
	if d.Title == "" {
		return d, errs.Errorf(errs.Invalid, "holds no words that could be a title")
	}
	said := coded.ReplaceAllString(strings.Join([]string{d.Title, context, d.Solution}, "\n"), "")
	forbids := prohibits.MatchString(d.Title) || len(forbidden) > 0
	switch {
	case d.Severity != "":
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

// items are a text's items: a list's, or the text as one. What does not fit
// goes to the body under a name.
func items(text, name string, body []string) (list, rest []string) {
	for line := range strings.Lines(text) {
		switch {
		case strings.TrimSpace(line) == "":
		case len(list) > 0 && (!bulleted(line) || indent(line) > 0):
			list[len(list)-1] += "\n" + strings.TrimRight(line, "\n")
		default:
			list = append(list, strings.TrimSpace(markdown.Unmarked(line)))
		}
	}
	if len(list) > lesson.MaxListItems || slices.ContainsFunc(list, func(s string) bool { return len(s) > lesson.MaxListItem }) {
		return nil, append(body, name+":\n"+text)
	}
	return list, body
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

// clip cuts a text to at most max bytes, at a word where there is one.
func clip(s string, max int) string {
	if len(s) <= max {
		return s
	}
	cut := s[:max-len("…")]
	for !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	if space := strings.LastIndexByte(cut, ' '); space > max/2 {
		cut = cut[:space]
	}
	return strings.TrimSpace(cut) + "…"
}
