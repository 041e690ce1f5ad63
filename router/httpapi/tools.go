package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"unicode/utf8"

	"skillrouter"
	"skillrouter/router"
)

// ToolList is the answer of GET /api/tools.
type ToolList struct {
	Tools []router.Tool `json:"tools"`
	Count int           `json:"count"`
}

// toolCall is a call of a tool. Its body is not described: each tool has its own arguments.
type toolCall struct {
	Name    string `path:"name" doc:"The tool's name"`
	RawBody []byte `contentType:"application/json" doc:"The tool's arguments as an object, bare or as the member arguments"`
}

// ToolResult is what a tool answered.
type ToolResult struct {
	Success bool `json:"success"` // true
	Result  any  `json:"result"`
}

// toolFailure is what a failed call is answered with: a problem, and what the
// gateway's clients look at.
type toolFailure struct {
	Success bool `json:"success"` // false
	*Problem
}

// toolRoutes mounts the gateway over every tool of every toolset.
func (s *Server) toolRoutes() {
	tools := s.services.Tools
	if tools == nil {
		return
	}
	register(s, operation(http.MethodGet, "/api/tools", "tools", "Every tool of every toolset, with the schemas of its arguments and its answer"),
		func(ctx context.Context, _ *struct{}) (*answer[ToolList], error) {
			if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead); err != nil {
				return nil, err
			}
			list := tools.Tools()
			return reply(ToolList{Tools: emptied(list), Count: len(list)}), nil
		})
	call := operation(http.MethodPost, "/api/tools/{name}", "tools", `Call a tool: {"arguments": {…}} or the bare arguments; answers {success, result} or {success: false, error}`)
	call.Errors = append(call.Errors, http.StatusNotFound)
	register(s, call, func(ctx context.Context, in *toolCall) (*answer[any], error) {
		arguments, err := toolArguments(in.RawBody)
		var result any
		if err == nil {
			result, err = tools.CallTool(ctx, in.Name, arguments)
		}
		if err != nil {
			p := s.fail(ctx, err)
			return &answer[any]{Status: p.Status, Body: toolFailure{Problem: p}}, nil
		}
		return reply[any](ToolResult{Success: true, Result: result}), nil
	})
}

// toolArguments reads the arguments from a body: the member arguments, if that
// is all it holds and an object, or the body itself. No body is no arguments.
func toolArguments(body []byte) (json.RawMessage, error) {
	body = bytes.Clone(bytes.TrimSpace(body)) // huma takes the buffer back
	if len(body) == 0 {
		return json.RawMessage("{}"), nil
	}
	if !utf8.Valid(body) {
		return nil, skillrouter.Errorf(skillrouter.Invalid, "%s", errEncoding.Error())
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, skillrouter.Errorf(skillrouter.Invalid, "%s", jsonFault(err))
	}
	if inner, ok := members["arguments"]; ok && len(members) == 1 && (inner[0] == '{' || bytes.Equal(inner, []byte("null"))) {
		return inner, nil
	}
	return body, nil
}
