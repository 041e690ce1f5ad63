package strictjson

import (
	"reflect"
	"strings"
)

// QueryName returns the name of a filter's field in a URL's query: its tag query or, without
// one, its tag json. It is empty if the field is not part of a query.
func QueryName(field reflect.StructField) string {
	if name := field.Tag.Get("query"); name != "" {
		return name
	}
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return strings.TrimPrefix(name, "-")
}
