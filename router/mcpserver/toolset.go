package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router"
)

// Every tool belongs to a toolset: that of its family, see addTools, or the core. What a client does not switch on is
// neither listed to it nor callable by it: each listed tool costs its model's
// context, whether it is used or not.

// ToolsetCore holds what every agent needs. It is always on.
const ToolsetCore = "core"

// coreTools are the tools of the core.
var coreTools = strings.Fields("store_knowledge search_knowledge record_episode get_recent_episodes search_episodes route_query report_lesson " +
	"send_signal check_messages check_before_action show find_tools call_tool")

// everyToolset switches all of them on, wherever toolsets are named.
const everyToolset = "all"

const (
	// toolsetsParameter is the parameter of the endpoint's URL by which a client's
	// configuration switches toolsets on: http://127.0.0.1:8025/mcp?toolsets=lessons
	toolsetsParameter = "toolsets"
	// toolsetsHeader does the same, for clients that let headers be set and not the
	// URL. The name is the one that other MCP servers with toolsets have.
	toolsetsHeader = "X-Mcp-Toolsets"
)

// ToolsetNames lists the toolsets.
func ToolsetNames() []string {
	return []string{ToolsetCore, "lessons", "facts", "procedures", "reminders", "experience", "operations", "admin"}
}

// Toolsets is a choice of toolsets. The zero Toolsets is the core alone.
type Toolsets struct{ names []string }

// ParseToolsets reads the names of toolsets, of which each text may hold
// several, separated by commas. "all" stands for every one. A name that is no
// toolset's is Invalid.
func ParseToolsets(texts ...string) (Toolsets, error) {
	var chosen Toolsets
	for _, text := range texts {
		for name := range strings.SplitSeq(text, ",") {
			switch name = strings.TrimSpace(name); {
			case name == "" || name == "default": // as other servers call the core
			case name == everyToolset:
				chosen.names = append(chosen.names, ToolsetNames()...)
			case slices.Contains(ToolsetNames(), name):
				chosen.names = append(chosen.names, name)
			default:
				return Toolsets{}, errs.InvalidField(toolsetsParameter, "has %q, which is no toolset; there are: %s, %s",
					shown(name), strings.Join(ToolsetNames(), ", "), everyToolset)
			}
		}
	}
	return chosen, nil
}

// Has tells whether the toolset of that name is on.
func (t Toolsets) Has(name string) bool {
	return name == ToolsetCore || slices.Contains(t.names, name)
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

// on tells whether a tool is listed to a caller and callable by it: the request
// that carried the call, the server's own settings, or the caller's session
// switch it on. A tool that is none of this package's is always on.
func (s *Server) on(ctx context.Context, session *mcp.ServerSession, name string) bool {
	t, ours := s.tools[name]
	if !ours {
		return true
	}
	chosen, _ := ctx.Value(toolsetsKey{}).(Toolsets)
	return chosen.Has(t.set) || s.toolsets.Has(t.set) || s.sessions.has(session, name)
}

// keepToolsets hides the tools that the caller has not switched on.
func (s *Server) keepToolsets(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		session, _ := req.GetSession().(*mcp.ServerSession)
		if call, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && !s.on(ctx, session, call.Name) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool \"" + call.Name +
				"\": it belongs to the toolset \"" + s.tools[call.Name].set + "\", which is not switched on (--toolsets, or ?toolsets= in the URL); " + callTool + " calls it all the same"}
		}
		result, err := next(ctx, method, req)
		if list, ok := result.(*mcp.ListToolsResult); ok && err == nil {
			list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool { return !s.on(ctx, session, t.Name) })
		}
		return result, err
	}
}

// offered is a tool as it can be called without a session.
type offered struct {
	tool
	span string // the name of a call's span
	call func(ctx context.Context, arguments json.RawMessage) (fields any, text string, err error)
}

var _ router.ToolService = (*Server)(nil)

// Tools implements router.ToolService.
func (s *Server) Tools() []router.Tool {
	s.ready()
	return s.listed()
}

// listed is every tool, by name.
func (s *Server) listed() []router.Tool {
	list := make([]router.Tool, 0, len(s.tools))
	for _, t := range s.tools {
		list = append(list, router.Tool{Name: t.name, Title: t.title, Description: t.description, Toolset: t.set, InputSchema: t.input, OutputSchema: t.output})
	}
	slices.SortFunc(list, func(a, b router.Tool) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// CallTool implements router.ToolService.
func (s *Server) CallTool(ctx context.Context, call router.ToolCall) (answer router.ToolAnswer, err error) {
	s.ready()
	t, ok := s.tools[call.Name]
	if !ok {
		return answer, errs.Errorf(errs.NotFound, "there is no tool %q", shown(call.Name))
	}
	if call.Agent != "" {
		ctx = context.WithValue(ctx, agentKey{}, call.Agent)
	}
	answer.Fields, answer.Text, err = t.call(ctx, call.Arguments)
	return answer, err
}
