package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// record is an object of JSON: its members in their order.
type record []*member

// member is a member of an object. Its value is JSON, or the things that it holds.
type member struct {
	name   string
	value  json.RawMessage
	things []record // objects: one, or those of a list; nil: the value is neither
	list   bool
}

// newRecord is a value as JSON has it, without the members of these names. If there are such, its things lose their empty ones too.
func newRecord(of any, without []string) (r record, err error) {
	if err := json.Unmarshal(encoded(of), &r); err != nil {
		return nil, err
	}
	r = slices.DeleteFunc(r, func(m *member) bool { return slices.Contains(without, m.name) })
	for _, m := range r {
		if m.name == "notice" {
			m.name = "degraded" // what its search could not do: the answer's notice is another
		}
		var list []record
		var one record
		switch m.list = m.value[0] == '['; {
		case m.list && json.Unmarshal(m.value, &list) == nil:
			m.things = list
		case json.Unmarshal(m.value, &one) == nil:
			m.things = []record{one}
		}
		for i := range m.things {
			m.things[i] = slices.DeleteFunc(m.things[i], func(m *member) bool {
				empty := m.name != "agent_id" && (string(m.value) == `""` || string(m.value) == "[]")
				return slices.Contains(without, m.name) || len(without) > 0 && empty
			})
		}
	}
	return r, nil
}

// encoded is a value as JSON. The texts of this program can always be written.
func encoded(value any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return bytes.TrimSpace(b.Bytes())
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *record) UnmarshalJSON(text []byte) error {
	object := gjson.ParseBytes(text)
	if !object.IsObject() {
		return errors.New("this is no object")
	}
	*r = record{}
	for name, value := range object.All() {
		*r = append(*r, &member{name: name.String(), value: json.RawMessage(value.Raw)})
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (r record) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, m := range r {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, encoded(m.name)...), ':')
		switch {
		case len(m.things) == 0:
			text = append(text, m.value...)
		case m.list:
			text = append(text, encoded(m.things)...)
		default:
			text = append(text, encoded(m.things[0])...)
		}
	}
	return append(text, '}'), nil
}

// things are the objects in a record.
func (r record) things() (all []*record) {
	for _, m := range r {
		for i := range m.things {
			all = append(all, &m.things[i])
		}
	}
	return all
}

// listed are the objects of its lists.
func (r record) listed() []*record {
	return slices.DeleteFunc(slices.Clone(r), func(m *member) bool { return !m.list }).things()
}

// found is how many objects an answer is about: those of its lists, if it has any.
func (r record) found() int {
	if slices.ContainsFunc(r, func(m *member) bool { return m.list }) {
		return len(r.listed())
	}
	return len(r.things())
}

// member is the member of a name that says something; nil: there is none.
func (r record) member(name string) *member {
	at := slices.IndexFunc(r, func(m *member) bool { return m.name == name && m.said() != "" })
	if at < 0 {
		return nil
	}
	return r[at]
}

// fit cuts the values that together are too long for one answer, says of each record how much of it is missing, and tells whether any is.
func (r *record) fit() (isCut bool) {
	all := append(r.things(), r)
	var lengths []int
	for _, one := range all {
		for _, m := range *one {
			lengths = append(lengths, len(m.value))
			if m.things != nil {
				lengths[len(lengths)-1] = 0 // these are measured by themselves
			}
		}
	}
	given := shares(lengths)
	for _, one := range all {
		missing := 0
		for _, m := range *one {
			if most := given[0]; m.things == nil && most < len(m.value) {
				text := m.text()
				if m.value[0] != '"' {
					m.name += "_cut" // half a JSON is none
				}
				m.value = encoded(check.Head(text, most))
				missing += max(0, len(text)-most)
			}
			given = given[1:]
		}
		one.cut(missing)
		isCut = isCut || missing > 0
	}
	return isCut
}

// cut says how many bytes of a record are missing.
func (r *record) cut(missing int) {
	if missing > 0 {
		*r = append(*r, &member{name: "cut_bytes", value: encoded(missing)})
	}
}

// text is a value as people read it.
func (m *member) text() (text string) {
	var number float64
	switch {
	case json.Unmarshal(m.value, &text) == nil:
		return text
	case bytes.Contains(m.value, []byte(".")) && json.Unmarshal(m.value, &number) == nil:
		return strconv.FormatFloat(number, 'g', 4, 64)
	}
	return string(m.value)
}

// said is a value as people read it, if it says anything.
func (m *member) said() string {
	switch text := m.text(); text {
	case "null", "[]", "{}", "0001-01-01T00:00:00Z":
		return ""
	default:
		return text
	}
}

// text is a record as a model reads it: a member a line, and what belongs to a member deeper than that one. So no text passes for a member.
func (r record) text() string {
	var lines []string
	for _, m := range r {
		text := m.said()
		if m.things != nil {
			text = ""
		}
		for i, one := range m.things {
			mark := ""
			if m.list {
				mark = fmt.Sprintf("%d. ", i+1)
			}
			text += "\n" + mark + strings.ReplaceAll(one.text(), "\n", "\n"+strings.Repeat(" ", len(mark)))
		}
		if text != "" {
			lines = append(lines, check.OneLine(m.name)+": "+strings.ReplaceAll(text, "\n", "\n  "))
		}
	}
	return strings.Join(lines, "\n")
}

var texts = lazyregexp.New(`"(?:[^"\\]|\\.)*"`)

// harmless tells whether all of a record is numbers and words, as this program names states and kinds: it can be said outside of a fence.
func (r record) harmless() bool {
	return !slices.ContainsFunc(texts.FindAllString(string(encoded(r)), -1), func(text string) bool {
		return len(text) > 42 || strings.Trim(text, `"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.-`) != ""
	})
}
