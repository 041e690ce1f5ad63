package skillrouter

import (
	"reflect"
	"strings"
)

// QueryName is the name that a field of a filter has in the query of an
// address: its tag query says it, or else its tag json. It is empty if the field
// is no part of a query.
func QueryName(field reflect.StructField) string {
	if name := field.Tag.Get("query"); name != "" {
		return name
	}
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return strings.TrimPrefix(name, "-")
}
