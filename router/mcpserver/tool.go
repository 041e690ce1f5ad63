package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"skillrouter"
)

// tool describes a tool. What it needs and what it answers are the types of
// its function; the schemas say the same, which a test holds true. The schema
// of the answer is for programs, which have it from Tools: MCP's list is read
// by models, to whom it is a cost without a use.
type tool struct {
	name, title, description string
	set                      string // its toolset; empty: the default one
	input, output            *jsonschema.Schema
	effect                   effect
}

// effect is what calling a tool does, as its annotations say it.
type effect int

const (
	reads  effect = iota // changes nothing that anybody would miss
	adds                 // adds something; adding it again adds another
	ensure               // adds something once, however often it is called
	steers               // may end another agent's work
)

func (e effect) annotations() *mcp.ToolAnnotations {
	closed, destructive := false, e == steers
	a := &mcp.ToolAnnotations{ReadOnlyHint: e == reads, IdempotentHint: e == reads || e == ensure, OpenWorldHint: &closed}
	if e != reads { // the hint means nothing for what only reads
		a.DestructiveHint = &destructive
	}
	return a
}

// reply is what a tool answers: the fields for programs, the text for models.
type reply[Out any] struct {
	out  Out
	text string
}

// add offers a tool. A failed call is answered in words that a model can act
// on; the cause of what is not the caller's fault goes to the log.
func add[In, Out any](s *Server, t tool, call func(ctx context.Context, in In) (reply[Out], error)) {
	if t.set == "" {
		t.set = ToolsetDefault
	}
	run := func(ctx context.Context, arguments json.RawMessage) (any, string, error) {
		var in In
		if err := decode(arguments, t.input, &in); err != nil {
			return nil, "", err
		}
		answer, err := call(ctx, in)
		return answer.out, answer.text, err
	}
	s.tools[t.name] = offered{tool: t, call: run}
	s.mcp.AddTool(&mcp.Tool{
		Name: t.name, Title: t.title, Description: t.description,
		InputSchema: t.input, Annotations: t.effect.annotations(),
	}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fields, text, err := run(ctx, req.Params.Arguments)
		if err != nil {
			if skillrouter.CodeOf(err) == skillrouter.Internal && ctx.Err() == nil {
				s.log.ErrorContext(ctx, "tool failed", "tool", t.name, "error", err)
			}
			return failure(t.name, err), nil
		}
		return &mcp.CallToolResult{
			StructuredContent: fields,
			Content:           []mcp.Content{&mcp.TextContent{Text: text}},
		}, nil
	})
}

// decode reads a call's arguments. It refuses, by name, a parameter that is
// not the tool's, one that is missing, and one of the wrong type; ranges and
// choices are the services' to refuse.
func decode(raw json.RawMessage, schema *jsonschema.Schema, in any) error {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || bytes.Equal(trimmed, []byte("null")) {
		raw = json.RawMessage("{}")
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return skillrouter.InvalidField("arguments", "must be an object of the tool's parameters")
	}
	for name := range given {
		if _, known := schema.Properties[name]; !known {
			return skillrouter.InvalidField(shown(name), "is no parameter of this tool; it takes %s", strings.Join(schema.PropertyOrder, ", "))
		}
	}
	for _, name := range schema.Required {
		if value, ok := given[name]; !ok || bytes.Equal(value, []byte("null")) {
			return skillrouter.InvalidField(name, "is required")
		}
	}
	if err := json.Unmarshal(raw, in); err != nil {
		wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
		if !ok {
			return skillrouter.Wrap(skillrouter.Invalid, err, "the arguments could not be read")
		}
		name, _, _ := strings.Cut(wrong.Field, ".")
		got, _, _ := strings.Cut(wrong.Value, " ")
		return skillrouter.InvalidField(name, "must be %s, not %s", kind(schema.Properties[name]), article(got))
	}
	return nil
}

// shown makes a name that the caller chose fit for an error message.
func shown(name string) string {
	const most = 64 // longer than any parameter
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return visible(name)
}

func kind(s *jsonschema.Schema) string {
	if s == nil {
		return "of another type"
	}
	if s.Type == "array" && s.Items != nil {
		return "an array of " + s.Items.Type + "s"
	}
	return article(s.Type)
}

func article(noun string) string {
	switch noun {
	case "bool":
		noun = "boolean"
	case "":
		return "that"
	}
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// count says how many, in words that fit the number.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
