package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"skillrouter"
	"skillrouter/router"
)

// The toolsets. Every tool belongs to one. What a client does not switch on is
// neither listed to it nor callable by it: each listed tool costs its model's
// context, whether it is used or not.
const (
	// ToolsetDefault holds what every agent needs. It is always on.
	ToolsetDefault = "default"
	// ToolsetLessons holds what tends lessons, patterns, escalations and experience.
	ToolsetLessons = "lessons"
	// ToolsetFacts holds seed 002's semantic memory.
	ToolsetFacts = "facts"

	// ToolsetProcedures holds seed 002's procedural memory.
	ToolsetProcedures = "procedures"
	// ToolsetReminders holds seed 002's prospective memory.
	ToolsetReminders = "reminders"
	// ToolsetContext holds what spans the memories: context under a budget, sessions,
	// consolidation, introspection.
	ToolsetContext = "context"

	// everyToolset is the name by which all of them are switched on.
	everyToolset = "all"
)

const (
	// toolsetsParameter is the parameter of the endpoint's URL by which a client's
	// configuration switches toolsets on: http://127.0.0.1:8025/mcp?toolsets=lessons
	toolsetsParameter = "toolsets"
	// toolsetsHeader does the same, for clients that let headers be set and not the
	// URL. The name is the one that other MCP servers with toolsets have.
	toolsetsHeader = "X-Mcp-Toolsets"
)

// ToolsetNames lists the toolsets that can be switched on.
func ToolsetNames() []string {
	return []string{ToolsetLessons, ToolsetFacts, ToolsetProcedures, ToolsetReminders, ToolsetContext}
}

// Toolsets is a choice of toolsets. The zero Toolsets is the default one alone.
type Toolsets struct{ names []string }

// ParseToolsets reads the names of toolsets, of which each text may hold
// several, separated by commas. "all" stands for every one. A name that is no
// toolset's is Invalid.
func ParseToolsets(texts ...string) (Toolsets, error) {
	var chosen Toolsets
	for _, text := range texts {
		for name := range strings.SplitSeq(text, ",") {
			switch name = strings.TrimSpace(name); {
			case name == "" || name == ToolsetDefault:
			case name == everyToolset:
				chosen.names = append(chosen.names, ToolsetNames()...)
			case slices.Contains(ToolsetNames(), name):
				chosen.names = append(chosen.names, name)
			default:
				return Toolsets{}, skillrouter.InvalidField(toolsetsParameter, "has %q, which is no toolset; there are: %s, %s, %s",
					shown(name), ToolsetDefault, strings.Join(ToolsetNames(), ", "), everyToolset)
			}
		}
	}
	return chosen, nil
}

// Has tells whether the toolset of that name is on.
func (t Toolsets) Has(name string) bool {
	return name == ToolsetDefault || slices.Contains(t.names, name)
}

type toolsetsKey struct{}

// withToolsets gives ctx the toolsets that the request switches on. They are
// read from every request, as its principal is, and so need no session.
func withToolsets(ctx context.Context, r *http.Request) (context.Context, error) {
	asked := slices.Concat(r.URL.Query()[toolsetsParameter], r.Header.Values(toolsetsHeader))
	if len(asked) == 0 {
		return ctx, nil
	}
	chosen, err := ParseToolsets(asked...)
	return context.WithValue(ctx, toolsetsKey{}, chosen), err
}

// on tells whether a call may use a tool of that toolset: the request that
// carried the call, or the server's own settings, switch it on.
func (s *Server) on(ctx context.Context, toolset string) bool {
	chosen, _ := ctx.Value(toolsetsKey{}).(Toolsets)
	return chosen.Has(toolset) || s.toolsets.Has(toolset)
}

// keepToolsets hides the tools whose toolset the caller has not switched on.
func (s *Server) keepToolsets(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if call, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok {
			if t, known := s.tools[call.Name]; known && !s.on(ctx, t.set) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool \"" + call.Name +
					"\": it belongs to the toolset \"" + t.set + "\", which is not switched on (--toolsets, or ?toolsets= in the URL)"}
			}
		}
		result, err := next(ctx, method, req)
		if list, ok := result.(*mcp.ListToolsResult); ok && err == nil {
			list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool { return !s.on(ctx, s.tools[t.Name].set) })
		}
		return result, err
	}
}

// offered is a tool as it can be called without a session.
type offered struct {
	tool
	call func(ctx context.Context, arguments json.RawMessage) (fields any, text string, err error)
}

var _ router.ToolService = (*Server)(nil)

// Tools implements router.ToolService.
func (s *Server) Tools() []router.Tool {
	list := make([]router.Tool, 0, len(s.tools))
	for _, t := range s.tools {
		list = append(list, router.Tool{Name: t.name, Title: t.title, Description: t.description, Toolset: t.set, InputSchema: t.input, OutputSchema: t.output})
	}
	slices.SortFunc(list, func(a, b router.Tool) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// CallTool implements router.ToolService.
func (s *Server) CallTool(ctx context.Context, name string, arguments json.RawMessage) (any, error) {
	t, ok := s.tools[name]
	if !ok {
		return nil, skillrouter.Errorf(skillrouter.NotFound, "there is no tool %q", shown(name))
	}
	fields, _, err := t.call(ctx, arguments)
	return fields, err
}
