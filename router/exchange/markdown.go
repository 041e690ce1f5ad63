package exchange

import (
	"fmt"
	"path"
	"strings"

	"skillrouter/internal/lazyregexp"
	"skillrouter/learning/knowledge"
)

var (
	heading     = lazyregexp.New(`^(#{1,6})\s+(.*?)(?:\s+#+)?\s*$`)
	fence       = lazyregexp.New("^\\s*(```|~~~)")
	bullet      = lazyregexp.New(`^(?:[-*+]|\d{1,9}[.)])\s+(.*)$`)
	reference   = lazyregexp.New(`^@\S+$`)
	observation = lazyregexp.New(`^[-*+]\s+\[([^\[\]()]+)\]\s+(.+)$`)
	relation    = lazyregexp.New(`^[-*+]\s+(.*?)\s*\[\[([^\[\]]+)\]\]\s*(.*)$`)
	hashtag     = lazyregexp.New(`(?:^|\s)#([\p{L}\p{N}][\p{L}\p{N}_/-]*)`)
	context     = lazyregexp.New(`\s*\(([^()]*)\)\s*$`)
	linked      = lazyregexp.New(`!?\[([^\[\]]*)\]\([^()]*\)`)
	emphasis    = lazyregexp.New("\\*\\*|~~|`|(?:^|[\\s(])\\*+|\\*+(?:[\\s.,:;!?)]|$)")
	comment     = lazyregexp.New(`(?s)<!--.*?-->`)
	thematic    = lazyregexp.New(`^\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$`)
	moment0     = lazyregexp.New(`^\d[\d:.,\- ]*$`)
)

// frontMatter splits what stands between the dashes at a file's beginning from
// the rest. It is read as lines of "key: value", and lists in either form;
// nothing of YAML that refers, nests or repeats.
func frontMatter(text string) (fields map[string][]string, body string, skipped int) {
	fields = map[string][]string{}
	rest, begins := strings.CutPrefix(text, "---\n")
	if !begins {
		return fields, text, 0
	}
	head, body, ends := strings.Cut(rest, "\n---\n")
	if !ends {
		if head, ends = strings.CutSuffix(rest, "\n---"); !ends {
			return fields, text, 0
		}
		body = ""
	}
	key := ""
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
	return fields, body, strings.Count(head, "\n") + 3
}

func unquoted(text string) string { return strings.Trim(strings.TrimSpace(text), `"'`) }

func field(fields map[string][]string, name string) string {
	if values := fields[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// plain is a line of Markdown without its marks: the texts of its links, and no half of an emphasis or of a command.
func plain(text string) string {
	text = linked.ReplaceAllString(text, "$1")
	return strings.TrimSpace(emphasis.Compiled().ReplaceAllStringFunc(text, func(mark string) string { return strings.Trim(mark, "*~`") }))
}

// section is what stands under a heading.
type section struct {
	path  []string // the headings above it, and its own
	from  int      // its first line
	lines []string
}

func (s section) title() string {
	if len(s.path) == 0 {
		return ""
	}
	return s.path[len(s.path)-1]
}

// sections splits a text at its headings; what looks like one within a fence is none.
func sections(text string, first int) (all []section) {
	current, fenced := section{from: first}, false
	for n, l := range strings.Split(text, "\n") {
		if fence.MatchString(l) {
			fenced = !fenced
		}
		found := heading.FindStringSubmatch(l)
		if found == nil || fenced {
			current.lines = append(current.lines, l)
			continue
		}
		all = append(all, current)
		depth := len(found[1]) - 1
		above := current.path[:min(depth, len(current.path))]
		current = section{path: append(append([]string{}, above...), line(found[2])), from: first + n + 1}
	}
	return append(all, current)
}

func stem(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// readMarkdown makes an entry of each heading that has a text. A page of an
// export is the record that it was.
func readMarkdown(name, text string, o Options, yield func(Item) bool) bool {
	if item, is := readPage(name, text); is {
		return item.Place == "" || yield(item) // the index is no record
	}
	fields, body, skipped := frontMatter(text)
	seen := map[string]int{}
	for _, s := range sections(body, skipped+1) {
		content := strings.TrimSpace(strings.Join(s.lines, "\n"))
		if content == "" {
			continue
		}
		where := strings.Join(s.path, " > ")
		seen[where]++
		if !yield(knowledgeLine(fmt.Sprintf("%s:%d", name, s.from), knowledge.Knowledge{
			ID: o.idOf("markdown", name, where, fmt.Sprint(seen[where]), content), Category: field(fields, "category"), Title: first(plain(s.title()), field(fields, "title"), stem(name)),
			Content: content, Tags: fields["tags"], Source: strings.TrimSuffix(name+" "+where, " "), Project: field(fields, "project"),
			CreatedAt: moment(first(field(fields, "created"), field(fields, "date"))),
		}, o)) {
			return false
		}
	}
	return true
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

// readInstructions makes an entry of each bullet and each paragraph. A line
// that only refers to another file (@path) is told of and not followed.
func readInstructions(name, text string, o Options, yield func(Item) bool) bool {
	_, body, skipped := frontMatter(text)
	body = comment.Compiled().ReplaceAllStringFunc(body, func(gone string) string { return strings.Repeat("\n", strings.Count(gone, "\n")) })
	for _, s := range sections(body, skipped+1) {
		for _, p := range passages(s) {
			place := fmt.Sprintf("%s:%d", name, p.from)
			content := strings.TrimSpace(strings.Join(p.lines, "\n"))
			if reference.MatchString(content) {
				if !yield(Item{Place: place, Skipped: true, Refused: "refers to another file, which is not followed"}) {
					return false
				}
				continue
			}
			title := headline(plain(content))
			for _, l := range p.lines[min(1, len(p.lines)):] { // what announces says little without what it announces
				if said := plain(strings.TrimLeft(l, "-*+ \t")); said != "" && !fence.MatchString(l) && strings.HasSuffix(title, ":") {
					title += " " + headline(said)
				}
			}
			if s.title() != "" {
				title = plain(s.title()) + ": " + title
			}
			if !yield(knowledgeLine(place, knowledge.Knowledge{
				ID: o.idOf("claude-md", path.Base(name), strings.Join(s.path, " > "), content), Category: knowledge.CategoryBestPractice, Title: title,
				Content: content, Tags: []string{"instructions"}, Source: strings.TrimSpace(name + " " + strings.Join(s.path, " > ")),
			}, o)) {
				return false
			}
		}
	}
	return true
}

// passages splits a section into its bullets, with what is indented below each, its paragraphs and its fences. A paragraph that announces
// with a colon keeps the list or fence that follows it, and a bullet its fence.
func passages(s section) (all []section) {
	var current section
	fenced, inBullet, announced := false, false, false
	flush := func() {
		if strings.TrimSpace(strings.Join(current.lines, "")) != "" {
			all = append(all, current)
		}
		current, inBullet, announced = section{}, false, false
	}
	announces := func() bool { // no line of a passage is blank but within a fence, which ends with its mark
		last := len(current.lines) - 1
		return last >= 0 && strings.HasSuffix(strings.TrimRight(current.lines[last], "*_ "), ":")
	}
	for n, l := range s.lines {
		isFence := fence.MatchString(l)
		item := bullet.FindStringSubmatch(l)
		blank := strings.TrimSpace(l) == ""
		switch {
		case fenced:
		case isFence:
			announced = announced || announces()
		case reference.MatchString(strings.TrimSpace(l)):
			flush()
			all = append(all, section{from: s.from + n, lines: []string{l}})
			continue
		case thematic.MatchString(l):
			flush()
			continue
		case item != nil && !inBullet && (announced || announces()):
			announced = true
		case item != nil:
			flush()
			l, inBullet = item[1], true
		case blank && announces() && !announced: // what it announces is to come
			continue
		case blank:
			flush()
			continue
		case announces() && !announced && n > 0 && strings.TrimSpace(s.lines[n-1]) == "": // nothing came that it could have announced
			flush()
		}
		if isFence {
			fenced = !fenced
		}
		if len(current.lines) == 0 {
			current.from = s.from + n
		}
		current.lines = append(current.lines, strings.TrimRight(l, " \t"))
	}
	flush()
	return all
}

// readNote reads a note of Basic Memory: each observation is an entry with its
// category, tags and context; each relation one of a sentence; and the rest of the note one more.
func readNote(name, text string, o Options, yield func(Item) bool) bool {
	fields, body, skipped := frontMatter(text)
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
	fenced, rest := false, []string{}
	for n, l := range strings.Split(body, "\n") {
		if fence.MatchString(l) {
			fenced = !fenced
		}
		entry := common
		place, trimmed := fmt.Sprintf("%s:%d", name, skipped+n+1), strings.TrimSpace(l)
		found, related := observation.FindStringSubmatch(trimmed), relation.FindStringSubmatch(trimmed)
		switch {
		case !fenced && found != nil && isCategory(found[1]):
			said := found[2]
			note := ""
			if c := context.FindStringSubmatch(said); c != nil {
				said, note = strings.TrimSuffix(said, c[0]), c[1]
			}
			topics := append([]string{}, labels...)
			for _, tag := range hashtag.FindAllStringSubmatch(said, -1) {
				topics = append(topics, tag[1])
			}
			entry.Category, entry.Content, entry.Tags = strings.TrimSpace(found[1]), said, topics
			entry.Title = title + ": " + headline(hashtag.ReplaceAllString(said, ""))
			if note != "" {
				entry.Content += "\n\nContext: " + note
			}
			entry.ID = o.idOf("basic-memory", link, "observation", found[1], found[2])
		case !fenced && related != nil && !strings.HasPrefix(related[1], "["):
			kind := strings.Trim(first(related[1], "relates_to"), `"`)
			entry.Category, entry.Tags = "relation", append([]string{kind}, labels...)
			entry.Content = strings.TrimSpace(fmt.Sprintf("%s %s %s %s", title, strings.ReplaceAll(kind, "_", " "), related[2], related[3]))
			entry.Title = entry.Content
			entry.ID = o.idOf("basic-memory", link, "relation", kind, related[2])
		default:
			rest = append(rest, l)
			continue
		}
		if !yield(knowledgeLine(place, entry, o)) {
			return false
		}
	}
	entry := common
	if entry.Content = prose(rest); entry.Content == "" {
		return true
	}
	entry.ID, entry.Title, entry.Tags = o.idOf("basic-memory", link, "note", entry.Content), title, labels
	entry.Category = first(field(fields, "category"), "note")
	return yield(knowledgeLine(fmt.Sprintf("%s:%d", name, skipped+1), entry, o))
}

// isCategory tells a category from the box of a task and from a time.
func isCategory(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && text != "x" && text != "X" && !moment0.MatchString(text) && !(len(text) == 1 && strings.ContainsAny(text, "-/>?! "))
}

// prose is what is left of a note, without headings that nothing stands under.
func prose(lines []string) string {
	var kept []string
	for _, s := range sections(strings.Join(lines, "\n"), 1) {
		if text := strings.TrimSpace(strings.Join(s.lines, "\n")); text != "" {
			if s.title() != "" {
				kept = append(kept, s.title())
			}
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, "\n\n")
}
