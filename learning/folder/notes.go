package folder

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/markdown"
	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// NotesCategory is the category of lessons that were read from notes.
const NotesCategory = "notes"

// MaxNotes bounds a file of notes, in bytes.
const MaxNotes = 4 << 20

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
// the outermost heading above them that names one. A heading with text below it is a
// lesson; labels such as Symptom, Cause, Fix and Prevention (see labels), as headings or
// words before a colon, say which part of it a text is. A short heading over a plain list is a
// topic, and each item a lesson, titled by both. Headings
// above a lesson become its tags. What forbids is a proposed rule. Ids depend on
// the headings and the title, so that the same notes give the same lessons.
func ReadNotes(source []byte, domain string) (Notes, error) {
	if len(source) > MaxNotes {
		return Notes{}, errs.Errorf(errs.TooLarge, "the notes are larger than %d bytes", MaxNotes)
	}
	doc := markdown.Read(source)
	r := &notesReader{lines: strings.Split(string(source), "\n"), sections: doc.Sections, domain: domain, ids: map[string]int{}, headings: map[string]bool{}}
	r.out = Notes{Lessons: []Note{}, Unread: []Unread{}}
	for _, l := range doc.Left {
		r.out.Unread = append(r.out.Unread, Unread{l.Line, check.Clip(l.Text, 200), l.Why})
	}
	for i := 0; i < len(r.sections); {
		i = r.section(i)
	}
	for _, s := range r.sections {
		switch {
		case s.Level == 0 || r.headings[s.Title]:
		case generic()[labelWords(s.Title)]:
			r.leave(s.Line, s.Below-1, "is a heading that names no subject")
		default:
			r.leave(s.Line, s.Below-1, "is a heading that no lesson stands under")
		}
	}
	slices.SortStableFunc(r.out.Unread, func(a, b Unread) int { return a.Line - b.Line })
	r.out.Unread = slices.CompactFunc(r.out.Unread, func(a, b Unread) bool { return a.Line == b.Line })
	slices.SortStableFunc(r.out.Lessons, func(a, b Note) int { return a.Line - b.Line })
	return r.out, nil
}

type notesReader struct {
	lines    []string
	sections []markdown.Section
	headings map[string]bool // that are in a lesson, or listed
	domain   string
	out      Notes
	ids      map[string]int
}

// section reads a section with the labels that follow it, and returns which comes next.
func (r *notesReader) section(i int) (next int) {
	s, title := r.sections[i], r.sections[i].Title
	next = i + 1
	label := 0 // the level of the label that a section stands under
	for ; next < len(r.sections) && r.sections[next].Level > s.Level && s.Level > 0; next++ {
		if below := r.sections[next]; labelOf(below.Title) != partNone && (label == 0 || below.Level <= label) {
			label = below.Level
		} else if label == 0 || below.Level <= label {
			break
		}
	}
	over := next < len(r.sections) && r.sections[next].Level > s.Level // other headings stand below this one
	switch plain := next == i+1 && !hasLabel(s); {
	case s.Level > 0 && instructions()[labelWords(title)]:
		for next < len(r.sections) && r.sections[next].Level > s.Level {
			next++
		}
		r.leave(s.Line, r.sections[next-1].Last, "tells how such notes are written")
	case len(s.Blocks) == 0 && next == i+1: // a topic, or nothing
	case furniture(s) != "":
		r.leave(s.Line, r.sections[next-1].Last, furniture(s))
	case plain && s.Level == 0 && len(r.sections) > 1:
		r.leave(s.Line, s.Last, "stands before the first heading")
	case plain && over && (s.Level == 1 && i < 2 || generic()[labelWords(title)]):
		r.leave(s.Blocks[0].Line, s.Last, "introduces the lessons below it")
	default:
		r.lessons(s, r.sections[i+1:next], over)
	}
	return next
}

// topicWords is the most words of a heading over a plain list whose items are
// lessons; a longer heading says something itself, and the list is its text.
const topicWords = 3

// lessons makes one or more lessons of a section and the labels that follow it.
func (r *notesReader) lessons(s markdown.Section, labels []markdown.Section, over bool) {
	path := slices.DeleteFunc(slices.Clone(s.Path), func(title string) bool { return len(pieces(title)) == 0 || generic()[labelWords(title)] })
	label, within := labelOf(s.Title), path
	if over || len(labels) > 0 {
		label = partNone // such as "Issues", over others
	}
	if s.Title != "" && label == partNone && !generic()[labelWords(s.Title)] {
		within = append(slices.Clone(path), s.Title)
	}
	lists := !slices.ContainsFunc(s.Blocks, func(b markdown.Block) bool { return b.Kind != markdown.List })
	topic := lists && len(labels) == 0 && label == partNone && len(strings.Fields(s.Title)) <= topicWords
	if (topic || s.Level == 0) && !hasLabel(s) {
		for _, p := range s.Passages() {
			n := r.begin(opening(p.Text), within, p.Line)
			if n.said, n.last = p.Text, p.Last; topic && len(within) > len(path) {
				n.topic = s.Title
			}
			n.add(partContext, p.Text)
			n.flush()
		}
		return
	}
	n := r.begin(s.Title, path, s.Line)
	n.said = s.Heading
	if label != partNone {
		n.title, n.said, n.labels = "", "", []string{s.Title}
		n.label(label, "")
	}
	n.blocks(s.Blocks)
	for _, below := range labels {
		n.labels = append(n.labels, below.Title)
		if kind := labelOf(below.Title); kind != partNone {
			n.label(kind, "")
		} else {
			n.add(n.current, strings.Repeat("#", below.Level)+" "+below.Heading)
		}
		n.last = below.Line
		n.blocks(below.Blocks)
	}
	n.flush()
	for _, item := range s.Statements() { // beside the lesson that they are part of
		if commands := act.Forbidden(item.Own); len(commands) > 0 {
			n := r.begin(opening(item.Own), within, item.Line)
			n.said, n.last = item.Own, item.Last
			n.add(partContext, item.Text)
			n.flush()
		}
	}
}

// leave lists the lines of a range as unread.
func (r *notesReader) leave(from, last int, why string) {
	for n := from; n <= min(last, len(r.lines)); n++ {
		if text := strings.TrimSpace(r.lines[n-1]); text != "" {
			r.out.Unread = append(r.out.Unread, Unread{n, check.Clip(text, 200), why})
		}
	}
}

// hasLabel tells whether a label stands in a section's own text.
func hasLabel(s markdown.Section) bool {
	for _, b := range s.Blocks {
		for line := range strings.Lines(b.Text) {
			if _, _, is := labelled(line); is && b.Kind != markdown.Code && b.Kind != markdown.HTML && b.Kind != markdown.Table {
				return true
			}
		}
	}
	return false
}

// generic are headings that name a file and no subject, instructions those over what tells how to write such notes, and fileWords words of headings
// that name a file of notes or a part of it.
var (
	generic      = wordlist.Phrases(wordsText, "no subjects")
	instructions = wordlist.Phrases(wordsText, "instructions")
	fileWords    = wordlist.Phrases(wordsText, "names of files")
)

// placeholder is what a template has in place of a text. contents is an item of a table of contents: a link within the file, and nothing else.
var (
	placeholder = lazyregexp.New(`^[\s>*_#|-]*(?:[\p{L} /]{1,40}:)?[\s*_]*(?:\[[^\]()]{2,60}\]|<[^<>/!][^<>/]{1,59}>|\{[^{}]{2,60}\}|YYYY-MM-DD|\.\.\.|…)[\s*_|]*$`)
	contents    = lazyregexp.New(`^\s*(?:[-*+]|\d+[.)])\s+\[[^\]]+\]\(#[^)]*\)\s*$`)
)

// furniture tells why a section is no lesson but part of the file's own furniture; "" if it is one.
func furniture(s markdown.Section) string {
	lines, links, places := 0, 0, 0
	for text := range strings.Lines(s.Text()) {
		if text = strings.TrimSpace(text); text != "" {
			lines++
		}
		if contents.MatchString(text) {
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

// part is a part of a lesson that a label can name.
type part int

const (
	partNone part = iota
	partContext
	partCause
	partSolution
	partAlternative
	partPrevention
	partAction
	partOutcome
)

// partNames are the parts as words.txt names them.
var partNames = map[part]string{
	partContext: "context", partCause: "cause", partSolution: "solution", partAlternative: "alternative", partPrevention: "prevention", partAction: "action",
	partOutcome: "outcome",
}

// labels are the words that name a part of a lesson, in lower case.
var labels = sync.OnceValue(func() map[string]part {
	all := map[string]part{}
	for p, name := range partNames {
		for _, words := range wordlist.Lines(wordsText, "labels of "+name) {
			all[words] = p
		}
	}
	return all
})

// ordinal is the number of a heading, such as "2. Cause".
var ordinal = lazyregexp.New(`^\d{1,3}[.)]\s+`)

// labelOf is the part that a heading names as a whole.
func labelOf(title string) part {
	return labels()[labelWords(title)]
}

// labelWords is a text as labels are compared: without case, marks and what stands around the words.
func labelWords(s string) string {
	s = strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '(' && r != ')' })
	s = ordinal.ReplaceAllString(s, "")
	s = strings.TrimSuffix(s, "(s)")
	s = strings.Map(func(r rune) rune {
		if r == '*' || r == '_' || r == '`' {
			return -1
		}
		return r
	}, s)
	return strings.ToLower(strings.Join(strings.Fields(s), " "))
}

// labelLine is a line that may begin with a label: marks of emphasis, up to 48 bytes of words, and a colon; or, if they are emphasised, a dash or nothing.
var labelLine = lazyregexp.New(`^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?)?([*_]*)([^:：*_]{1,48}?)(?:[*_]*\s*[:：][*_]*|([*_]+)\s*(?:[–—-]|$))\s*(.*)$`)

// labelled takes a line apart that begins with a label: "**Fix:** text",
// "- Fix: text", "**Fix** – text", or an emphasised label alone.
func labelled(line string) (p part, rest string, ok bool) {
	found := labelLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
	if found == nil || found[1] == "" && found[3] != "" {
		return partNone, "", false
	}
	p, ok = labels()[labelWords(found[2])]
	return p, strings.TrimSpace(found[4]), ok
}

// bulleted tells whether a line begins an item of a list.
func bulleted(line string) bool {
	return len(markdown.Unmarked(line)) < len(strings.TrimLeft(line, " \t"))
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
