package web

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"skillrouter/internal/check"
	"skillrouter/learning/history"
	"skillrouter/operational"
)

// functions are what templates may call. All that they make is escaped like any text.
var functions = template.FuncMap{
	"asset":        func(name string) (string, error) { return embedded().url(name) },
	"moment":       moment,
	"field":        func(form url.Values, name string) string { return form.Get(name) },
	"millis":       func(at time.Time) int64 { return at.UnixMilli() },
	"open":         func(status operational.EscalationStatus) bool { return status.Open() },
	"says":         history.Proposal.Says,
	"pickApproval": pickApproval, "pickMatter": pickMatter, "pickIncident": pickIncident, "pickProposal": pickProposal,
	"clip":       clip,
	"short":      short,
	"count":      count,
	"number":     number,
	"span":       span,
	"link":       link,
	"momentPath": momentPath, "toldPath": toldPath, "memoryPath": memoryPath,
	"whoPath":   whoPath,
	"toMember":  memberPath,
	"tone":      tone,
	"words":     words,
	"lines":     lines,
	"dict":      dict,
	"list":      func(items ...any) []any { return items },
	"has":       func(items []string, one string) bool { return slices.Contains(items, one) },
	"json":      compactJSON,
	"liveTypes": func() string { return liveTypes },
	"percent":   percent,
	"plural":    plural,
	"bytes":     size,
	"add":       func(a, b int) int { return a + b },
}

// stamp is a time as a page shows it.
type stamp struct {
	Machine string // RFC 3339, for the datetime attribute
	Full    string // for people, in UTC
	Ago     string // how long ago, or in how long
	Zero    bool
}

// moment prepares a time.Time or a *time.Time for the part "time", seen from now.
func moment(now time.Time, at any) stamp {
	var t time.Time
	switch one := at.(type) {
	case time.Time:
		t = one
	case *time.Time:
		if one != nil {
			t = *one
		}
	}
	if t.IsZero() {
		return stamp{Zero: true}
	}
	t = t.UTC()
	s := stamp{Machine: t.Format("2006-01-02T15:04:05.000Z"), Full: t.Format("2006-01-02 15:04:05") + " UTC"}
	if d := now.Sub(t); d >= 0 {
		s.Ago = span(d) + " ago"
	} else {
		s.Ago = "in " + span(-d)
	}
	return s
}

// span is a duration in its largest unit, as people say it.
func span(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if d >= unit.size {
			return strconv.Itoa(int(d/unit.size)) + " " + unit.name
		}
	}
	return "0 s"
}

// clipped is a text that may be too long to be shown at once.
type clipped struct {
	Short string
	Full  string // empty if Short is all of it
	Cut   int    // characters that Full lacks too
}

// maxFull bounds what "show all" shows, in characters: no field is longer, but for bulk content.
const maxFull = 100_000

// clip prepares a text for the part "text": at most max characters at first.
func clip(max int, text any) clipped {
	whole := asText(text)
	cut := short(max, whole)
	if cut == whole {
		return clipped{Short: whole}
	}
	c := clipped{Short: cut, Full: whole}
	if n := utf8.RuneCountInString(whole); n > maxFull {
		c.Full, c.Cut = string([]rune(whole)[:maxFull]), n-maxFull
	}
	return c
}

// short is a text's beginning: at most max characters, and "…" if that is not all.
func short(max int, text any) string {
	s := asText(text)
	n := 0
	for i := range s {
		if n == max {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// asText is a value of a string's kind, or of raw JSON, as text.
func asText(value any) string {
	switch one := value.(type) {
	case string:
		return one
	case json.RawMessage:
		return string(one)
	case fmt.Stringer:
		return one.String()
	case nil:
		return ""
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.String {
		return v.String()
	}
	return fmt.Sprint(value)
}

// count writes a whole number with thin groups: 12,345.
func count(value any) string {
	v := reflect.ValueOf(value)
	var digits string
	switch {
	case v.CanInt():
		digits = strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		digits = strconv.FormatUint(v.Uint(), 10)
	default:
		return fmt.Sprint(value)
	}
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "−", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// number writes a number with at most so many decimals.
func number(decimals int, value float64) string {
	s := strconv.FormatFloat(value, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// percent writes a share as a whole per cent.
func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 0, 64) + " %" }

// plural names a kind of memory as the head of a list.
func plural(kind string) string {
	if kind == "" {
		return ""
	}
	if kind != "knowledge" {
		kind += "s"
	}
	return strings.ToUpper(kind[:1]) + kind[1:]
}

// size writes a number of bytes in its largest unit.
func size(value any) string {
	v := reflect.ValueOf(value)
	var n float64
	switch {
	case v.CanInt():
		n = float64(v.Int())
	case v.CanUint():
		n = float64(v.Uint())
	default:
		return fmt.Sprint(value)
	}
	for _, unit := range []struct {
		size float64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size {
			return number(1, n/unit.size) + " " + unit.name
		}
	}
	return number(0, n) + " B"
}

// tones are the colours of chips by the word in them. The word is always there:
// no colour says anything alone.
var tones = map[string]string{
	"ok": "good", "healthy": "good", "online": "good", "completed": "good", "success": "good", "validated": "good", "canonical": "good", "confirmed": "good",
	"acked": "good", "accepted": "good", "resolved": "good", "active": "good", "pass": "good", "on": "good",
	"busy": "calm", "working": "calm", "in_progress": "calm", "claimed": "calm", "running": "calm", "read": "calm", "candidate": "calm", "emerging": "calm",
	"starting": "calm", "reviewed": "calm", "proposed": "calm", "partial": "warn",
	"allow": "plain", "stale": "warn", "blocked": "warn", "overdue": "warn", "warn": "warn", "degraded": "warn", "pause": "warn", "medium": "warn", "overridden": "warn", "high": "warn",
	"failed": "bad", "failure": "bad", "error": "bad", "stop": "bad", "block": "bad", "critical": "bad", "refused": "bad",
}

// tone is the colour of a chip with this word: good, calm, warn, bad, or plain.
func tone(word any) string {
	if t, ok := tones[strings.ToLower(asText(word))]; ok {
		return t
	}
	return "plain"
}

// words writes a name of a program for people: in_progress is "in progress".
func words(name any) string { return strings.ReplaceAll(asText(name), "_", " ") }

// whoPath is the page of an agent of this name; empty: no agent can have it.
func whoPath(name string) string {
	if name == "" || check.AgentID("id", name) != nil {
		return ""
	}
	return link(agentPath, "id", name)
}

func lines(text string) []string { return strings.Split(text, "\n") }

// dict makes a map for a part that takes more than one thing.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict takes pairs")
	}
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict takes names, not %T", pairs[i])
		}
		m[name] = pairs[i+1]
	}
	return m, nil
}

// compactJSON writes a value as JSON text, which is then escaped like any other.
func compactJSON(value any) (string, error) {
	text, err := json.MarshalIndent(value, "", "  ")
	return string(text), err
}
