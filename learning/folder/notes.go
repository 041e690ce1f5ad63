package folder

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	mdtext "github.com/yuin/goldmark/text"

	"skillrouter/internal/errs"
	"skillrouter/learning/lesson"
)

// NotesCategory is the category of lessons that were read from notes.
const NotesCategory = "notes"

// Note is a lesson that was read from free Markdown notes.
type Note struct {
	Line  int          `json:"line"` // its first and last line in the file, from 1
	Last  int          `json:"last_line"`
	Draft lesson.Draft `json:"lesson"`
}

// Unread is a line of notes that is part of no lesson.
type Unread struct {
	Line int    `json:"line"` // from 1
	Text string `json:"text"`
	Why  string `json:"reason"`
}

// Notes is what a file of notes holds. Each line that is not blank is in a
// lesson or among the Unread.
type Notes struct {
	Lessons []Note   `json:"lessons"`
	Unread  []Unread `json:"unread"`
}

// ReadNotes reads free Markdown notes as lessons of a domain; if it is empty, of
// the nearest heading above them that names one. A heading
// with text below it is a lesson; headings, bold or plain labels and table
// cells such as Symptom, Cause, Fix and Prevention (see labels) say which part
// of it a text is. A short heading over a plain list is a topic, and each item
// a lesson, titled by both; so is each row of a table whose columns are labels,
// titled by its lesson. Headings above a lesson become its tags. Words such as
// CRITICAL and never say how grave it is and how far it holds (see weigh). A table
// of contents, and what tells how to write such notes, is no lesson. Ids depend on
// the headings and the title, so that the same notes give the same lessons.
func ReadNotes(source []byte, domain string) (Notes, error) {
	if len(source) > MaxNotes {
		return Notes{}, errs.Errorf(errs.TooLarge, "the notes are larger than %d bytes", MaxNotes)
	}
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	r := &notesReader{source: source, starts: lineStarts(source), domain: domain, ids: map[string]int{}}
	r.out = Notes{Lessons: []Note{}, Unread: []Unread{}}
	r.flatten()
	r.sections()
	r.read()
	return r.out, nil
}

// maxMarks bounds how many marks of quotations and lists begin one line. No
// person nests that deep, and the parser takes a minute for 100 KB of "> > > ".
const maxMarks = 16

// flatten lists lines that are no text, or nested too deep, as unread, and blanks them for the parser.
func (r *notesReader) flatten() {
	copied := false
	blank := func(n int, text []byte, why string) {
		r.out.Unread = append(r.out.Unread, Unread{n + 1, clip(strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(string(text), "\x00", "\ufffd"), "\ufffd")), 200), why})
		if !copied {
			r.source, copied = bytes.Clone(r.source), true
		}
		for i := r.starts[n]; i < r.starts[n]+len(text); i++ {
			r.source[i] = ' '
		}
	}
	for n := range r.starts {
		text := lineText(r.source, r.starts, n+1)
		switch {
		case !utf8.Valid(text):
			blank(n, text, "is not valid UTF-8")
			continue
		case bytes.IndexByte(text, 0) >= 0:
			blank(n, text, "holds the character NUL")
			continue
		}
		marks, digits := 0, false
		for _, c := range text {
			switch {
			case c == '>' || c == '-' || c == '*' || c == '+':
				marks++
			case (c == '.' || c == ')') && digits:
				marks++
			case c == ' ' || c == '\t' || c >= '0' && c <= '9':
			default:
				c = 0
			}
			digits = c >= '0' && c <= '9'
			if c == 0 || marks > maxMarks {
				break
			}
		}
		if marks <= maxMarks || !bytes.ContainsAny(text, ">.)") && len(bytes.Trim(text, "-*+ \t")) == 0 && !nested(text) {
			continue
		}
		blank(n, text, "is nested too deep")
	}
}

// nested tells a line of list marks from a rule, which is one mark repeated.
func nested(line []byte) bool {
	marks := bytes.Join(bytes.Fields(line), nil)
	return len(marks) > 0 && (marks[0] == '+' || len(bytes.Trim(marks, string(marks[:1]))) > 0)
}

// block is a top-level block of Markdown.
type block struct {
	kind       ast.NodeKind
	first, end int   // lines: from first up to, and without, end
	items      []int // first lines of a list's items
}

// section is a heading with what stands below it, up to the next heading.
type section struct {
	head   headed // the zero value: what stands before the first heading
	label  part   // the heading is a label
	blocks []block
	first  int
	end    int
	parent int // index of the section whose heading this one's stands under; -1: none

	used       bool // the heading stands in a lesson, or was listed as unread
	inLabel    bool // it is part of a label's text
	hasLabels  bool // labels stand below it
	hasLessons bool // other headings do
}

type notesReader struct {
	source []byte
	starts []int
	domain string
	parts  []section
	out    Notes
	ids    map[string]int
}

// line is a line's text, without its end.
func (r *notesReader) line(n int) string {
	return strings.TrimRight(string(lineText(r.source, r.starts, n)), "\r")
}

// sections takes the notes apart at their headings.
func (r *notesReader) sections() {
	total := len(r.starts)
	if len(r.source) == 0 {
		total = 0
	}
	current := section{first: 1, parent: -1}
	begin := r.frontMatter()
	current.first = begin
	var open []int // sections that the next one may stand under
	finish := func(end int) {
		current.end = end
		if n := len(current.blocks); n > 0 {
			current.blocks[n-1].end = end
		}
		r.parts = append(r.parts, current)
	}
	doc := blockParser().Parse(mdtext.NewReader(r.source))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		line := r.startOf(n)
		if line < begin {
			continue // in the front matter
		}
		h, ok := n.(*ast.Heading)
		if !ok {
			if count := len(current.blocks); count > 0 {
				line = max(line, current.blocks[count-1].first)
				current.blocks[count-1].end = line
			}
			b := block{kind: n.Kind(), first: line}
			for item := n.FirstChild(); n.Kind() == ast.KindList && item != nil; item = item.NextSibling() {
				b.items = append(b.items, max(r.startOf(item), line))
			}
			if len(current.blocks) == 0 {
				b.first = current.first + current.head.lines // with what no block claims
			}
			current.blocks = append(current.blocks, b)
			continue
		}
		head := headingOf(h, r.source, r.starts)
		finish(head.line)
		for len(open) > 0 && r.parts[open[len(open)-1]].head.level >= head.level {
			open = open[:len(open)-1]
		}
		current = section{head: head, label: labelOf(head.title), first: head.line, parent: -1}
		if len(open) > 0 {
			current.parent = open[len(open)-1]
		}
		open = append(open, len(r.parts))
	}
	finish(total + 1)
}

// frontMatter lists front matter as unread and returns the line behind it.
func (r *notesReader) frontMatter() int {
	if len(r.source) == 0 || strings.TrimRight(r.line(1), " \t") != "---" {
		return 1
	}
	for n := 2; n <= len(r.starts); n++ {
		text := strings.TrimRight(r.line(n), " \t")
		if text == "---" {
			r.unread(1, n+1, "is front matter, and not part of a note")
			// The parser must not see it: a fence within it would take in all that follows.
			r.source = bytes.Clone(r.source)
			for i, c := range r.source[:r.starts[n-1]+len(lineText(r.source, r.starts, n))] {
				if c != '\n' && c != '\r' {
					r.source[i] = ' '
				}
			}
			return n + 1
		}
		if text == "" {
			break // a thematic break
		}
	}
	return 1
}

// startOf is the line that a block begins on.
func (r *notesReader) startOf(n ast.Node) int {
	offset := n.Pos()
	for inner := n; offset < 0 && inner != nil; inner = inner.FirstChild() {
		if inner.Type() == ast.TypeBlock && inner.Lines().Len() > 0 {
			offset = inner.Lines().At(0).Start
		} else if inner.Pos() >= 0 {
			offset = inner.Pos()
		}
	}
	return lineAt(r.starts, max(offset, 0))
}

// unread lists the lines of a range that are not blank.
func (r *notesReader) unread(from, end int, why string) {
	for n := from; n < end && n <= len(r.starts); n++ {
		if text := strings.TrimSpace(r.line(n)); text != "" {
			r.out.Unread = append(r.out.Unread, Unread{n, clip(text, 200), why})
		}
	}
}

// blank tells whether the lines of a range hold nothing.
func (r *notesReader) blank(from, end int) bool {
	for n := from; n < end && n <= len(r.starts); n++ {
		if strings.TrimSpace(r.line(n)) != "" {
			return false
		}
	}
	return true
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
