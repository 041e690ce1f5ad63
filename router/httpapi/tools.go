package httpapi

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router"
)

// toolCall is a call of a tool.
type toolCall struct {
	Name  string        `path:"name" doc:"The tool's name"`
	Agent string        `query:"agent_id" doc:"Who the call is made as; default: the token's agent"`
	Text  bool          `query:"text" doc:"Answer the text for models too"`
	Body  ToolArguments `json:"body" sent:"all"`
}

// ToolArguments is an object of a tool's arguments, bare or as the member
// arguments. It is not described further: each tool has its own.
type ToolArguments struct{ json.RawMessage }

// Schema implements huma.SchemaProvider.
func (ToolArguments) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "The tool's arguments, bare or as the member arguments"}
}

// bare are the arguments without the member arguments around them.
func (a ToolArguments) bare() (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if len(a.RawMessage) == 0 {
		return json.RawMessage("{}"), nil
	}
	if json.Unmarshal(a.RawMessage, &members) != nil || members == nil {
		return nil, errs.Errorf(errs.Invalid, "the body must be an object")
	}
	inner, named := members["arguments"]
	if !named || len(members) > 1 || inner[0] != '{' && !bytes.Equal(inner, []byte("null")) {
		return a.RawMessage, nil
	}
	decoder, value := json.NewDecoder(bytes.NewReader(a.RawMessage)), json.RawMessage{}
	_, _ = decoder.Token() // the brace; the text was decoded once
	for count := 0; decoder.More(); count++ {
		if _, err := decoder.Token(); err != nil || decoder.Decode(&value) != nil || count > 0 {
			return nil, errs.InvalidField("arguments", "is there twice")
		}
	}
	return inner, nil
}

// ToolResult is what a tool answered.
type ToolResult struct {
	Success bool   `json:"success"` // true
	Result  any    `json:"result"`
	Text    string `json:"text,omitempty"`
}

// toolFailure is why a call of a tool failed. Clients of the gateway look at its member success.
type toolFailure struct{ error }

// Unwrap lets the error be told.
func (f toolFailure) Unwrap() error { return f.error }

// toolRoutes mounts the gateway over every tool of every toolset.
func (s *Server) toolRoutes(tools router.ToolService) {
	s.offer(tools, operation.Below("tools", "/api/tools",
		operation.Get("", "Every tool of every toolset, with the schemas of its arguments and its answer", func(t router.ToolService, ctx context.Context) ([]router.Tool, error) {
			if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
				return nil, err
			}
			return t.Tools(), nil
		}).Holds("tools"),
		operation.Post("/{name}", `Call a tool: {"arguments": {…}} or the bare arguments; answers {success, result} or {success: false, error}`, callTool),
	))
}

func callTool(tools router.ToolService, ctx context.Context, in toolCall) (ToolResult, error) { //nolint:revive // as a method
	arguments, err := in.Body.bare()
	if err != nil {
		return ToolResult{}, err
	}
	answer, err := tools.CallTool(ctx, router.ToolCall{Name: in.Name, Arguments: arguments, Agent: in.Agent})
	if err != nil {
		return ToolResult{}, toolFailure{err}
	}
	if !in.Text {
		answer.Text = ""
	}
	return ToolResult{Success: true, Result: answer.Fields, Text: answer.Text}, nil
}
