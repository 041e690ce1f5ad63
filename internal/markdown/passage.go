package markdown

import (
	"cmp"
	"strings"
)

// Passage is what is read as one: a paragraph with what it announces, an item of a list, a row of a table.
type Passage struct {
	Line, Last int
	Text       string // as it was written; an item's without its mark, a row's below the table's head
	Title      string // what it begins with, as plain text; empty: code alone
}

// Passages are the passages of a section. Code belongs to what stands before it. A list, a table or a quotation
// belongs to the sentence that announces it, and otherwise each item and each row stands for itself.
func (s Section) Passages() (all []Passage) {
	announced, listed := false, false
	join := func(b Block) {
		last := &all[len(all)-1]
		last.Last, last.Text = b.Last, last.Text+gap(last.Last, b)+b.Text
		if strings.HasSuffix(last.Title, ":") {
			last.Title = strings.TrimSpace(last.Title + " " + firstLine(b))
		}
	}
	for _, b := range s.Blocks {
		switch {
		case len(all) > 0 && (b.Kind == Code || announced && b.Kind != Paragraph):
			join(b)
			listed = listed || b.Kind == List
			announced = listed && b.Kind == Code // code may stand between the items
			continue
		case b.Kind == List:
			for _, item := range b.Parts {
				all = append(all, Passage{item.Line, item.Last, item.Text, itemTitle(item)})
			}
		case b.Kind == Table:
			for _, row := range b.Parts {
				if !row.Head || len(b.Parts) == 1 {
					all = append(all, Passage{row.Line, row.Last, row.Text, rowTitle(row)})
				}
			}
		case b.Kind == Code:
			all = append(all, Passage{b.Line, b.Last, b.Text, firstLine(b)})
		default:
			all = append(all, Passage{b.Line, b.Last, b.Text, Plain(cmp.Or(b.Own, b.Text))})
		}
		announced, listed = b.Kind == Paragraph && announces(b.Text), false
	}
	return all
}

// announces tells a sentence that announces what follows it: it ends with a colon, or is a heading in bold letters.
func announces(text string) bool {
	bare := strings.TrimRight(text, "*_ ")
	if strings.HasSuffix(bare, ":") {
		return true
	}
	inner := strings.TrimPrefix(text, "**")
	return len(inner) < len(text) && strings.HasSuffix(inner, "**") && !strings.Contains(strings.TrimSuffix(inner, "**"), "**")
}

// itemTitle is what an item begins with; one that announces has what it announces.
func itemTitle(item Block) string {
	title := Plain(item.Own)
	if rest := strings.TrimSpace(strings.TrimPrefix(item.Text, item.Own)); strings.HasSuffix(title, ":") && rest != "" {
		title += " " + firstLine(Block{Text: rest})
	}
	return title
}

// rowTitle is the first cells of a row that say something.
func rowTitle(row Block) string {
	var cells []string
	for _, cell := range row.Cells {
		if text := Plain(cell); text != "" && len(cells) < 2 {
			cells = append(cells, text)
		}
	}
	return strings.Join(cells, ": ")
}

// firstLine is the first line of a block that is text, without its marks.
func firstLine(b Block) string {
	for line := range strings.Lines(b.Text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			continue
		}
		if b.Kind == Table {
			line = strings.Join(strings.FieldsFunc(line, func(r rune) bool { return r == '|' }), " ")
		}
		if b.Kind != Code {
			line = Plain(Unmarked(strings.TrimLeft(line, "> ")))
		}
		if line = oneLine(line); line != "" {
			return line
		}
	}
	return ""
}

// Statements are the paragraphs and quotations of a section, and the items of its lists.
func (s Section) Statements() (all []Block) {
	for _, b := range s.Blocks {
		if b.Kind == Paragraph || b.Kind == Quote {
			b.Own = cmp.Or(b.Own, b.Text)
			all = append(all, b)
		}
	}
	return append(all, s.Items()...)
}

// Items are the items of a section's lists, however deep.
func (s Section) Items() (all []Block) {
	var walk func(blocks []Block)
	walk = func(blocks []Block) {
		for _, b := range blocks {
			if b.Kind == Item {
				all = append(all, b)
			}
			if b.Kind != Table {
				walk(b.Parts)
			}
		}
	}
	walk(s.Blocks)
	return all
}
