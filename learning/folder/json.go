package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"skillrouter"
)

// encode is v as a file of JSON: indented, as people and diffs read it.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return nil, skillrouter.Wrap(skillrouter.Internal, err, "the file cannot be made")
	}
	return b.Bytes(), nil
}

// strict decodes one JSON value into v and refuses unknown and repeated names, and anything behind it.
func strict(text []byte, v any) error {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if err := unrepeated(json.NewDecoder(bytes.NewReader(text))); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}

// unrepeated reads one value and everything behind it, and refuses a name that stands twice in an object.
func unrepeated(decoder *json.Decoder) error {
	type level struct {
		names map[string]bool // of an object, nil of an array
		key   bool            // a name is next
	}
	var stack []level
	for values := 0; ; {
		tok, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			if values == 0 || len(stack) > 0 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		if err != nil {
			return err
		}
		if len(stack) == 0 {
			if values++; values > 1 {
				return errors.New("more than one JSON value")
			}
		}
		switch delim, _ := tok.(json.Delim); delim {
		case '{':
			stack = append(stack, level{map[string]bool{}, true})
			continue
		case '[':
			stack = append(stack, level{})
			continue
		case '}', ']':
			stack = stack[:len(stack)-1]
		default:
			if top := len(stack) - 1; top >= 0 && stack[top].key {
				name := tok.(string)
				if stack[top].names[name] {
					return fmt.Errorf("the name %q stands twice", name)
				}
				stack[top].names[name], stack[top].key = true, false
				continue
			}
		}
		if top := len(stack) - 1; top >= 0 && stack[top].names != nil {
			stack[top].key = true
		}
	}
}
