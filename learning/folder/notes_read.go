package folder

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"skillrouter/internal/lazyregexp"
	"skillrouter/tfidf/wordlist"
)

// topicWords is the most words of a heading over a plain list whose items are
// lessons; a longer heading says something itself, and the list is its text.
const topicWords = 3

// generic are headings that name a file and no subject.
var generic = wordlist.Phrases(wordsText, "no subjects")

// read makes lessons of the sections.
func (r *notesReader) read() {
	r.relabel()
	r.relate()
	for i := 0; i < len(r.parts); {
		i = r.readSection(i)
	}
	for _, s := range r.parts {
		if s.head.line > 0 && !s.used {
			why := "is a heading that no lesson stands under"
			if generic()[labelWords(s.head.title)] {
				why = "is a heading that names no subject"
			}
			r.unread(s.first, s.first+s.head.lines, why)
		}
	}
	slices.SortStableFunc(r.out.Unread, func(a, b Unread) int { return a.Line - b.Line })
	slices.SortStableFunc(r.out.Lessons, func(a, b Note) int { return a.Line - b.Line })
}

// relate finds out what stands below each heading.
func (r *notesReader) relate() {
	for i := range r.parts {
		s := &r.parts[i]
		if s.parent < 0 {
			continue
		}
		switch above := &r.parts[s.parent]; {
		case above.label != partNone || above.inLabel:
			s.inLabel = true
		case s.label != partNone:
			above.hasLabels = true
		default:
			above.hasLessons = true
		}
	}
}

// readSection reads a section, with the labels below it, and returns which comes next.
func (r *notesReader) readSection(i int) (next int) {
	s := &r.parts[i]
	if s.head.line == 0 {
		r.preamble(s, len(r.parts) > 1)
		return i + 1
	}
	if !s.inLabel {
		if why := r.instructs(s); why != "" {
			return r.leave(i, why)
		}
	}
	if s.label != partNone || s.inLabel {
		r.readLabel(s)
		return i + 1
	}
	below := r.labelsBelow(i)
	text := s.first + s.head.lines
	switch {
	case len(below) > 0:
		r.lesson(s, below, s.head.title)
	case r.blank(text, s.end): // a topic: its lessons mark it as used
	case s.hasLessons && (r.isTitle(i) || generic()[labelWords(s.head.title)]) && !r.hasLabel(s):
		r.unread(text, s.end, "introduces the lessons below it")
	case s.holdsHTML():
		s.used = true
		r.unread(s.first, s.end, "holds HTML alone")
	default:
		r.lesson(s, nil, s.head.title)
	}
	return i + 1
}

// leave lists a section as unread, with those below it if its heading says
// what all of them are, and returns which comes next.
func (r *notesReader) leave(i int, why string) (next int) {
	s := &r.parts[i]
	s.used = true
	r.unread(s.first, s.end, why)
	next = i + 1
	if s.head.level == 1 || !instructions()[labelWords(s.head.title)] {
		for _, below := range r.labelsBelow(i) { // its own parts
			r.unread(below.first, below.end, why)
		}
	} else {
		for ; next < len(r.parts) && r.parts[next].head.level > s.head.level; next++ {
			below := &r.parts[next]
			below.used = true
			r.unread(below.first, below.end, why)
		}
	}
	return next
}

// readLabel reads a label's section that belongs to no lesson; one below a lesson was read with it.
func (r *notesReader) readLabel(s *section) {
	switch {
	case s.parent < 0 && r.blank(s.first+s.head.lines, s.end):
	case s.parent < 0:
		r.lesson(s, nil, "")
	case !r.inLesson(s):
		s.used = true
		r.unread(s.first, s.end, "stands under a label without a lesson above it")
	}
}

// labelsBelow returns the labels of a section, with what stands below each, and marks them as used.
func (r *notesReader) labelsBelow(i int) (below []section) {
	if !r.parts[i].hasLabels {
		return nil
	}
	for j := i + 1; j < len(r.parts) && r.parts[j].head.level > r.parts[i].head.level; j++ {
		s := &r.parts[j]
		if s.label != partNone && s.parent == i || s.inLabel && slices.ContainsFunc(below, func(b section) bool { return b.first == r.parts[s.parent].first }) {
			s.used = true
			below = append(below, *s)
		}
	}
	return below
}

// holdsHTML tells whether a section has no text but HTML.
func (s *section) holdsHTML() bool {
	return len(s.blocks) > 0 && !slices.ContainsFunc(s.blocks, func(b block) bool { return b.kind != ast.KindHTMLBlock && b.kind != ast.KindThematicBreak })
}

// relabel makes headings such as "Lessons" and "Issues", over others, topics again and no labels.
func (r *notesReader) relabel() {
	for i := 1; i < len(r.parts); i++ {
		p := r.parts[i].parent
		if p >= 0 && r.parts[p].label != partNone && (r.parts[p].parent < 0 || generic()[labelWords(r.parts[p].head.title)]) {
			r.parts[p].label = partNone
		}
	}
}

// inLesson tells whether a section is part of a lesson by way of its labels.
func (r *notesReader) inLesson(s *section) bool {
	for p := s.parent; p >= 0; p = r.parts[p].parent {
		if r.parts[p].label == partNone && r.parts[p].hasLabels {
			return true
		}
	}
	return false
}

// isTitle tells whether a section's heading is the file's.
func (r *notesReader) isTitle(i int) bool {
	return r.parts[i].head.level == 1 && !slices.ContainsFunc(r.parts[:i], func(s section) bool { return s.head.line > 0 })
}

// hasLabel tells whether a label stands in a section's own text.
func (r *notesReader) hasLabel(s *section) bool {
	for _, b := range s.blocks {
		if b.kind == ast.KindFencedCodeBlock || b.kind == ast.KindCodeBlock || b.kind == ast.KindHTMLBlock {
			continue
		}
		for n := b.first; n < b.end; n++ {
			if _, _, ok := labelled(r.line(n)); ok {
				return true
			}
		}
	}
	return false
}

// path is the headings above a section. It marks them as used, and returns
// which of them were not before.
func (r *notesReader) path(s *section) (path []string, marked []*section) {
	for p := s.parent; p >= 0; p = r.parts[p].parent {
		above := &r.parts[p]
		if title := above.head.title; len(pieces(title)) > 0 && !generic()[labelWords(title)] {
			path = append(path, title)
			if !above.used {
				above.used, marked = true, append(marked, above)
			}
		}
	}
	slices.Reverse(path)
	return path, marked
}

// preamble reads what stands before the first heading: all of the lessons if
// there is no heading, and otherwise an introduction, unless it has labels.
func (r *notesReader) preamble(s *section, introduces bool) {
	switch labels := r.hasLabel(s); {
	case labels:
		r.lesson(s, nil, "")
		return
	case introduces:
		r.unread(s.first, s.end, "stands before the first heading")
		return
	}
	// Paragraphs, each with the code, lists and tables that follow it.
	for i := 0; i < len(s.blocks); {
		j := i + 1
		if s.blocks[i].kind != ast.KindList {
			for j < len(s.blocks) && s.blocks[j].kind != ast.KindParagraph && s.blocks[j].kind != ast.KindThematicBreak {
				j++
			}
		}
		one := section{first: s.blocks[i].first, end: s.blocks[j-1].end, blocks: s.blocks[i:j], parent: -1}
		r.lesson(&one, nil, "")
		i = j
	}
}

// lesson makes one or more lessons of a section and the labels below it.
func (r *notesReader) lesson(s *section, below []section, title string) {
	path, marked := r.path(s)
	s.used = true
	before := len(r.out.Lessons)
	defer func() {
		if len(r.out.Lessons) == before { // the headings above stand in no lesson by this one
			for _, above := range marked {
				above.used = false
			}
		}
	}()
	if r.split(s, below, title, path) {
		return
	}
	reading := &partReader{r: r, title: title, path: path}
	reading.start(s.first)
	if title == "" && s.head.line > 0 {
		reading.current, reading.note.labelled = s.label, true // a label's heading with nothing above it
		reading.note.symptom = s.label == partContext
	}
	reading.section(*s)
	for _, b := range below {
		if b.label != partNone {
			reading.note.value(b.label, b.head.title, "")
			reading.current, reading.label = b.label, b.head.title
		} else {
			reading.note.add(reading.current, strings.Repeat("#", b.head.level)+" "+b.head.title)
		}
		reading.section(b)
		reading.note.last = b.end - 1
	}
	reading.flush()
}

// split reads a plain list under a topic: each item is a lesson.
func (r *notesReader) split(s *section, below []section, title string, path []string) bool {
	if len(below) > 0 || len(strings.Fields(title)) > topicWords || len(s.blocks) == 0 || s.label != partNone || r.hasLabel(s) {
		return false
	}
	var starts []int
	for _, b := range s.blocks {
		if b.kind != ast.KindList {
			return false
		}
		starts = append(starts, b.items...)
	}
	starts = slices.Compact(starts)
	if len(starts) < 2 || s.blocks[0].first < starts[0] && !r.blank(s.blocks[0].first, starts[0]) {
		return false
	}
	if title != "" && !generic()[labelWords(title)] {
		path = append(path, title)
	} else if title != "" {
		r.unread(s.first, s.first+s.head.lines, "is a heading that names no subject")
	}
	for k, from := range starts {
		end := s.end
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		reading := &partReader{r: r, path: path}
		reading.start(from)
		if title != "" && !generic()[labelWords(title)] {
			reading.note.topic = unmarked(title)
		}
		reading.lines(from, end)
		reading.flush()
	}
	return true
}

// partReader reads the text of a lesson part by part.
type partReader struct {
	r       *notesReader
	title   string
	path    []string
	note    *note
	current part   // what the next text is
	label   string // as it was written
	item    int    // indentation of the item that the label stands in; -1: it holds until the next label
	fence   string // of the code block that is open
	shell   bool   // what the code block holds are commands
}

func (p *partReader) start(line int) {
	p.note = newNote(p.title, line)
	p.note.path = p.path
	p.current, p.item, p.fence = partNone, -1, ""
}

// flush ends the lesson.
func (p *partReader) flush() {
	n := p.note
	if n.rows && len(n.texts) == 0 {
		return
	}
	draft, err := n.draft(p.r.domain, p.r.ids)
	if err != nil {
		p.r.unread(n.first, n.last+1, reason(err))
		return
	}
	p.r.out.Lessons = append(p.r.out.Lessons, Note{n.first, n.last, draft})
}

// section reads a section's blocks.
func (p *partReader) section(s section) {
	p.note.last = max(p.note.last, s.end-1)
	for _, b := range s.blocks {
		if b.kind == ast.KindParagraph && p.table(b) {
			continue
		}
		if b.kind == ast.KindCodeBlock || b.kind == ast.KindHTMLBlock {
			for n := b.first; n < b.end; n++ {
				p.note.add(p.current, p.r.line(n))
				if text, ok := strings.CutPrefix(strings.TrimSpace(p.r.line(n)), "$ "); ok {
					p.note.commands = append(p.note.commands, text)
				}
			}
			continue
		}
		p.lines(b.first, b.end)
	}
	if len(s.blocks) == 0 {
		p.lines(s.first+s.head.lines, s.end)
	}
	p.fence = ""
}

// shellLanguages are the languages of code blocks that hold commands.
var shellLanguages = wordlist.Phrases(wordsText, "shells")

// lines reads lines of text: a label begins a part, and all else goes to the part that it is in.
func (p *partReader) lines(from, end int) {
	for n := from; n < end && n <= len(p.r.starts); n++ {
		line := p.r.line(n)
		trimmed := strings.TrimSpace(line)
		p.note.last = max(p.note.last, n)
		if p.fence != "" {
			if strings.HasPrefix(trimmed, p.fence) && strings.Trim(trimmed, p.fence[:1]) == "" {
				p.fence = ""
			} else if command, prompt := strings.CutPrefix(trimmed, "$ "); (p.shell || prompt) && trimmed != "" && !strings.HasPrefix(trimmed, "#") {
				p.note.commands = append(p.note.commands, command)
			}
			p.note.add(p.current, line)
			continue
		}
		if bare := strings.TrimLeft(unbulleted(trimmed), "> "); strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
			p.fence = bare[:len(bare)-len(strings.TrimLeft(bare, bare[:1]))]
			language, _, _ := strings.Cut(strings.TrimSpace(strings.TrimLeft(bare, "`~")), " ")
			p.shell = shellLanguages()[strings.ToLower(language)]
			p.note.add(p.current, line)
			continue
		}
		if kind, rest, ok := labelled(line); ok {
			p.begin(kind, n)
			p.label = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(trimmed), rest))
			p.label = strings.Trim(unbulleted(strings.TrimLeft(p.label, "> ")), "*_:： –—-")
			p.note.value(kind, p.label, rest)
			p.current, p.item = kind, -1
			if rest != "" && bulleted(line) {
				p.item = indent(line)
			}
			if rest != "" && (kind == partTags || kind == partSeverity || kind == partDate || kind == partName) {
				p.current = partNone
			}
			continue
		}
		if p.item >= 0 && bulleted(line) && indent(line) <= p.item {
			p.current, p.item = partNone, -1
		}
		switch p.current {
		case partTags, partSeverity, partDate, partName: // the value stands below its label
			if trimmed != "" {
				p.note.value(p.current, p.label, unbulleted(trimmed))
			}
			continue
		}
		p.note.add(p.current, line)
	}
}

// begin begins another lesson if a label opens one that the present lesson has
// already: notes often put one problem after the other.
func (p *partReader) begin(kind part, line int) {
	opens := kind == partContext || kind == partName
	if !opens || len(p.note.texts[partSolution])+len(p.note.texts[partPrevention])+len(p.note.texts[partAlternative]) == 0 {
		return
	}
	p.note.last = line - 1
	p.flush()
	p.title = ""
	p.path = p.note.path
	if p.note.title != "" && !slices.Contains(p.path, p.note.title) {
		p.path = append(slices.Clone(p.path), p.note.title)
	}
	p.start(line)
}

// ruled is the line below a table's head.
var ruled = lazyregexp.New(`^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$`)

// table reads a table whose head or first column are labels; any other stays text.
func (p *partReader) table(b block) bool {
	head, rows, ok := p.r.rows(b)
	if !ok {
		return false
	}
	labels := 0
	for _, cell := range head {
		if labelOf(cell) != partNone {
			labels++
		}
	}
	if labels >= 2 {
		for k, row := range rows {
			p.lessonOfRow(head, row, k == 0)
		}
		p.note.last = max(p.note.last, b.end-1)
		p.note.rows = true
		return true
	}
	rows = append([]tableRow{{cells: head}}, rows...)
	if len(head) != 2 || !slices.ContainsFunc(rows, func(row tableRow) bool { return labelOf(row.cells[0]) != partNone }) {
		return false
	}
	for _, row := range rows {
		name, value := row.cells[0], ""
		if len(row.cells) > 1 {
			value = row.cells[1]
		}
		if kind := labelOf(name); kind != partNone {
			p.note.value(kind, name, value)
		} else if name != "" || value != "" {
			p.note.add(partContext, strings.Trim(name+": "+value, ": "))
		}
	}
	return true
}

// tableRow is a row of a table, which may have fewer cells than the head, and the line that it stands in.
type tableRow struct {
	cells []string
	line  int
}

// rows takes a table apart; false if the block is none, or has a cell without a column.
func (r *notesReader) rows(b block) (head []string, rows []tableRow, ok bool) {
	for b.first < b.end && strings.TrimSpace(r.line(b.first)) == "" {
		b.first++
	}
	if b.end-b.first < 3 || !strings.Contains(r.line(b.first), "|") || !strings.Contains(r.line(b.first+1), "|") || !ruled.MatchString(r.line(b.first+1)) {
		return nil, nil, false
	}
	head = cells(r.line(b.first))
	for n := b.first + 2; n < b.end; n++ {
		if strings.TrimSpace(r.line(n)) == "" {
			continue
		}
		row := tableRow{cells(r.line(n)), n}
		if len(row.cells) > len(head) {
			return nil, nil, false
		}
		rows = append(rows, row)
	}
	return head, rows, true
}

// lessonOfRow makes a lesson of a row below labels. The first one also keeps
// what the head says of columns that are none.
func (p *partReader) lessonOfRow(head []string, row tableRow, first bool) {
	reading := &partReader{r: p.r, path: p.path}
	if p.title != "" {
		reading.path = append(slices.Clone(p.path), p.title)
	}
	reading.start(row.line)
	title := titleColumn(head, row.cells)
	if title >= 0 {
		reading.note.title = unmarked(row.cells[title])
	}
	for c, cell := range row.cells {
		switch kind := labelOf(head[c]); {
		case c == title:
			reading.note.labelled = true
		case cell == "" || c == 0 && kind == partNone && title < 0:
		case kind == partNone:
			reading.note.add(partContext, head[c]+": "+cell)
		default:
			reading.note.value(kind, head[c], cell)
		}
	}
	if first && title >= 0 && labelOf(head[title]) == partNone {
		reading.note.add(partContext, head[title]+": "+row.cells[title])
	}
	for c := len(row.cells); first && c < len(head); c++ {
		if labelOf(head[c]) == partNone {
			reading.note.add(partContext, head[c]+":")
		}
	}
	reading.flush()
}

// titleColumn is the column that names a row's lesson; −1 if there is none.
func titleColumn(head, row []string) int {
	title := slices.IndexFunc(head, func(cell string) bool { return lessonColumns()[labelWords(cell)] })
	if title >= 0 && title < len(row) && len(pieces(row[title])) > 0 {
		return title
	}
	if labelOf(head[0]) == partNone && row[0] != "" {
		return 0
	}
	return -1
}

// cells takes a row of a table apart.
func cells(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = strings.TrimSuffix(line, "|")
	}
	var list []string
	from := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '|':
			list = append(list, strings.TrimSpace(line[from:i]))
			from = i + 1
		}
	}
	return append(list, strings.TrimSpace(line[from:]))
}
