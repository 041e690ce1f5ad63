package web

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/skillrouter/skillrouter/router/kind"
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
	object := gjson.ParseBytes(text)
	if !object.IsObject() {
		return nil, err
	}
	for name, value := range object.All() {
		m := member{Name: name.String(), Value: value.Raw}
		var list []string
		switch {
		case json.Unmarshal([]byte(value.Raw), &list) == nil:
			m.List, m.Value = list, strings.Join(list, ", ")
		case value.Type == gjson.String:
			m.Value = value.Str
			if m.At, err = time.Parse(time.RFC3339, m.Value); err == nil && m.At.IsZero() {
				m.Value = ""
			}
		case value.Raw == "false" || value.Raw == "{}":
			m.Value = ""
		}
		of = append(of, m)
	}
	return of, nil
}

// Say is what a member says, or the first of several that says something. A point leads into a member that is an object.
func (r record) Say(names string) string {
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
			return of.Say(inner)
		default:
			return r[i].Value
		}
	}
	return ""
}

// Rows are the elements of a member that is a list of objects.
func (r record) Rows(name string) (rows []record, err error) {
	var list []json.RawMessage
	if text := r.Say(name); text == "" || json.Unmarshal([]byte(text), &list) != nil {
		return nil, nil // it is no list
	}
	for _, one := range list {
		of, err := recordOf(one)
		if err != nil {
			return nil, err
		}
		rows = append(rows, of)
	}
	return rows, nil
}

// set has a member say something.
func (r *record) set(name, value string) {
	*r = append(slices.DeleteFunc(*r, func(m member) bool { return m.Name == name }), member{Name: name, Value: value})
}

// titled fills the members into a title, such as "#${number} ${title}".
func (r record) titled(pattern string) string { return strings.TrimSpace(os.Expand(pattern, r.Say)) }

// fits tells whether the members have what a condition wants, such as "status=pending,claimed;demoted!=true".
func (r record) fits(when string) bool {
	for one := range strings.SplitSeq(when, ";") {
		name, wanted, ok := strings.Cut(one, "=")
		if !ok {
			continue
		}
		name, not := strings.CutSuffix(name, "!")
		said := r.Say(name)
		if said == "0" { // a number that is none
			said = ""
		}
		is := func(one string) bool { return slices.Contains(strings.Split(wanted, ","), one) }
		if slices.ContainsFunc(strings.Split(said, ", "), is) == not { // of a list one of its texts
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
			f.Text = cmp.Or(share(m.Value), m.Value)
		case m.Name == "progress":
			f.Text += " %"
		case len(m.List) > 1:
			for i, one := range m.List {
				text, path := one, ""
				if i < mostNamed {
					text, path = v.named(m.Name, one)
				}
				f.Links = append(f.Links, shownFact{Text: text, Path: path, Code: f.Code})
			}
		default:
			f.Text, f.Path = v.named(m.Name, m.Value)
			if strings.ContainsAny(m.Value[:1], "{[") && json.Valid([]byte(m.Value)) {
				f.Text, f.Code = kind.Raw.Write([]byte(m.Value)), true
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

// named is what a member names, such as lesson_id: its title and its page, if it has them and is shown to whoever looks.
func (v *visit) named(name, value string) (title, path string) {
	kind := described().Names[name]
	if of, named := strings.CutSuffix(name, "_id"); kind == "" && named {
		kind = of[strings.LastIndex(of, "_")+1:]
	}
	t := v.server.things[kind]
	switch {
	case kind == "project" && v.server.services.Timeline != nil:
		return value, link(timelinePath, "project", value)
	case kind == "agent":
		return value, whoPath(value)
	case t == nil:
		return value, ""
	case t.Read == "" || t.Place == "":
		return value, pathOf(kind, value)
	}
	item, err := v.server.call(v, t.Read, value, nil, "")
	if err != nil { // some name one that is not there
		return value, ""
	}
	of, _ := recordOf(item) // of what has members
	return cmp.Or(of.titled(t.Title), value), pathOf(kind, value)
}

// toldPath is where a memory leads that an agent was told.
func toldPath(kind, id string) string {
	if kind == "rule" || kind == "guard" || strings.Contains(id, ":") && (kind == "lesson" || kind == "principle") { // a rule that came with the router has no lesson
		return link(guardPath, "kind", "check", "rule_id", id)
	}
	return pathOf(strings.Replace(kind, "principle", "lesson", 1), id)
}

// shownFact is a named field of a detail.
type shownFact struct {
	Name, Text, Path string
	At               time.Time
	Code             bool
	Links            []shownFact // of a list
}
