package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"skillrouter/operational"
)

// member is a field of a record.
type member struct {
	Name, Value string
	List        []string   // if it is a list of texts
	At          *time.Time // if it is a time
}

// membersOf are the members of a record in its own order, without those that are empty.
func membersOf(row any) (members []member, err error) {
	text, err := json.Marshal(row)
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
		if json.Unmarshal(value, &m.List) == nil {
			m.Value = strings.Join(m.List, ", ")
		} else if json.Unmarshal(value, &m.Value) != nil {
			m.Value = string(value)
		}
		if t, err := time.Parse(time.RFC3339, m.Value); err == nil && len(value) > 0 && value[0] == '"' {
			m.At = &t
		}
		if m.Value != "" && m.Value != "null" && m.Value != "[]" && m.Value != "{}" && m.Value != "0" && m.Value != "false" {
			members = append(members, m)
		}
	}
	return members, nil
}

// longFact is how long a field is, in characters, that stands before the others.
const longFact = 90

// facts are the members of a record as a detail shows them: what is long comes first, ids come last.
func (v *visit) facts(record any, without ...string) (facts []shownFact, err error) {
	members, err := membersOf(record)
	if err != nil {
		return nil, err
	}
	var rest, last []shownFact
	known := described()
	for _, m := range members {
		if slices.Contains(known.Silent, m.Name) || slices.Contains(without, m.Name) || v.principal().Walled() && slices.Contains(known.Apart, m.Name) {
			continue
		}
		f := shownFact{Name: cmp.Or(known.Labels[m.Name], sentence(m.Name)), Text: m.Value, Code: slices.Contains(known.Codes, m.Name)}
		switch {
		case m.At != nil:
			f.At, f.Text = *m.At, ""
		case slices.Contains(known.Shares, m.Name):
			if share, err := strconv.ParseFloat(m.Value, 64); err == nil {
				f.Text = percent(share)
			}
		case m.Name == "progress":
			f.Text += " %"
		case len(m.List) > 1:
			for _, one := range m.List {
				f.Links = append(f.Links, cell{Text: one, Path: v.memberPath(m.Name, one), Code: f.Code})
			}
		default:
			f.Path = v.memberPath(m.Name, m.Value)
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

// memberPath is the page of what a member names, such as lesson_id; empty: there is none.
func (v *visit) memberPath(name, value string) string {
	switch name {
	case "project":
		return v.server.timelineOf("project", value)
	case "previous", "inherited_by":
		return pathOf("session", value)
	case "session_id": // some name one that nobody began
		if v.server.services.Sessions == nil {
			return ""
		}
		if _, err := v.server.services.Sessions.Session(v.Context(), value); err != nil {
			return ""
		}
	case "lesson", "lesson_ids", "source_lesson_id", "source_case_ids":
		return pathOf("lesson", value)
	case "source_pattern_id":
		return pathOf("pattern", value)
	case "episode_ids":
		return pathOf("episode", value)
	case "author", "successor", "source_agent", "escalated_to", "agent", "created_by", "learned_by", "confirmed_by", "validated_by", "ended_by":
		return whoPath(value)
	}
	of, named := strings.CutSuffix(name, "_id")
	switch {
	case of == "agent" || strings.HasSuffix(of, "_agent"):
		return whoPath(value)
	case named && v.server.things[of] != nil:
		return pathOf(of, value)
	}
	return ""
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
		return link(guardPath, "kind", "check", "rule", item.ID)
	default:
		return pathOf(kind, item.ID)
	}
}
