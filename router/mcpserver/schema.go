package mcpserver

import "github.com/google/jsonschema-go/jsonschema"

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

// texts is a list of texts.
func texts(name, description string) field {
	f := value("array", name, description)
	f.schema.Items = &jsonschema.Schema{Type: "string"}
	return f
}

// holds is the schema of an answer, in the fewest bytes: the fields that are
// always there. Their names say their types.
func holds(names ...string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Required: names}
}

// required makes a field one that must be there.
func required(f field) field {
	f.required = true
	return f
}
