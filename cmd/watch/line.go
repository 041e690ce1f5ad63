package watch

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"skillrouter/internal/check"
	"skillrouter/internal/safetext"
	"skillrouter/operational"
	"skillrouter/router/feed"
)

// blocked begins the line of what the guard stopped.
const blocked = "BLOCKED"

// MomentLine says in a line what happened. It holds nothing that a terminal would act on.
func MomentLine(m feed.Moment) string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if m.Kind == feed.KindBlock {
		add(blocked)
	}
	add(m.Verb)
	switch {
	case m.Withheld:
		add("(another agent's)")
	case m.Kind == feed.KindMessage && m.To == "":
		add("to everybody: " + m.Title)
	case m.Kind == feed.KindMessage:
		add("to " + m.To + ": " + m.Title)
	default:
		add(m.Title)
	}
	if m.Type == operational.EventTaskProgress || !slices.Contains([]string{feed.KindBlock, feed.KindCheck, feed.KindTask}, m.Kind) { // else the verb says it
		add(strings.ReplaceAll(m.State, "_", " "))
	}
	for i, item := range m.Items { // what was told, or the rule that stopped it: the first says what it is about
		if i == 0 && item.Title != "" {
			add("(" + item.Title + ")")
		}
	}
	text := strings.Join(parts, " ")
	if m.Detail != "" {
		text += ": " + m.Detail
	}
	return shown(text)
}

// Bounds of a text that is shown on one line, in characters.
const (
	maxShown = 1024 // more than the widest terminal has columns
	maxMarks = 4    // in a row: marks take no column, and a heap of them covers the lines around
)

// shown is a text on one line without anything that a terminal would act on.
func shown(text string) string {
	characters, marks := 0, 0
	for at, r := range text {
		if marks++; !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
		}
		if characters++; characters > maxShown || marks > maxMarks {
			text = text[:at] + "…"
			break
		}
	}
	return check.OneLine(safetext.Visible(text))
}

// cell is a text of whoever wrote it, in exactly width columns.
func cell(text string, width int) string { return fit(shown(text), width) }

// fit is a text that a terminal may be shown, in exactly width columns: cut with a mark, or filled up.
func fit(text string, width int) string {
	text = ansi.Truncate(text, width, "…")
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// WriteLine writes an event on a line of its own, for whoever has no terminal.
func WriteLine(w io.Writer, e feed.Event) {
	where := shown(e.Project)
	if where != "" {
		where = " in " + where
	}
	who := cmp.Or(shown(e.Agent), "-")
	fmt.Fprintf(w, "%s  %s%s  %s\n", e.At.Local().Format(time.TimeOnly), who, where, MomentLine(feed.Told(e)))
}
