package mcpserver

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"skillrouter/internal/strictjson"

	"github.com/google/jsonschema-go/jsonschema"
)

// answerSchema is the schema of an answer, as far as a listing can bear it: the
// fields that are always there, with their types. A field that the answer may
// leave out, or does not have, is none: naming one is a mistake of this program's.
func answerSchema(answer reflect.Type, always []string) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "object", Required: always}
	if len(always) == 0 {
		return schema
	}
	schema.Properties = map[string]*jsonschema.Schema{}
	for _, member := range strictjson.Members(answer) {
		if slices.Contains(always, member.Name) && !strings.Contains(member.Options, "omit") {
			property := &jsonschema.Schema{Type: typeName(member.Type)}
			if property.Type == "" { // without anything in it, the schema would be true, which the official client refuses
				property.Description = "any JSON"
			}
			schema.Properties[member.Name] = property
		}
	}
	for _, name := range always {
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
