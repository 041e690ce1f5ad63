package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"skillrouter"
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
	_, err := io.WriteString(s.out, clean(page.String())) // whatever a page forgot to clean
	return err
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

// clean shows what in a text would command a terminal, or could not be seen on
// it: what agents wrote is not trusted to be harmless.
func clean(text string) string { return skillrouter.Visible(text) }

// indented is a longer text under a heading.
func indented(w io.Writer, text string) {
	for line := range strings.Lines(strings.TrimSpace(clean(text))) {
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
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// millis is a count of milliseconds as the router gives it.
func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// sorted lists a map's keys in order.
func sorted[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
