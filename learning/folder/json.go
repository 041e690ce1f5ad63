package folder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"skillrouter/internal/errs"
)

// encode is v as a file of JSON: indented, as people and diffs read it.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return nil, errs.Wrap(errs.Internal, err, "the file cannot be made")
	}
	return b.Bytes(), nil
}

// strict decodes one JSON value into v and refuses unknown and repeated names, and anything behind it.
func strict(text []byte, v any) error {
	unknown, err := tolerant(text, v)
	if err == nil && len(unknown) > 0 {
		err = fmt.Errorf("unknown field %q", unknown[0])
	}
	return err
}

// tolerant is strict, but returns the names that v has no field for instead of refusing them.
func tolerant(text []byte, v any) (unknown []string, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if err := unrepeated(json.NewDecoder(bytes.NewReader(text))); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return nil, err
	}
	var whole any
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	return unknownNames(whole, reflect.TypeOf(v), ""), nil
}

// unknownNames lists the names within a decoded value that a type has no field
// for, sorted, each with the names that lead to it. What a type decodes by itself
// is its own concern.
func unknownNames(value any, t reflect.Type, path string) (unknown []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	switch value := value.(type) {
	case []any:
		if t.Kind() == reflect.Slice {
			for _, item := range value {
				unknown = append(unknown, unknownNames(item, t.Elem(), path)...)
			}
		}
	case map[string]any:
		if t.Kind() == reflect.Map {
			for name, item := range value {
				unknown = append(unknown, unknownNames(item, t.Elem(), path+name+".")...)
			}
		}
		if t.Kind() != reflect.Struct {
			break
		}
		for name, item := range value {
			field, known := t.FieldByNameFunc(func(f string) bool {
				field, _ := t.FieldByName(f)
				tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				return strings.EqualFold(cmp.Or(tag, f), name) && tag != "-"
			})
			if !known {
				unknown = append(unknown, path+name)
				continue
			}
			unknown = append(unknown, unknownNames(item, field.Type, path+name+".")...)
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown)
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
