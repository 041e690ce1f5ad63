package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/safetext"
)

// cellWidth bounds a table's cells, in characters: a line should fit a terminal.
const cellWidth = 60

// print writes v as one line of JSON if programs read it, and otherwise what people has to say.
func (s *shell) print(v any, people func(w io.Writer)) error {
	if s.json {
		encoder := json.NewEncoder(s.out)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(v)
	}
	var page strings.Builder
	people(&page)
	text := safetext.Visible(page.String()) // whatever a page forgot to clean
	if s.colours() {
		text = painted(text)
	}
	_, err := io.WriteString(s.out, text)
	return err
}

// colours tells whether a person reads the output on a terminal that shows colours, and wants them.
func (s *shell) colours() bool {
	return isTerminal(s.out) && s.env("NO_COLOR") == "" && s.env("TERM") != "dumb" && s.env("TERM") != ""
}

// What a terminal is told to show a line's beginning in.
const (
	bold, red, green, yellow = "\x1b[1m", "\x1b[1;31m", "\x1b[32m", "\x1b[33m"
	plain                    = "\x1b[0m"
)

// painted is a page in colours: headings and titles are bold, what is bad is red. What stands in the page was cleaned
// before: no text of memory can bring colours of its own.
func painted(page string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		text := strings.TrimRight(line, "\n")
		colour, end := paint(text)
		if colour == "" {
			b.WriteString(line)
			continue
		}
		b.WriteString(colour + text[:end] + plain + text[end:] + line[len(text):])
	}
	return b.String()
}

// paint is the colour of a line and where it ends; none for most lines.
func paint(line string) (colour string, end int) {
	word, _, _ := strings.Cut(line, " ")
	switch strings.TrimRight(word, ".:") {
	case "":
		return "", 0
	case "BLOCKED", "FAIL":
		return red, len(word)
	case "Warned", "warn":
		return yellow, len(word)
	case "Allowed", "ok":
		return green, len(word)
	}
	if strings.ToUpper(line) == line && strings.ToLower(line) != line && strings.Contains(line, "  ") {
		return bold, len(line) // the headings of a table
	}
	if _, err := strconv.Atoi(strings.TrimSuffix(word, ".")); err == nil && strings.HasSuffix(word, ".") {
		if at := strings.LastIndex(line, "  ["); at > 0 {
			return bold, at // a hit's place and title
		}
	}
	return "", 0
}

// printOr prints v; if that is bad news, the exit code says so.
func (s *shell) printOr(bad bool, v any, people func(w io.Writer)) error {
	if err := s.print(v, people); err != nil || !bad {
		return err
	}
	return exitError(exitFailed)
}

// table writes rows under a heading, in columns.
func table(w io.Writer, heading []string, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(heading, "\t"))
	for _, row := range rows {
		for i, text := range row {
			row[i] = cell(text)
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	t.Flush()
}

// printIf prints a text by a format with one %s, unless there is none.
func printIf(w io.Writer, format, text string) {
	if text != "" {
		fmt.Fprintf(w, format, clean(text))
	}
}

// section is a longer text with its name.
type section struct{ name, text string }

// sections prints those that say something, each indented below its name.
func sections(w io.Writer, list ...section) {
	for _, s := range list {
		if s.text != "" {
			fmt.Fprintf(w, "\n%s\n", s.name)
			indented(w, s.text)
		}
	}
}

// fields prints names with their values, as two columns; those that are empty are left out.
func fields(w io.Writer, list ...section) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range list {
		if s.text != "" {
			fmt.Fprintf(t, "%s\t%s\n", s.name, cell(s.text))
		}
	}
	t.Flush()
}

// cell is one line of text, cut to what a column holds.
func cell(text string) string {
	text = strings.Join(strings.Fields(clean(text)), " ")
	if runes := []rune(text); len(runes) > cellWidth {
		text = string(runes[:cellWidth-1]) + "…"
	}
	if text == "" {
		return "-"
	}
	return text
}

// clean is a text on one line, in which nothing commands a terminal, cannot be seen on it, or passes for a model's or the
// program's own words: what agents wrote is not trusted to be harmless.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if check.BreaksLine(r) {
			return ' '
		}
		return r
	}, harmless(text))
}

// harmless is the same with the text's own lines.
func harmless(text string) string { return safetext.Unfenced(safetext.Visible(text)) }

// indented is a longer text under a heading.
func indented(w io.Writer, text string) {
	for line := range strings.Lines(strings.TrimSpace(harmless(text))) {
		fmt.Fprintf(w, "    %s\n", strings.TrimRight(line, "\n"))
	}
}

// ago says how long before now t was.
func ago(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	switch d := now.Sub(t); {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd ago", int(d.Hours()/24))
	}
}

// plural is a count with its noun.
func plural(n int, noun string) string {
	return fmt.Sprintf("%d %s", n, english.PluralWord(n, noun, ""))
}

// millis is a count of milliseconds as the router gives it.
func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// sorted lists a map's keys in order.
func sorted[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
