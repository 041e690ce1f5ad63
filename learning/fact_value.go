package learning

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"skillrouter"
)

// maxFactDepth bounds how deep a value may be nested: what readers in other
// languages can take apart without running out of stack.
const maxFactDepth = 200

// cleanFactValue checks a value, takes its white space out, and cuts secrets
// out of its strings. Numbers, the order of members and everything else stay
// as they were written.
func cleanFactValue(raw json.RawMessage) (json.RawMessage, []string, error) {
	if text := bytes.TrimSpace(raw); len(text) == 0 || bytes.Equal(text, []byte("null")) {
		return nil, nil, skillrouter.InvalidField("value", "is required: any JSON but null, which stands for what is not there")
	}
	if !utf8.Valid(raw) {
		return nil, nil, skillrouter.InvalidField("value", "is not valid UTF-8")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, nil, skillrouter.InvalidField("value", "is not valid JSON")
	}
	if compact.Len() > MaxFactValue {
		return nil, nil, &skillrouter.Error{
			Code: skillrouter.TooLarge, Field: "value",
			Message: fmt.Sprintf("is %d bytes of JSON, and a fact holds at most %d: store it in a file, and in the fact where that is", compact.Len(), MaxFactValue),
		}
	}
	c := valueCleaner{field: "value", text: compact.Bytes()}
	if err := c.clean(); err != nil {
		return nil, nil, err
	}
	return c.result(), c.kinds, nil
}

// valueCleaner is one pass over the strings of a compact JSON text.
type valueCleaner struct {
	field  string // what the text is called in a refusal
	text   []byte
	out    []byte // what is cleaned so far, nil until something was cut out
	copied int    // text up to here is in out
	kinds  []string
	name   string // of the member whose value comes next
}

func (c *valueCleaner) clean() error {
	depth := 0
	for i := 0; i < len(c.text); i++ {
		switch c.text[i] {
		case '{', '[':
			if depth++; depth > maxFactDepth {
				return skillrouter.InvalidField(c.field, "is nested deeper than %d", maxFactDepth)
			}
			c.name = ""
		case '}', ']':
			depth--
			c.name = ""
		case ',':
			c.name = ""
		case '"':
			from := i
			for i++; c.text[i] != '"'; i++ {
				if c.text[i] == '\\' {
					i++
				}
			}
			isName := i+1 < len(c.text) && c.text[i+1] == ':'
			c.literal(from, i+1, isName)
		}
	}
	return nil
}

// literal looks for secrets in the string literal that stands from and before to.
func (c *valueCleaner) literal(from, to int, isName bool) {
	literal := c.text[from:to]
	text := string(literal[1 : len(literal)-1])
	if bytes.IndexByte(literal, '\\') >= 0 {
		if json.Unmarshal(literal, &text) != nil {
			return // it was valid before
		}
	}
	clean, kinds := skillrouter.Redact(text)
	switch {
	case isName:
		c.name = text
	case kinds == nil && c.name != "":
		// What is no secret by itself may be one by its member's name.
		if _, byName := skillrouter.Redact(c.name + "=" + quoted(text)); len(byName) > 0 {
			clean, kinds = "[redacted: "+byName[0]+"]", byName[:1]
		}
	}
	if kinds == nil {
		return
	}
	c.kinds = addKinds(c.kinds, kinds)
	encoded, err := json.Marshal(clean)
	if err != nil {
		return // strings cannot fail
	}
	c.out = append(append(c.out, c.text[c.copied:from]...), encoded...)
	c.copied = to
}

// quoted puts a text into the quotation marks that it does not hold itself.
func quoted(text string) string {
	for _, mark := range []string{`"`, "'", "`"} {
		if !strings.Contains(text, mark) {
			return mark + text + mark
		}
	}
	return text
}

func (c *valueCleaner) result() json.RawMessage {
	if c.out == nil {
		return c.text
	}
	return append(c.out, c.text[c.copied:]...)
}

func addKinds(kinds, more []string) []string {
	for _, kind := range more {
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
