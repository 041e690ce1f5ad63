package watch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"skillrouter/internal/check"
	"skillrouter/internal/safetext"
	"skillrouter/router/feed"
)

// told are the members of an event's data that a line shows, in this order, and what stands before each.
var told = []struct{ member, before string }{
	{"number", "#"},
	{"title", ""},
	{"key", ""},
	{"name", ""},
	{"pattern_name", ""},
	{"goal", ""},
	{"signal", ""},
	{"to_agent_id", "to "},
	{"from", ""},
	{"to", "→ "},
	{"current_task", ""},
	{"environment", ""},
	{"task", ""},
	{"patterns", ""},
	{"statement", ""},
	{"description", ""},
	{"summary", ""},
	{"outcome", ""},
	{"result", ""},
	{"rule_ids", "rule "},
	{"state", ""},
	{"by", "by "},
	{"reason", ": "},
	{"note", ": "},
	{"why", ": "},
	{"progress", "%"},
}

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
	if m.Kind != feed.KindBlock && m.Kind != feed.KindCheck {
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

// Line says in a line what an event tells. It holds nothing that a terminal would act on.
func Line(e feed.Event) string {
	kind := e.Type
	if e.Kind != "" {
		kind = e.Kind
	}
	var members map[string]any
	_ = json.Unmarshal(e.Data, &members) // an event without data tells that it happened
	var b strings.Builder
	switch members["decision"] {
	case "block":
		b.WriteString(blocked)
	case "warn":
		b.WriteString("warned")
	default:
		b.WriteString(strings.NewReplacer(".", " ", "_", " ").Replace(kind))
	}
	for _, t := range told {
		switch text := written(members[t.member]); {
		case text == "" || t.member == "progress" && text == "0":
		case t.before == "%":
			b.WriteString(" " + text + "%")
		case t.before == ": ":
			b.WriteString(t.before + text)
		default:
			b.WriteString(" " + t.before + text)
		}
	}
	return shown(b.String())
}

// written is a member of an event's data as text: a number, a text, or a list of texts.
func written(member any) string {
	switch member := member.(type) {
	case string:
		return member
	case float64:
		return fmt.Sprint(member)
	case []any:
		var texts []string
		for _, one := range member {
			texts = append(texts, written(one))
		}
		return strings.Join(texts, ", ")
	}
	return ""
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
	fmt.Fprintf(w, "%s  %s%s  %s\n", e.At.Local().Format(time.TimeOnly), who, where, Line(e))
}
