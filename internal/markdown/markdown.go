// Package markdown reads Markdown as people write it for agents and for each other: sections
// under their headings, and in these the passages that are read as one. It reads through
// goldmark's tree, and knows nothing of what a heading means.
package markdown

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	mdtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// Document is a text that was read. Each of its lines that is not blank is in a section or among those that were left out.
type Document struct {
	Front    string // what stands between the dashes at its beginning
	Sections []Section
	Left     []Left
}

// Left is a line that is in no section.
type Left struct {
	Line int // from 1
	Text string
	Why  string
	Bad  bool // it could not be read
}

// Section is a heading with what stands below it, up to the next heading.
type Section struct {
	Heading    string   // as it was written, without its marks
	Title      string   // the heading as plain text; empty: what stands before the first one
	Level      int      // 1 to 6; 0: before the first heading
	Path       []string // the titles above it, the outermost first
	Line, Last int
	Below      int // the first line below the heading
	Blocks     []Block
}

// Text is what stands in a section, as it was written, without its heading.
func (s Section) Text() string {
	var text strings.Builder
	for i, b := range s.Blocks {
		if i > 0 {
			text.WriteString(gap(s.Blocks[i-1].Last, b))
		}
		text.WriteString(b.Text)
	}
	return text.String()
}

// gap is what stands between a line and the block that follows it.
func gap(line int, b Block) string {
	if b.Line == line+1 {
		return "\n"
	}
	return "\n\n"
}

// Within is the titles of a section and of those above it, the outermost first.
func (s Section) Within() []string {
	if s.Title == "" {
		return s.Path
	}
	return append(slices.Clone(s.Path), s.Title)
}

// Kind is what a block is.
type Kind int

// The kinds of blocks.
const (
	Paragraph Kind = iota
	Code
	List
	Item // of a list
	Table
	Row // of a table
	Quote
	HTML
)

// Block is a block of a section, or a part of one.
type Block struct {
	Kind       Kind
	Line, Last int
	Text       string   // as it was written; an item without its mark, a row below the table's head
	Own        string   // of an item: its own text, without what is nested in it; of others, if it differs from the text: without links' definitions
	Head       bool     // a row that is a table's head
	Cells      []string // of a row
	Parts      []Block  // items of a list, rows of a table (the head first), and lists, code and tables in an item
}

// blocks reads Markdown's blocks and none of its inline marks, which are read where a text is to be plain.
var blocks = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
	parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(extension.NewTableParagraphTransformer(), 200))...),
)

// Read reads a text. A line that is no text, or nested too deep, is left out, and the others are read.
func Read(source []byte) Document {
	r := &reader{source: bytes.TrimPrefix(source, []byte("\ufeff"))}
	r.starts = lineStarts(r.source)
	r.leaveUnreadable()
	begin := r.frontMatter()
	r.read(begin)
	slices.SortStableFunc(r.out.Left, func(a, b Left) int { return a.Line - b.Line })
	return r.out
}

type reader struct {
	source []byte
	starts []int // of the lines
	out    Document
}

// maxMarks bounds how many marks of quotations and lists begin one line. No
// person nests that deep, and the parser takes a minute for 100 KB of "> > > ".
const maxMarks = 16

// leaveUnreadable leaves lines out that are no text, or nested too deep, and blanks them for the parser.
func (r *reader) leaveUnreadable() {
	r.source = bytes.Clone(r.source)
	for n := range r.starts {
		text := r.line(n + 1)
		why := ""
		switch marks := marks(text); {
		case !utf8.ValidString(text):
			why = "is not valid UTF-8"
		case strings.ContainsRune(text, 0):
			why = "holds the character NUL"
		case len(marks) > maxMarks && (marks[0] == '+' || marks[0] == '>' || strings.Trim(marks, marks[:1]) != "" || strings.Trim(text, marks[:1]+" \t") != ""): // a rule is one mark repeated
			why = "is nested too deep"
		default:
			continue
		}
		r.out.Left = append(r.out.Left, Left{n + 1, strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\ufffd"), "\ufffd")), why, true})
		r.blank(n + 1)
	}
}

// marks are the marks of quotations and lists that a line begins with.
func marks(line string) string {
	var marks []byte
	digits := false
	for _, c := range []byte(line) {
		digit := c >= '0' && c <= '9'
		if strings.IndexByte(">-*+", c) >= 0 || digits && (c == '.' || c == ')') {
			marks = append(marks, c)
		} else if c != ' ' && c != '\t' && !digit {
			break
		}
		digits = digit
	}
	return string(marks)
}

// blank takes a line's text away from the parser.
func (r *reader) blank(n int) {
	text := r.source[r.starts[n-1]:][:len(r.line(n))]
	for i := range text {
		text[i] = ' '
	}
}

// frontMatter takes front matter away from the parser, for which a fence within
// it would take in all that follows, and returns the line behind it.
func (r *reader) frontMatter() int {
	if strings.TrimRight(r.line(1), " \t") != "---" {
		return 1
	}
	for n := 2; n <= len(r.starts); n++ {
		switch strings.TrimRight(r.line(n), " \t") {
		case "---":
			r.out.Front = r.text(2, n-1)
			r.leave(1, n, "is front matter, and not part of a note")
			for i := 1; i <= n; i++ {
				r.blank(i)
			}
			return n + 1
		case "":
			return 1 // a rule
		}
	}
	return 1
}

// leave leaves the lines of a range out that are not blank.
func (r *reader) leave(from, last int, why string) {
	for n := from; n <= last && n <= len(r.starts); n++ {
		if text := strings.TrimSpace(r.line(n)); text != "" {
			r.out.Left = append(r.out.Left, Left{n, text, why, false})
		}
	}
}

// read takes the text apart at its headings.
func (r *reader) read(begin int) {
	current := Section{Line: begin, Below: begin}
	var open []Section // that the next one may stand under
	var nodes []ast.Node
	finish := func(last int) {
		current.Last = last
		r.fill(&current, nodes)
		if nodes = nil; current.Level > 0 || len(current.Blocks) > 0 {
			r.out.Sections = append(r.out.Sections, current)
		}
	}
	doc := blocks.Parse(mdtext.NewReader(r.source))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, is := n.(*ast.Heading)
		if !is {
			nodes = append(nodes, n)
			continue
		}
		line := r.lineOf(n)
		finish(line - 1)
		current = Section{Level: h.Level, Line: line, Heading: strings.Join(strings.Fields(string(h.Lines().Value(r.source))), " ")}
		current.Title = Plain(current.Heading)
		current.Below = line + max(h.Lines().Len(), 1)
		if !strings.HasPrefix(strings.TrimLeft(r.line(line), " "), "#") && strings.Trim(r.line(current.Below), "=- \t") == "" {
			current.Below++ // the line beneath it, unless a table took lines between
		}
		for len(open) > 0 && open[len(open)-1].Level >= h.Level {
			open = open[:len(open)-1]
		}
		for _, above := range open {
			if above.Title != "" {
				current.Path = append(current.Path, above.Title)
			}
		}
		open = append(open, current)
	}
	finish(len(r.starts))
}

// pictures are pictures, each with the link that it is the text of.
var pictures = lazyregexp.New(`\[!\[[^\]]*\][(\[][^)\]]*[)\]]\][(\[][^)\]]*[)\]]|!\[[^\]]*\][(\[][^)\]]*[)\]]`)

// fill makes a section's blocks of its nodes. What no node claims, such as the definition of a link, is part of the block before it.
func (r *reader) fill(s *Section, nodes []ast.Node) {
	s.Blocks = r.blocksOf(nodes, s.Below, s.Last)
	if len(nodes) == 0 && strings.TrimSpace(r.text(s.Below, s.Last)) != "" {
		s.Blocks = []Block{r.block(Paragraph, s.Below, s.Last)}
	}
	s.Blocks = slices.DeleteFunc(s.Blocks, func(b Block) bool {
		var why string
		switch {
		case b.Kind == HTML && strings.HasPrefix(strings.TrimSpace(b.Text), "<!--"):
			why = "is a comment"
		case b.Kind == HTML && Plain(b.Text) == "":
			why = "holds HTML alone"
		case b.Kind == Paragraph && Plain(b.Text) != "" && Plain(pictures.ReplaceAllString(b.Text, "")) == "":
			why = "holds pictures alone"
		default:
			return false
		}
		r.leave(b.Line, b.Last, why)
		return true
	})
}

// blocksOf makes blocks of nodes that follow each other in lines.
func (r *reader) blocksOf(nodes []ast.Node, first, last int) (all []Block) {
	for i, n := range nodes {
		from, to := first, last
		if i > 0 {
			from = r.lineOf(n)
		}
		if i+1 < len(nodes) {
			to = r.lineOf(nodes[i+1]) - 1
		}
		if _, definition := n.(*ast.LinkReferenceDefinition); definition && len(all) > 0 {
			text := r.block(Paragraph, from, to).Text
			for within := all; text != "" && len(within) > 0; { // and the last item or row, which is read for itself
				b := &within[len(within)-1]
				b.Own = cmp.Or(b.Own, b.Text)
				b.Text, b.Last, within = b.Text+"\n"+text, to, b.Parts
			}
			continue
		}
		if _, rule := n.(*ast.ThematicBreak); rule {
			continue
		}
		if from = r.skipBlank(from, to); from <= to {
			all = append(all, r.blockOf(n, from, to))
		}
	}
	return all
}

func (r *reader) blockOf(n ast.Node, from, to int) Block {
	switch n := n.(type) {
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return r.block(Code, from, to)
	case *ast.HTMLBlock:
		return r.block(HTML, from, to)
	case *ast.Blockquote:
		return quoted(r.block(Quote, from, to))
	case *ast.List:
		b := r.block(List, from, to)
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			end := b.Last
			if next := item.NextSibling(); next != nil {
				end = r.lineOf(next) - 1
			}
			b.Parts = append(b.Parts, r.itemOf(item, max(r.lineOf(item), from), end))
		}
		return b
	case *extast.Table:
		b := r.block(Table, from, to)
		for row := n.FirstChild(); row != nil; row = row.NextSibling() {
			line := r.lineOf(row)
			_, head := row.(*extast.TableHeader)
			one := Block{Kind: Row, Line: line, Last: line, Head: head, Text: r.line(line)}
			for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
				one.Cells = append(one.Cells, strings.ReplaceAll(strings.TrimSpace(string(cell.Lines().Value(r.source))), `\|`, "|"))
			}
			if head && len(b.Parts) == 0 {
				one.Text += "\n" + r.line(line+1)
			} else {
				one.Text = b.Parts[0].Text + "\n" + one.Text
			}
			b.Parts = append(b.Parts, one)
		}
		return b
	}
	return r.block(Paragraph, from, to)
}

// alert is the label that makes a quotation an alert, such as [!WARNING].
var alert = lazyregexp.New(`^\[![A-Za-z]+\]\s*`)

// quoted is a quotation whose own text has no marks of quotations, and no label.
func quoted(b Block) Block {
	var lines []string
	for line := range strings.Lines(b.Text) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "> \t")); line != "" {
			lines = append(lines, line)
		}
	}
	b.Own = strings.TrimSpace(alert.ReplaceAllString(strings.Join(lines, "\n"), ""))
	return b
}

// itemOf is an item of a list: its text without its mark and indentation.
func (r *reader) itemOf(n ast.Node, from, to int) Block {
	b := r.block(Item, from, to)
	width := 0
	if item, is := n.(*ast.ListItem); is {
		width = item.Offset
	}
	lines := strings.Split(b.Text, "\n")
	for i, line := range lines {
		if i == 0 {
			line = strings.TrimLeft(line, " \t>")
			lines[i] = unmarked(line)
			width += len(b.Text) - len(strings.TrimLeft(b.Text, " \t"))
			continue
		}
		cut := 0
		for cut < len(line) && cut < width && (line[cut] == ' ' || line[cut] == '\t') {
			cut++
		}
		lines[i] = line[cut:]
	}
	b.Text = strings.TrimSpace(strings.Join(lines, "\n"))
	b.Own = b.Text
	if first := n.FirstChild(); first != nil && (first.Kind() == ast.KindTextBlock || first.Kind() == ast.KindParagraph) {
		b.Own = unboxed(strings.TrimSpace(string(first.Lines().Value(r.source))))
	}
	for inner := n.FirstChild(); inner != nil; inner = inner.NextSibling() {
		if list, is := inner.(*ast.List); is {
			b.Parts = append(b.Parts, r.blockOf(list, r.lineOf(list), to))
		}
	}
	return b
}

// Unmarked is a line without the mark of a list, and the box of a task, at its beginning.
func Unmarked(line string) string { return unboxed(unmarked(line)) }

func unmarked(line string) string {
	text := strings.TrimLeft(line, " \t")
	mark := strings.TrimLeft(text, "0123456789")
	if digits := len(text) - len(mark); mark == "" || digits > 9 || digits == 0 && strings.IndexByte("-*+", mark[0]) < 0 || digits > 0 && mark[0] != '.' && mark[0] != ')' {
		return text
	}
	if mark = mark[1:]; mark != "" && mark[0] != ' ' && mark[0] != '\t' {
		return text
	}
	return strings.TrimLeft(mark, " \t")
}

func unboxed(text string) string {
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		text = strings.TrimPrefix(text, box)
	}
	return text
}

// block is a block of lines.
func (r *reader) block(kind Kind, from, to int) Block {
	from = r.skipBlank(from, to)
	for to > from && strings.TrimSpace(r.line(to)) == "" {
		to--
	}
	return Block{Kind: kind, Line: from, Last: to, Text: r.text(from, to)}
}

func (r *reader) skipBlank(from, to int) int {
	for from <= to && strings.TrimSpace(r.line(from)) == "" {
		from++
	}
	return from
}

// lineOf is the line that a node begins on.
func (r *reader) lineOf(n ast.Node) int {
	if n.Kind() == extast.KindTable { // it says where the paragraph begins that it ended
		n = n.FirstChild()
	}
	offset := n.Pos()
	for inner := n; offset < 0 && inner != nil; inner = inner.FirstChild() {
		if inner.Type() == ast.TypeBlock && inner.Lines().Len() > 0 {
			offset = inner.Lines().At(0).Start
		} else if inner.Pos() >= 0 {
			offset = inner.Pos()
		}
	}
	line, _ := slices.BinarySearch(r.starts, max(offset, 0)+1)
	return line
}

func lineStarts(source []byte) []int {
	starts := []int{0}
	for i, c := range source {
		if c == '\n' && i+1 < len(source) {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// line is a line's text, without its end.
func (r *reader) line(n int) string {
	end := len(r.source)
	if n < len(r.starts) {
		end = r.starts[n]
	}
	return strings.TrimRight(string(r.source[r.starts[n-1]:end]), "\r\n")
}

func (r *reader) text(from, to int) string {
	var lines []string
	for n := from; n <= to && n <= len(r.starts); n++ {
		lines = append(lines, strings.TrimRight(r.line(n), " \t"))
	}
	return strings.Join(lines, "\n")
}
