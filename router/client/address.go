package client

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/strictjson"
)

// address is where a call goes.
type address struct {
	path  string
	query url.Values
	err   error // why there is no such place
}

// at is a path whose names in braces stand for ids, each of which becomes one
// segment. An empty id is refused under the name. The two names that paths
// themselves have are escaped too, or they would be cleaned away.
func at(path string, ids ...any) address {
	a := address{path: path}
	for _, id := range ids {
		before, rest, _ := strings.Cut(a.path, "{")
		name, after, _ := strings.Cut(rest, "}")
		text := fmt.Sprint(id)
		if text == "" && a.err == nil {
			a.err = errs.InvalidField(name, "is required")
		}
		if _, done := id.(escaped); !done {
			text = url.PathEscape(text)
		}
		if text == "." || text == ".." {
			text = strings.ReplaceAll(text, ".", "%2E")
		}
		a.path = before + text + after
	}
	return a
}

// escaped is an id that is a segment already.
type escaped string

// unlike is an id that stands where other paths have one of these names. If it
// is one of them itself, its first letter is escaped.
func unlike(id string, names ...string) any {
	if slices.Contains(names, id) {
		return escaped(fmt.Sprintf("%%%02X%s", id[0], id[1:]))
	}
	return id
}

// with asks by the fields of a filter, under the names that
// strictjson.QueryName gives them. Those that are zero are left out: the router's
// defaults hold for what is not said.
func (a address) with(filter any) address {
	v := reflect.ValueOf(filter)
	for _, field := range reflect.VisibleFields(v.Type()) {
		if name, value := strictjson.QueryName(field), v.FieldByIndex(field.Index); name != "" && !value.IsZero() {
			a = a.and(name, queryText(value))
		}
	}
	return a
}

// and asks by one parameter; an empty text is left out.
func (a address) and(name, text string) address {
	if text != "" {
		if a.query == nil {
			a.query = url.Values{}
		}
		a.query.Set(name, text)
	}
	return a
}

// queryText is a value as the router reads it.
func queryText(value reflect.Value) string {
	if value.Kind() == reflect.Pointer {
		value = value.Elem()
	}
	if value.Kind() == reflect.Slice {
		parts := make([]string, value.Len())
		for i := range parts {
			parts[i] = value.Index(i).String()
		}
		return strings.Join(parts, ",")
	}
	if t, ok := value.Interface().(time.Time); ok {
		return t.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(value.Interface())
}
