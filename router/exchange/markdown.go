package exchange

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/markdown"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/transfer"
)

var (
	reference   = lazyregexp.New(`^@\S+\s*$`)
	observation = lazyregexp.New(`(?s)^\[([^\[\]()]+)\]\s+(.+)$`)
	relation    = lazyregexp.New(`(?s)^(.*?)\s*\[\[([^\[\]]+)\]\]\s*(.*)$`)
	hashtag     = lazyregexp.New(`(?:^|\s)#([\p{L}\p{N}][\p{L}\p{N}_/-]*)`)
	context     = lazyregexp.New(`\s*\(([^()]*)\)\s*$`)
	moment0     = lazyregexp.New(`^\d[\d:.,\- ]*$`)
	gotchas     = lazyregexp.New(`(?i)\b(?:gotchas?|pitfalls?|caveats?|troubleshooting|known issues?)\b`)
)

// frontFields reads front matter as lines of "key: value", and lists in either form;
// nothing of YAML that refers, nests or repeats.
func frontFields(head string) map[string][]string {
	fields, key := map[string][]string{}, ""
	for l := range strings.SplitSeq(head, "\n") {
		if item, is := strings.CutPrefix(strings.TrimSpace(l), "- "); is && key != "" {
			fields[key] = append(fields[key], unquoted(item))
			continue
		}
		name, value, is := strings.Cut(l, ":")
		if !is || strings.HasPrefix(l, " ") {
			continue
		}
		key = strings.ToLower(strings.TrimSpace(name))
		value = strings.TrimSpace(value)
		if list, is := strings.CutPrefix(value, "["); is {
			for item := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
				fields[key] = append(fields[key], unquoted(item))
			}
		} else if value != "" {
			fields[key] = append(fields[key], unquoted(value))
		}
	}
	return fields
}

func unquoted(text string) string { return strings.Trim(strings.TrimSpace(text), `"'`) }

func field(fields map[string][]string, name string) string {
	if values := fields[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func stem(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// categoryOf is what the headings above a text say that it is; empty if they do not say.
func categoryOf(within []string) string {
	if slices.ContainsFunc(within, gotchas.MatchString) {
		return knowledge.CategoryGotcha
	}
	return ""
}

// readMarkdown makes an entry of each heading that has a text. A page of an
// export is the record that it was.
func readMarkdown(name, text string, o Options, yield func(Item) bool) bool {
	if item, is := readPage(name, text); is {
		return item.Place == "" || yield(item) // the index is no record
	}
	doc := markdown.Read([]byte(text))
	fields := frontFields(doc.Front)
	seen := map[string]int{}
	for _, s := range doc.Sections {
		content := s.Text()
		if content == "" {
			continue
		}
		where := strings.Join(s.Within(), " > ")
		seen[where]++
		if !yield(knowledgeLine(fmt.Sprintf("%s:%d", name, s.Line), knowledge.Knowledge{
			ID: o.idOf("markdown", name, where, fmt.Sprint(seen[where]), content), Category: first(field(fields, "category"), categoryOf(s.Within())), Title: first(s.Title, field(fields, "title"), stem(name)),
			Content: content, Tags: fields["tags"], Source: strings.TrimSuffix(name+" "+where, " "), Project: field(fields, "project"),
			CreatedAt: moment(first(field(fields, "created"), field(fields, "date"))),
		}, o)) {
			return false
		}
	}
	return prohibitions(name, doc, o, yield) && leftOut(name, doc, yield)
}

// isInstructions tells which files of a folder agents take their instructions from.
func isInstructions(name string) bool {
	base := strings.ToLower(path.Base(name))
	switch base {
	case "claude.md", "claude.local.md", "agents.md", "gemini.md", "memory.md", ".cursorrules", ".windsurfrules":
		return true
	}
	return strings.HasSuffix(base, ".md") && (strings.Contains(name, "memory/") || strings.Contains(name, "rules/"))
}

// readInstructions makes an entry of each passage. A line
// that only refers to another file (@path) is told of and not followed.
func readInstructions(name, text string, o Options, yield func(Item) bool) bool {
	doc := markdown.Read([]byte(text))
	for _, s := range doc.Sections {
		within := s.Within()
		near := within[max(0, len(within)-2):]
		if len(near) == 2 && len(within) == 2 { // the outer one is the file's own title
			near = near[1:]
		}
		for _, p := range s.Passages() {
			if p.Text = withoutReferences(name, p, yield); p.Text == "" {
				continue
			}
			if !yield(knowledgeLine(fmt.Sprintf("%s:%d", name, p.Line), knowledge.Knowledge{
				ID: o.idOf("claude-md", path.Base(name), strings.Join(within, " > "), p.Text), Category: first(categoryOf(within), knowledge.CategoryBestPractice),
				Title: strings.Trim(strings.Join(near, " > ")+": "+headline(p.Title), ": "), Content: p.Text, Tags: []string{"instructions"},
				Source: strings.TrimSpace(name + " " + strings.Join(within, " > ")),
			}, o)) {
				return false
			}
		}
	}
	return prohibitions(name, doc, o, yield) && leftOut(name, doc, yield)
}

// withoutReferences tells of the lines of a passage that only refer to another file, and returns the others. Within code they are code.
func withoutReferences(name string, p markdown.Passage, yield func(Item) bool) string {
	if !strings.Contains(p.Text, "@") || strings.Contains(p.Text, "```") {
		return p.Text
	}
	var kept []string
	for i, l := range strings.Split(p.Text, "\n") {
		if !reference.MatchString(markdown.Unmarked(l)) {
			kept = append(kept, l)
		} else if !yield(Item{Place: fmt.Sprintf("%s:%d", name, p.Line+i), Skipped: true, Refused: "refers to another file, which is not followed"}) {
			return "" // whoever reads has enough, and says so again
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// prohibitions proposes a rule for each heading and each statement that forbids a command.
func prohibitions(name string, doc markdown.Document, o Options, yield func(Item) bool) bool {
	for _, s := range doc.Sections {
		heading := markdown.Block{Line: s.Line, Own: s.Heading, Text: strings.TrimSpace(s.Heading + "\n\n" + s.Text())}
		for i, b := range append([]markdown.Block{heading}, s.Statements()...) {
			above := s.Within()
			if i == 0 {
				above = s.Path
			}
			d, forbids := lesson.Prohibition(b.Own, b.Text, "instructions", above)
			if !forbids {
				continue
			}
			if !yield(Item{Place: fmt.Sprintf("%s:%d", name, b.Line), Record: transfer.Record{Kind: router.KindLesson, Memory: &lesson.Lesson{
				ID: o.idOf("prohibition", path.Base(name), strings.Join(above, " > "), b.Own), Type: d.Type, Proposed: d.Proposed, Domain: d.Domain, Category: d.Category, Title: d.Title,
				Context: d.Context, Body: d.Body, Severity: d.Severity, Level: d.Level, Status: d.Status, Transferability: d.Transferability, RelatedCommands: d.RelatedCommands,
				Tags: tags(o.Tags), Project: o.Project, SourceAgent: o.Agent, Belief: lesson.Belief{InitialConfidence: *d.Confidence, DecayConstant: lesson.DecayConstant},
			}}}) {
				return false
			}
		}
	}
	return true
}

// leftOut refuses the lines that could not be read, and tells of what has no words.
func leftOut(name string, doc markdown.Document, yield func(Item) bool) bool {
	for _, l := range doc.Left {
		if l.Bad && !yield(Item{Place: fmt.Sprintf("%s:%d", name, l.Line), Refused: l.Why}) {
			return false
		}
	}
	return true
}

// readNote reads a note of Basic Memory: each observation is an entry with its
// category, tags and context; each relation one of a sentence; and the rest of the note one more.
func readNote(name, text string, o Options, yield func(Item) bool) bool {
	doc := markdown.Read([]byte(text))
	fields := frontFields(doc.Front)
	title := first(field(fields, "title"), stem(name))
	link := first(field(fields, "permalink"), name)
	common := knowledge.Knowledge{
		Source: "basic-memory " + link, CreatedAt: moment(first(field(fields, "created"), field(fields, "created_at"), field(fields, "date"))),
		UpdatedAt: moment(first(field(fields, "modified"), field(fields, "updated_at"))),
	}
	labels := []string{}
	for _, value := range fields["tags"] {
		labels = append(labels, strings.Split(value, ",")...)
	}
	if kind := field(fields, "type"); kind != "" && kind != "note" {
		labels = append(labels, kind)
	}
	from, rest := 0, []string{}
	for _, s := range doc.Sections {
		var kept []string
		for _, b := range s.Blocks {
			if b.Kind != markdown.List {
				kept = append(kept, b.Text)
				continue
			}
			var plain []string
			for _, item := range (markdown.Section{Blocks: []markdown.Block{b}}).Items() {
				entry := common
				switch found, related := observation.FindStringSubmatch(item.Own), relation.FindStringSubmatch(item.Own); {
				case found != nil && isCategory(found[1]):
					said, note := found[2], ""
					if c := context.FindStringSubmatch(said); c != nil {
						said, note = strings.TrimSuffix(said, c[0]), c[1]
					}
					entry.Tags = slices.Clone(labels)
					for _, tag := range hashtag.FindAllStringSubmatch(said, -1) {
						entry.Tags = append(entry.Tags, tag[1])
					}
					entry.Category, entry.Content = strings.TrimSpace(found[1]), said
					entry.Title = title + ": " + headline(hashtag.ReplaceAllString(said, ""))
					if note != "" {
						entry.Content += "\n\nContext: " + note
					}
					entry.ID = o.idOf("basic-memory", link, "observation", found[1], found[2])
				case related != nil && !strings.HasPrefix(related[1], "["):
					kind := strings.Trim(first(related[1], "relates_to"), `"`)
					entry.Category, entry.Tags = "relation", append([]string{kind}, labels...)
					entry.Content = strings.TrimSpace(fmt.Sprintf("%s %s %s %s", title, strings.ReplaceAll(kind, "_", " "), related[2], related[3]))
					entry.Title = entry.Content
					entry.ID = o.idOf("basic-memory", link, "relation", kind, related[2])
				default:
					plain = append(plain, "- "+item.Text)
					continue
				}
				if !yield(knowledgeLine(fmt.Sprintf("%s:%d", name, item.Line), entry, o)) {
					return false
				}
			}
			if plain != nil {
				kept = append(kept, strings.Join(plain, "\n"))
			}
		}
		if len(kept) > 0 {
			if from == 0 {
				from = s.Line
			}
			rest = append(rest, strings.TrimSpace(s.Title+"\n\n"+strings.Join(kept, "\n\n")))
		}
	}
	if len(rest) > 0 {
		entry := common
		entry.Content = strings.Join(rest, "\n\n")
		entry.ID, entry.Title, entry.Tags = o.idOf("basic-memory", link, "note", entry.Content), title, labels
		entry.Category = first(field(fields, "category"), "note")
		if !yield(knowledgeLine(fmt.Sprintf("%s:%d", name, from), entry, o)) {
			return false
		}
	}
	return leftOut(name, doc, yield)
}

// isCategory tells a category from the box of a task and from a time.
func isCategory(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && text != "x" && text != "X" && !moment0.MatchString(text) && !(len(text) == 1 && strings.ContainsAny(text, "-/>?! "))
}

// headline is the first sentence or line of a text that has no title, cut at a word if it is long.
func headline(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	for from := 0; ; {
		at := strings.Index(text[from:], ". ")
		if at < 0 {
			break
		}
		at += from
		if next := []rune(text[at+2:]); at > 0 && !unicode.IsDigit(rune(text[at-1])) && len(next) > 0 && !unicode.IsLower(next[0]) { // and not "e.g. this" or "1. that"
			text = text[:at+1]
			break
		}
		from = at + 2
	}
	text = line(text)
	if short := fitting(text, maxHeadline); short != text {
		if space := strings.LastIndexByte(short, ' '); space > maxHeadline/2 {
			short = short[:space]
		}
		return short + "…"
	}
	return text
}

// maxHeadline bounds a headline, in bytes.
const maxHeadline = 117
