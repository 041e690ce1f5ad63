package mcpserver_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/mcpserver"
)

func toolsets(t *testing.T, names ...string) mcpserver.Toolsets {
	t.Helper()
	chosen, err := mcpserver.ParseToolsets(names...)
	if err != nil {
		t.Fatal(err)
	}
	return chosen
}

func TestParseToolsets(t *testing.T) {
	for name, c := range map[string]struct {
		texts []string
		on    bool // lessons
		want  string
	}{
		"nothing":          {nil, false, ""},
		"empty":            {[]string{""}, false, ""},
		"the core":         {[]string{"core"}, false, ""},
		"its other name":   {[]string{"default"}, false, ""},
		"lessons":          {[]string{"lessons"}, true, ""},
		"a list":           {[]string{" default , lessons,"}, true, ""},
		"said twice":       {[]string{"lessons", "lessons,default"}, true, ""},
		"all":              {[]string{"all"}, true, ""},
		"unknown":          {[]string{"lessons,leasons"}, false, `has "leasons", which is no toolset; there are: core, lessons, facts, procedures, reminders, experience, operations, admin, all`},
		"other letters":    {[]string{"Lessons"}, false, `has "Lessons"`},
		"hidden character": {[]string{"les\u202esons"}, false, "has \"les⟨U+202E⟩sons\""},
	} {
		t.Run(name, func(t *testing.T) {
			chosen, err := mcpserver.ParseToolsets(c.texts...)
			if c.want != "" {
				if errs.FieldOf(err) != "toolsets" || !strings.HasPrefix(errs.MessageOf(err), c.want) {
					t.Errorf("error %v, want %s", err, c.want)
				}
				return
			}
			if err != nil || chosen.Has("lessons") != c.on || !chosen.Has("core") {
				t.Errorf("%+v, %v", chosen, err)
			}
		})
	}
}

// TestToolsetsAreOffUntilSwitchedOn goes over every way to switch one on.
func TestToolsetsAreOffUntilSwitchedOn(t *testing.T) {
	withLessons := coreWith("lessons")
	if got := slices.Sorted(maps.Keys(listTools(t, mcpserver.New(new(house).services(), mcpserver.Options{Toolsets: toolsets(t, "lessons")})))); !slices.Equal(got, withLessons) {
		t.Errorf("with the option: %v", got)
	}
	server := mcpserver.New(new(house).services(), mcpserver.Options{})
	url := framed(t, server)
	header := func(value string) *http.Client {
		return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set("X-MCP-Toolsets", value)
			return http.DefaultTransport.RoundTrip(r)
		})}
	}
	for name, c := range map[string]struct {
		transport *mcp.StreamableClientTransport
		want      []string
	}{
		"nothing asked":  {&mcp.StreamableClientTransport{Endpoint: url}, coreWith()},
		"by the URL":     {&mcp.StreamableClientTransport{Endpoint: url + "?toolsets=lessons&agent_id=a"}, withLessons},
		"by the header":  {&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: header("default,lessons")}, withLessons},
		"all of them":    {&mcp.StreamableClientTransport{Endpoint: url + "?toolsets=all"}, everyTool()},
		"only defaults":  {&mcp.StreamableClientTransport{Endpoint: url + "?toolsets=default"}, coreWith()},
		"two of them":    {&mcp.StreamableClientTransport{Endpoint: url + "?toolsets=lessons,admin"}, coreWith("lessons", "admin")},
		"another's mind": {&mcp.StreamableClientTransport{Endpoint: url + "?agent_id=lessons"}, coreWith()},
	} {
		t.Run(name, func(t *testing.T) {
			client := connect(t, c.transport)
			list, err := client.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, tool := range list.Tools {
				got = append(got, tool.Name)
			}
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("tools %v, want %v", got, c.want)
			}
			_, err = client.CallTool(t.Context(), &mcp.CallToolParams{Name: "review_lessons"})
			if on := slices.Contains(c.want, "review_lessons"); on && err != nil {
				t.Errorf("a tool that is listed cannot be called: %v", err)
			} else if !on && (err == nil || !strings.Contains(err.Error(), `unknown tool "review_lessons": it belongs to the toolset "lessons", which is not switched on`)) {
				t.Errorf("a tool that is switched off: %v", err)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestUnknownToolsetIsRefused(t *testing.T) {
	server := mcpserver.New(new(house).services(), mcpserver.Options{})
	url := framed(t, server)
	status, body, _ := post(t, url+"?toolsets=leasons", "", "", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if status != http.StatusBadRequest || !strings.Contains(body, `toolsets has \"leasons\", which is no toolset; there are: core, lessons, facts, procedures, reminders, experience, operations, admin, all`) {
		t.Errorf("%d %s", status, body)
	}
}

// TestToolsWithoutASession holds what the gateway uses: every tool of every
// toolset, called with the caller's own rights.
func TestToolsWithoutASession(t *testing.T) {
	var tools router.ToolService = mcpserver.New(new(house).services(), mcpserver.Options{Agent: "captain"})
	var names []string
	for _, tool := range tools.Tools() {
		names = append(names, tool.Name)
		if raw, err := json.Marshal(tool.InputSchema); err != nil || !strings.Contains(string(raw), `"type":"object"`) || tool.Description == "" || tool.Toolset == "" {
			t.Errorf("%s: %+v, %v", tool.Name, tool, err)
		}
	}
	if !slices.Equal(names, everyTool()) {
		t.Errorf("tools %v, want %v", names, everyTool())
	}
	answer, err := tools.CallTool(t.Context(), router.ToolCall{Name: "record_episode", Arguments: json.RawMessage(`{"event_type":"action","title":"T","content":"C"}`)})
	if raw, _ := json.Marshal(answer.Fields); err != nil || string(raw) != `{"episode_id":"e1","session_id":"session-of-captain"}` {
		t.Errorf("%s, %v", raw, err)
	}
	ctx := principal.With(t.Context(), principal.Principal{AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}})
	if answer, err = tools.CallTool(ctx, router.ToolCall{Name: "record_episode", Arguments: json.RawMessage(`{"event_type":"action","title":"T","content":"C"}`)}); err != nil {
		t.Error(err)
	}
	if raw, _ := json.Marshal(answer.Fields); !strings.Contains(string(raw), "session-of-a") {
		t.Errorf("%s: not the token's agent", raw)
	}
	for name, c := range map[string]struct {
		tool, arguments string
		code            errs.Code
		field           string
	}{
		"unknown tool":      {"rm_rf", `{}`, errs.NotFound, ""},
		"nothing given":     {"search_knowledge", ``, errs.Invalid, "query"},
		"unknown parameter": {"search_knowledge", `{"query":"x","k":1}`, errs.Invalid, "k"},
		"no object":         {"search_knowledge", `[]`, errs.Invalid, "arguments"},
		"refused inside":    {"search_knowledge", `{"query":"code conflict"}`, errs.Conflict, "query"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := tools.CallTool(t.Context(), router.ToolCall{Name: c.tool, Arguments: json.RawMessage(c.arguments)}); errs.CodeOf(err) != c.code || errs.FieldOf(err) != c.field {
				t.Errorf("error %v, want %s of %q", err, c.code, c.field)
			}
		})
	}
}
