package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router"
)

// The two tools of the core by which every other one is reached.
const (
	findTools = "find_tools"
	callTool  = "call_tool"
)

const (
	// defaultFound is how many tools find_tools answers with if it is not told: each
	// comes with its schema, and a model that asked well needs the first or the second.
	defaultFound = 5
	// maxFound bounds them. More is a listing, which a toolset is for.
	maxFound = 20
	// maxFindWords bounds the words of a search, in bytes.
	maxFindWords = 1 << 10
)

// toolSearch is what find_tools takes.
type toolSearch struct {
	Query  string `json:"query" doc:"What you want to do"`
	Enable bool   `json:"enable" doc:"List them from now on"`
	Limit  int    `json:"limit"`
}

// foundCall is what call_tool takes.
type foundCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments" object:"true" doc:"By its inputSchema"`
}

// foundTool is a tool as find_tools shows it.
type foundTool struct {
	Name        string             `json:"name"`
	Toolset     string             `json:"toolset"`
	Description string             `json:"description"`
	InputSchema *jsonschema.Schema `json:"inputSchema"`
}

type foundTools struct {
	Tools   []foundTool `json:"tools"`
	Enabled []string    `json:"enabled"` // of them, those that are listed to this session from now on
	How     string      `json:"how"`     // to use what was found
}

// addFindTools offers the search for the tools that are not listed, and the
// call of what it finds. It comes last, when all others are there.
func (s *Server) addFindTools() {
	if len(s.tools) == 0 {
		return
	}
	s.add(ToolsetCore, tool{
		name: findTools, title: "Find tools", effect: reads, walled: true, holds: "tools",
		description: "Search further tools: facts, procedures, reminders, team tasks, scans, admin, more.",
		does:        (*Server).findTools, takes: "query! enable limit",
	})
	s.add(ToolsetCore, tool{
		name: callTool, title: "Call a found tool", effect: steers, readable: true, walled: true, // what is called says itself
		description: "Call a tool of find_tools.",
		does:        (*Server).callFound, takes: "name! arguments",
	})
	s.index = router.NewToolIndex(s.listed(), func(t router.Tool) (words []string) {
		schema := t.InputSchema.(*jsonschema.Schema)
		for _, name := range schema.PropertyOrder {
			words = append(words, name, schema.Properties[name].Description)
		}
		return words
	})
}

func (s *Server) findTools(ctx context.Context, in toolSearch) (out foundTools, text string, err error) {
	limit, err := check.Limit(in.Limit, defaultFound, maxFound)
	if err != nil {
		return out, "", err
	}
	if len(in.Query) > maxFindWords {
		return out, "", errs.InvalidField("query", "may have at most %d bytes", maxFindWords)
	}
	var session *mcp.ServerSession
	if req := requestOf(ctx); req != nil {
		session = req.Session
	}
	out = foundTools{Tools: []foundTool{}, Enabled: []string{}}
	for _, name := range s.index.Find(in.Query) {
		if len(out.Tools) < limit && !s.on(ctx, session, name) {
			t := s.tools[name]
			out.Tools = append(out.Tools, foundTool{Name: name, Toolset: t.set, Description: t.description, InputSchema: t.input})
		}
	}
	if len(out.Tools) == 0 {
		out.How = "Say in other words what you want to do."
		return out, "No tool that is not listed already fits. " + out.How, nil
	}
	sets := []string{}
	for _, t := range out.Tools {
		if !slices.Contains(sets, t.Toolset) {
			sets = append(sets, t.Toolset)
		}
	}
	out.How = fmt.Sprintf("Call one with %s. Your user can list a whole toolset for good: --toolsets %s, or ?toolsets=%[2]s in the URL.", callTool, strings.Join(sets, ","))
	switch lasting := lasts(ctx, session); {
	case in.Enable && lasting:
		for _, t := range out.Tools {
			out.Enabled = append(out.Enabled, t.Name)
		}
		s.enable(session, out.Enabled)
		out.How = "They are in your list of tools from now on. If your client does not show them, " + strings.ToLower(out.How[:1]) + out.How[1:]
	case in.Enable:
		out.How = "They cannot be listed to you: your client keeps no session. " + out.How
	case lasting:
		out.How += " With enable they are listed to you for this session."
	}
	var said strings.Builder
	fmt.Fprintf(&said, "Found %s, best first. %s", count(len(out.Tools), "tool", "tools"), out.How)
	for _, t := range out.Tools {
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			return out, "", fmt.Errorf("write the schema of %s: %w", t.Name, err)
		}
		fmt.Fprintf(&said, "\n\n%s (%s): %s\n%s", t.Name, t.Toolset, t.Description, schema)
	}
	return out, said.String(), nil
}

// callFound calls any tool for the caller. It gives no right that the caller
// has not: toolsets save a model's context, and it is the services that refuse.
func (s *Server) callFound(ctx context.Context, call foundCall) (any, string, error) {
	t, known := s.tools[call.Name]
	if !known || call.Name == callTool {
		return nil, "", &errs.Error{
			Code: errs.NotFound, Field: "name", Message: fmt.Sprintf("is %q, and there is no such tool: ask %s", shown(call.Name), findTools),
		}
	}
	return t.call(ctx, call.Arguments)
}

// statelessKey marks the context of a request after which nothing is remembered.
type statelessKey struct{}

// lasts tells whether a session goes on after this call.
func lasts(ctx context.Context, session *mcp.ServerSession) bool {
	stateless, _ := ctx.Value(statelessKey{}).(bool)
	return session != nil && !stateless
}

// enable lists tools to a session from now on, and has it told.
func (s *Server) enable(session *mcp.ServerSession, tools []string) {
	s.sessions.enable(session, tools)
	// The library tells of a change of its list, to every session; tellOfTools lets
	// through what is for this one. That a tool is added again is such a change.
	s.offer(s.tools[findTools].tool)
}
