package mcpserver

import (
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/strictjson"
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
			property := &jsonschema.Schema{Type: operation.JSONType(member.Type)}
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
