package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"skillrouter"
)

// tool describes a tool. What it needs and what it answers are the types of
// its function; the schemas say the same, which tests hold true.
type tool struct {
	name, title, description string
	set                      string // its toolset; empty: the core
	former                   string // the name of a toolset that it was in first, by which it is still switched on
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
		t.set = ToolsetCore
	}
	t.output = typed(t.output, reflect.TypeFor[Out]())
	run := func(ctx context.Context, arguments json.RawMessage) (any, string, error) {
		var in In
		if err := decode(arguments, t.input, &in); err != nil {
			return nil, "", err
		}
		answer, err := call(ctx, in)
		return answer.out, answer.text, err
	}
	s.tools[t.name] = offered{tool: t, call: run}
	s.offer(t)
}

// offer adds a tool to what the library lists and calls. What is in the core is
// read by every model at every turn, and so is listed without what a model has
// no use for: its title, which its name says too, and that its world is closed,
// which is half true of what other agents write.
func (s *Server) offer(t tool) {
	listed := &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.description,
		InputSchema: t.input, OutputSchema: t.output, Annotations: t.effect.annotations(),
	}
	if t.set == ToolsetCore {
		listed.Title, listed.OutputSchema, listed.Annotations.OpenWorldHint = "", brief(t.output), nil
	}
	s.mcp.AddTool(listed, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return s.answer(ctx, s.tools[t.name], req), nil
	})
}

// answer calls a tool for a session's request.
func (s *Server) answer(ctx context.Context, t offered, req *mcp.CallToolRequest) *mcp.CallToolResult {
	fields, text, err := t.call(context.WithValue(ctx, requestKey{}, req), req.Params.Arguments)
	if err != nil {
		if skillrouter.CodeOf(err) == skillrouter.Internal && ctx.Err() == nil {
			s.log.ErrorContext(ctx, "tool failed", "tool", t.name, "error", err)
		}
		s.tellFailure(ctx, req.Session, t.name, err)
		return failure(t.name, err)
	}
	return &mcp.CallToolResult{
		StructuredContent: fields,
		Content:           []mcp.Content{&mcp.TextContent{Text: text}},
	}
}

// requestKey is where a call's context holds the request that made it, for the
// few tools that are about the session itself.
type requestKey struct{}

// requestOf returns the request of a session that the call is made by; nil: it
// is made outside of any.
func requestOf(ctx context.Context) *mcp.CallToolRequest {
	req, _ := ctx.Value(requestKey{}).(*mcp.CallToolRequest)
	return req
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
	if err := skillrouter.CheckJSON(raw, reflect.TypeOf(in).Elem()); err != nil {
		return err
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
