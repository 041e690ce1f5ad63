package exchange

import (
	"encoding/json"
	"strings"
	"time"
)

// thing is what another system wrote of one of its own: members of JSON, which are read for what they say. A number may stand
// for a text, JSON within a text for JSON, and what is not as it must be says nothing.
type thing map[string]json.RawMessage

// each yields what item makes of an object that is visited. What is none is refused.
func each(yield func(Item) bool, item func(place string, t thing) Item) func(place string, text json.RawMessage) bool {
	return func(place string, text json.RawMessage) bool {
		var t thing
		if err := json.Unmarshal(text, &t); err != nil || t == nil {
			return yield(Item{Place: place, Refused: "is no JSON object"})
		}
		return yield(item(place, t))
	}
}

// text is the first of these members that says something, as a text.
func (t thing) text(names ...string) string {
	for _, name := range names {
		value := t[name]
		var text string
		if len(value) > 0 && json.Unmarshal(value, &text) != nil && !strings.ContainsRune("{[", rune(value[0])) {
			text = string(value) // a number, or true
		}
		if strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// texts are those of a list, which may stand as JSON within a text; any other text is a list of one.
func (t thing) texts(name string) (texts []string) {
	value := t[name]
	if within := t.text(name); within != "" {
		value = json.RawMessage(within)
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil && t.text(name) != "" {
		return []string{t.text(name)}
	}
	for _, one := range list {
		if text := (thing{"": one}).text(""); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// things are the objects of a list.
func (t thing) things(name string) (list []thing) {
	_ = json.Unmarshal(t[name], &list) // what is no such list has none
	return list
}

// number is a whole number; 0 if there is none.
func (t thing) number(name string) (n int64) {
	_ = json.Unmarshal([]byte(t.text(name)), &n)
	return n
}

// at is the first of these members that says something, as a time.
func (t thing) at(names ...string) time.Time { return moment(t.text(names...)) }
