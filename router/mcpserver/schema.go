package mcpserver

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// holds is the schema of an answer, as far as a listing can bear it: the fields
// that are always there. Their types are those of the answer, see typed.
func holds(names ...string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Required: names}
}

// typed completes the schema of an answer with the types of the fields that
// it names. A field that the answer may leave out, or does not have, is no
// field that is always there: naming one is a mistake of this program's.
func typed(schema *jsonschema.Schema, answer reflect.Type) *jsonschema.Schema {
	if len(schema.Required) == 0 {
		return schema
	}
	schema.Properties = map[string]*jsonschema.Schema{}
	for _, field := range reflect.VisibleFields(answer) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		for _, required := range schema.Required {
			if name == required && !strings.Contains(options, "omit") && schema.Properties[name] == nil {
				schema.Properties[name] = &jsonschema.Schema{Type: typeName(field.Type)}
			}
		}
	}
	for _, name := range schema.Required {
		if schema.Properties[name] == nil {
			panic("the answer " + answer.String() + " has no field " + name + " that is always there")
		}
	}
	return schema
}

// brief is the schema of an answer without saying that its fields are always
// there: their names and types alone.
func brief(schema *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: schema.Type, Properties: schema.Properties}
}

// typeName is the JSON type that values of the Go type marshal to; empty if it
// may be one or another.
func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Time]():
		return "string"
	case reflect.TypeFor[json.RawMessage]():
		return ""
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "integer"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Map, reflect.Struct:
		return "object"
	default:
		return ""
	}
}
