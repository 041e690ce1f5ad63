package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/router"
)

// ToolList is the answer of GET /api/tools.
type ToolList struct {
	Tools []router.Tool `json:"tools"`
	Count int           `json:"count"`
}

// toolCall is a call of a tool.
type toolCall struct {
	Name  string         `path:"name" doc:"The tool's name"`
	Agent string         `query:"agent_id" doc:"Who the call is made as; default: the token's agent"`
	Text  bool           `query:"text" doc:"Answer the text for models too"`
	Body  *ToolArguments `required:"false"`
}

// ToolArguments is an object of a tool's arguments, bare or as the member
// arguments. It is not described further: each tool has its own.
type ToolArguments struct{ raw json.RawMessage }

// Schema implements huma.SchemaProvider.
func (*ToolArguments) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "The tool's arguments, bare or as the member arguments"}
}

// UnmarshalJSON keeps the member arguments, if that is all there is and an
// object, or the whole.
func (a *ToolArguments) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	a.raw = bytes.Clone(text)
	if inner, ok := members["arguments"]; ok && len(members) == 1 && (inner[0] == '{' || bytes.Equal(inner, []byte("null"))) {
		a.raw = bytes.Clone(inner)
		return a.alone(text)
	}
	return nil
}

// alone refuses an object that has the member arguments twice. What is in them is for the tool to check.
func (a *ToolArguments) alone(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	_, _ = decoder.Token() // the brace; the text was decoded once
	for count := 0; decoder.More(); count++ {
		var value json.RawMessage
		if _, err := decoder.Token(); err != nil || decoder.Decode(&value) != nil || count > 0 {
			return memberFault{errs.InvalidField("arguments", "is there twice")}
		}
	}
	return nil
}

// ToolResult is what a tool answered.
type ToolResult struct {
	Success bool   `json:"success"` // true
	Result  any    `json:"result"`
	Text    string `json:"text,omitempty"`
}

// toolFailure is what a failed call is answered with: a problem, and what the
// gateway's clients look at.
type toolFailure struct {
	Success bool `json:"success"` // false
	*Problem
}

// toolRoutes mounts the gateway over every tool of every toolset.
func (s *Server) toolRoutes(tools router.ToolService) {
	at := s.at("tools", "/api/tools")
	at.get("", "Every tool of every toolset, with the schemas of its arguments and its answer", bare(func(ctx context.Context) (ToolList, error) {
		if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
			return ToolList{}, err
		}
		list := tools.Tools()
		return ToolList{list, len(list)}, nil
	}))
	call := documented(http.MethodPost, "/api/tools/{name}", "tools", `Call a tool: {"arguments": {…}} or the bare arguments; answers {success, result} or {success: false, error}`)
	call.Errors = append(call.Errors, http.StatusNotFound)
	h := typed(func(ctx context.Context, in *toolCall) (any, error) {
		arguments := json.RawMessage("{}")
		if in.Body != nil {
			arguments = in.Body.raw
		}
		answer, err := tools.CallTool(ctx, router.ToolCall{Name: in.Name, Arguments: arguments, Agent: in.Agent})
		if err != nil {
			return toolFailure{Problem: s.fail(ctx, err)}, nil
		}
		if !in.Text {
			answer.Text = ""
		}
		return ToolResult{Success: true, Result: answer.Fields, Text: answer.Text}, nil
	})
	h.differs = func(output any) int {
		if failure, ok := (*output.(*any)).(toolFailure); ok {
			return failure.Status
		}
		return 0
	}
	s.mount(call, h)
}
