package folder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/strictjson"
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

// tolerant decodes one JSON value into a pointer, refuses repeated names, and returns
// the names that it has no field for, sorted, each with the names that lead to it.
func tolerant(text []byte, v any) (unknown []string, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if err := json.Unmarshal(text, v); err != nil {
		return nil, err
	}
	if err := strictjson.Check(text, reflect.TypeOf(v).Elem()); err != nil {
		return nil, errors.New(reason(err))
	}
	var given, known any
	again, err := json.Marshal(v)
	if err == nil {
		err = cmp.Or(json.Unmarshal(text, &given), json.Unmarshal(again, &known))
	}
	unknown = unknownNames(given, known, "")
	slices.Sort(unknown)
	return slices.Compact(unknown), err
}

// unknownNames lists the names within a decoded value that are not in what was made of it.
func unknownNames(given, known any, path string) (unknown []string) {
	switch given := given.(type) {
	case []any:
		list, _ := known.([]any)
		for i := range min(len(given), len(list)) {
			unknown = append(unknown, unknownNames(given[i], list[i], path)...)
		}
	case map[string]any:
		members, is := known.(map[string]any)
		for name, item := range given {
			if member, there := members[name]; there {
				unknown = append(unknown, unknownNames(item, member, path+name+".")...)
			} else if is {
				unknown = append(unknown, path+name)
			}
		}
	}
	return unknown
}
