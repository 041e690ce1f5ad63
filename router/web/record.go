package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"skillrouter/operational"
)

// record is an item by its members, in its own order, as JSON names them.
type record []member

// member is a field of a record. What is null, false, empty or no time has no value.
type member struct {
	Name, Value string
	List        []string // if it is a list of texts
	At          time.Time
}

func recordOf(item any) (of record, err error) {
	if had, ok := item.(record); ok {
		return had, nil
	}
	text, err := json.Marshal(item)
	if err != nil {
		return nil, err
	}
	read := json.NewDecoder(bytes.NewReader(text))
	if _, err := read.Token(); err != nil { // {
		return nil, err
	}
	for read.More() {
		name, err := read.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := read.Decode(&value); err != nil {
			return nil, err
		}
		m := member{Name: asText(name)}
		var list []string
		switch {
		case json.Unmarshal(value, &list) == nil:
			m.List, m.Value = list, strings.Join(list, ", ")
		case json.Unmarshal(value, &m.Value) == nil:
			at, err := time.Parse(time.RFC3339, m.Value)
			if m.At = at; err == nil && at.IsZero() {
				m.Value = ""
			}
		case string(value) != "false" && string(value) != "{}":
			m.Value = string(value)
		}
		of = append(of, m)
	}
	return of, nil
}

// say is what a member says, or the first of several that says something. A point leads into a member that is an object.
func (r record) say(names string) string {
	for name := range strings.SplitSeq(names, "/") {
		if fixed, ok := strings.CutPrefix(name, "="); ok {
			return fixed
		}
		name, inner, nested := strings.Cut(name, ".")
		i := slices.IndexFunc(r, func(m member) bool { return m.Name == name })
		switch {
		case i < 0 || r[i].Value == "":
		case nested:
			of, _ := recordOf(json.RawMessage(r[i].Value)) // it came of JSON, and what is no object has no members
			return of.say(inner)
		default:
			return r[i].Value
		}
	}
	return ""
}

// set has a member say something.
func (r *record) set(name, value string) {
	*r = append(slices.DeleteFunc(*r, func(m member) bool { return m.Name == name }), member{Name: name, Value: value})
}

// titled fills the members into a title, such as "#${number} ${title}".
func (r record) titled(pattern string) string { return strings.TrimSpace(os.Expand(pattern, r.say)) }

// fits tells whether the members have what a condition wants, such as "status=pending,claimed;demoted!=true".
func (r record) fits(when string) bool {
	for one := range strings.SplitSeq(when, ";") {
		name, wanted, ok := strings.Cut(one, "=")
		if !ok {
			continue
		}
		name, not := strings.CutSuffix(name, "!")
		said := r.say(name)
		if said == "0" { // a number that is none
			said = ""
		}
		if slices.Contains(strings.Split(wanted, ","), said) == not {
			return false
		}
	}
	return true
}

const (
	// longFact is how long a field is, in characters, that stands before the others.
	longFact = 90
	// mostNamed is how many rows of a list that names them are shown with their titles; each is a reading.
	mostNamed = 10
)

// facts are the members of an item as a detail shows them: what is long comes first, ids come last.
func (v *visit) facts(item any, without ...string) (facts []shownFact, err error) {
	of, err := recordOf(item)
	if err != nil {
		return nil, err
	}
	var rest, last []shownFact
	known := described()
	for _, m := range of {
		if m.Value == "" || m.Value == "0" || slices.Contains(known.Silent, m.Name) || slices.Contains(without, m.Name) || v.principal().Walled() && slices.Contains(known.Apart, m.Name) {
			continue
		}
		f := shownFact{Name: cmp.Or(known.Labels[m.Name], sentence(m.Name)), Text: m.Value, Code: slices.Contains(known.Codes, m.Name)}
		switch {
		case !m.At.IsZero():
			f.At, f.Text = m.At, ""
		case slices.Contains(known.Shares, m.Name):
			if share, err := strconv.ParseFloat(m.Value, 64); err == nil {
				f.Text = percent(share)
			}
		case m.Name == "progress":
			f.Text += " %"
		case len(m.List) > 1:
			for i, one := range m.List {
				c := cell{Text: one}
				if i < mostNamed {
					c = v.memberCell(m.Name, one)
				}
				c.Code = f.Code
				f.Links = append(f.Links, c)
			}
		default:
			c := v.memberCell(m.Name, m.Value)
			f.Text, f.Path = c.Text, c.Path
			if text := indented([]byte(m.Value)); text != "" && strings.ContainsAny(m.Value[:1], "{[") {
				f.Text, f.Code = text, true
			}
		}
		switch {
		case utf8.RuneCountInString(f.Text) > longFact && len(f.Links) == 0 || strings.Contains(f.Text, "\n"):
			facts = append(facts, f)
		case f.Path == "" && (m.Name == "number" || strings.HasSuffix(m.Name, "id")):
			last = append(last, f)
		default:
			rest = append(rest, f)
		}
	}
	return slices.Concat(facts, rest, last), nil
}

// memberCell is what a member names, such as lesson_id, with its title and its page, if it has them and is shown to whoever looks.
func (v *visit) memberCell(name, value string) cell {
	c, kind := cell{Text: value}, described().Names[name]
	if of, named := strings.CutSuffix(name, "_id"); kind == "" && named {
		kind = of[strings.LastIndex(of, "_")+1:]
	}
	t := v.server.things[kind]
	switch {
	case kind == "project" && v.server.services.Timeline != nil:
		c.Path = link(timelinePath, "project", value)
	case kind == "agent":
		c.Path = whoPath(value)
	case t != nil && t.Read != "" && t.Place != "":
		item, err := v.server.call(v, t.Read, value, nil, "")
		if err != nil { // some name one that is not there
			break
		}
		of, _ := recordOf(item) // of what has members
		c.Text, c.Path = cmp.Or(of.titled(t.Title), value), pathOf(kind, value)
	case t != nil:
		c.Path = pathOf(kind, value)
	}
	return c
}

// indented is JSON as people read it.
func indented(raw json.RawMessage) string {
	var text bytes.Buffer
	if json.Indent(&text, raw, "", "  ") != nil {
		return ""
	}
	return text.String()
}

// toldPath is where a memory leads that an agent was told.
func toldPath(item operational.ToldItem) string {
	switch kind := strings.Replace(item.Kind, "principle", "lesson", 1); {
	case kind == "rule", kind == "guard", strings.Contains(item.ID, ":") && kind == "lesson": // a rule that came with the router has no lesson
		return link(guardPath, "kind", "check", "rule_id", item.ID)
	default:
		return pathOf(kind, item.ID)
	}
}
