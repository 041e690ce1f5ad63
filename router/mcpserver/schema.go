package mcpserver

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// field is a property of an object's schema.
type field struct {
	name     string
	schema   *jsonschema.Schema
	required bool
}

// arguments makes the schema of a tool's input. That it takes no other fields
// is left unsaid, because every client reads the tool list into its model's
// context; decode says it to the one who needs to know.
func arguments(fields ...field) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, f := range fields {
		s.Properties[f.name] = f.schema
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if f.required {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

func value(kind, name, description string) field {
	return field{name: name, schema: &jsonschema.Schema{Type: kind, Description: description}}
}

func text(name, description string) field { return value("string", name, description) }

func boolean(name, description string) field { return value("boolean", name, description) }

func anObject(name, description string) field { return value("object", name, description) }

// integer is a whole number from lo to hi.
func integer(name, description string, lo, hi float64) field {
	f := value("integer", name, description)
	f.schema.Minimum, f.schema.Maximum = &lo, &hi
	return f
}

// upTo is a whole number whose range the description says, in fewer tokens than
// integer: for tools that every model reads.
func upTo(name, description string, hi int) field {
	return value("integer", name, fmt.Sprintf(description, hi))
}

// whole is a whole number that is not negative.
func whole(name, description string) field {
	f := value("integer", name, description)
	f.schema.Minimum = new(float64)
	return f
}

// number is a number from lo to hi.
func number(name, description string, lo, hi float64) field {
	f := value("number", name, description)
	f.schema.Minimum, f.schema.Maximum = &lo, &hi
	return f
}

// oneOf is a text that is one of the values.
func oneOf[T ~string](name, description string, values ...T) field {
	f := text(name, description)
	for _, v := range values {
		f.schema.Enum = append(f.schema.Enum, string(v))
	}
	return f
}

// arrayOf is a list of values of the kind.
func arrayOf(name, kind, description string) field {
	f := value("array", name, description)
	f.schema.Items = &jsonschema.Schema{Type: kind}
	return f
}

// texts is a list of texts.
func texts(name, description string) field { return arrayOf(name, "string", description) }

// severalOf is a list of some of the values.
func severalOf[T ~string](name, description string, values ...T) field {
	f := texts(name, description)
	f.schema.Items.Enum = oneOf(name, "", values...).schema.Enum
	return f
}

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

// required makes a field one that must be there.
func required(f field) field {
	f.required = true
	return f
}
