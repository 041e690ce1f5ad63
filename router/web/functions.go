package web

import (
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/router/feed"
)

// functions are what templates may call. All that they make is escaped like any text.
var functions = template.FuncMap{
	"asset":    func(name string) string { return embedded().path + "/" + name },
	"moment":   moment,
	"field":    func(form url.Values, name string) string { return form.Get(name) },
	"typed":    typed,
	"clip":     clip,
	"short":    short,
	"count":    count,
	"link":     link,
	"pathOf":   pathOf,
	"toldPath": toldPath, "momentPath": momentPath,
	"lower":   strings.ToLower,
	"decimal": decimal,
	"first": func(list string) string {
		one, _, _ := strings.Cut(list, ", ")
		return one
	},
	"share": share, "day": day, "whoPath": whoPath, "split": strings.Fields,
	"visible": func(fields []field) bool {
		return slices.ContainsFunc(fields, func(f field) bool { return f.Form != "hiddenBy" })
	},
	"sentence":  sentence,
	"tone":      tone,
	"words":     words,
	"dict":      dict,
	"liveTypes": liveTypes,
	"add":       func(a, b int) int { return a + b },
}

// liveTypes are the types of all events, as the pages' script reads them: a
// browser's EventSource hears an event that has a name only by its name.
var liveTypes = sync.OnceValue(func() string {
	var types []string
	for _, one := range feed.Types() {
		types = append(types, one.Type)
	}
	return strings.Join(types, " ")
})

// typed is what a field of a form says: what was sent and refused, or what an address fills in, else its own value.
func typed(form url.Values, f field) string {
	if form.Has(f.Name) && !f.Own {
		return form.Get(f.Name)
	}
	return f.Value
}

// stamp is a time as a page shows it.
type stamp struct {
	Machine string // RFC 3339, for the datetime attribute
	Full    string // for people, in UTC
	Ago     string // how long ago, or in how long
	Zero    bool
}

// moment prepares a time, or what a member says of one, for the part "time", seen from now.
func moment(now time.Time, of any) stamp {
	t, is := of.(time.Time)
	if !is {
		t, _ = time.Parse(time.RFC3339, asText(of)) // what is no time is none
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

// stampOf is a time as a member says it.
func stampOf(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// day is the day that a member says.
func day(said string) string {
	t, _ := time.Parse(time.RFC3339, said)
	return t.Format("Mon 2 Jan")
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

// clipped is a text that may be too long to be shown at once. Full is empty if Short is all of it.
type clipped struct{ Short, Full string }

// clip prepares a text for the part "text": at most max characters at first.
func clip(max int, text string) clipped {
	c := clipped{Short: short(max, text)}
	if c.Short != text {
		c.Full = text
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

// asText is a value as text; nil is empty.
func asText(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// count writes a whole number with thin groups: 12,345.
func count(value any) string {
	n, _ := strconv.ParseInt(fmt.Sprint(value), 10, 64) // what is no number is none
	return strings.Replace(humanize.Comma(n), "-", "−", 1)
}

// share writes a share as a whole per cent; empty: it is none.
func share(said string) string {
	n, err := strconv.ParseFloat(said, 64)
	if err != nil {
		return ""
	}
	return strconv.FormatFloat(100*n, 'f', 0, 64) + " %"
}

// decimal writes a number with two digits behind the point.
func decimal(said string) string {
	n, _ := strconv.ParseFloat(said, 64) // what is no number is none
	return strconv.FormatFloat(n, 'f', 2, 64)
}

// tone is the colour of a chip with this word: good, calm, warn, bad, or plain.
func tone(word any) string {
	for tone, words := range described().Tones {
		if slices.Contains(words, strings.ToLower(asText(word))) {
			return tone
		}
	}
	return "plain"
}

// words writes a name of a program for people: in_progress is "in progress".
func words(name any) string {
	if text := asText(name); text != "*" {
		return strings.ReplaceAll(text, "_", " ")
	}
	return "everybody"
}

// sentence is words with a capital.
func sentence(name any) string {
	text := words(name)
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// whoPath is the page of an agent of this name; empty: no agent can have it.
func whoPath(name string) string {
	if name == "" || check.AgentID("id", name) != nil {
		return ""
	}
	return pathOf("agent", name)
}

// dict makes a map for a part that takes more than one thing.
func dict(pairs ...any) map[string]any {
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		m[asText(pairs[i])] = pairs[i+1]
	}
	return m
}

// homes are the places of things, by their kinds.
var homes = sync.OnceValue(func() map[string]string {
	of := map[string]string{"knowledge": memoryPath, "fact": memoryPath, "episode": memoryPath, "procedure": memoryPath} // of the registry
	for _, t := range described().Things {
		of[t.Kind] = t.Place
	}
	return of
})

// pathOf is the page of a row; empty: there is none. Of a fact and a procedure the id may lack the persona.
func pathOf(of, id string) string {
	home := homes()[of]
	switch {
	case home == "" || id == "":
		return ""
	case (of == "fact" || of == "procedure") && !strings.Contains(id, "/"):
		id = check.DefaultPersona + "/" + id
	}
	return link(home, "kind", of, "id", id)
}
