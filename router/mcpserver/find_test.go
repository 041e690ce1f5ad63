package mcpserver_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/router/mcpserver"
)

// listening connects a client that notes when it is told of new tools.
func listening(t *testing.T, transport mcp.Transport) (*mcp.ClientSession, <-chan struct{}) {
	t.Helper()
	told := make(chan struct{}, 16)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told <- struct{}{} },
	}).Connect(t.Context(), transport, inSession)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client, told
}

func listed(t *testing.T, client *mcp.ClientSession) (names []string) {
	t.Helper()
	list, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func foundNames(fields map[string]any) (names []string) {
	list, _ := fields["tools"].([]any)
	for _, each := range list {
		names = append(names, each.(map[string]any)["name"].(string))
	}
	return names
}

func TestFindToolsFindsWhatIsNotListed(t *testing.T) {
	client := dial(t, mcpserver.New(new(house).services(), mcpserver.Options{}))
	for words, want := range map[string]string{
		"remind me tomorrow":                       "schedule_task",
		"store a value that expires":               "remember_fact",
		"take the next task of the team":           "claim_team_task",
		"report a vulnerability that a scan found": "report_finding",
		"retire_lesson":                            "retire_lesson",
		"everything known for a task":              "build_context",
		"which agents are online":                  "list_agents",
		"is the router healthy":                    "health",
	} {
		text, fields, failed := call(t, client, "find_tools", map[string]any{"query": words})
		names := foundNames(fields)
		if failed || !slices.Contains(names, want) {
			t.Errorf("%q finds %v, want %s among them: %s", words, names, want, text)
		}
		for _, name := range names {
			if slices.Contains(byToolset["core"], name) {
				t.Errorf("%q finds %s, which is listed already", words, name)
			}
		}
		if !strings.Contains(text, want+" (") || !strings.Contains(text, `"properties"`) || !strings.Contains(text, "--toolsets") {
			t.Errorf("the text lacks the tool, its schema or how to switch it on: %s", text)
		}
	}
	if text, fields, failed := call(t, client, "find_tools", map[string]any{"query": "xylophone"}); failed || len(foundNames(fields)) != 0 || !strings.HasPrefix(text, "No tool") {
		t.Errorf("nothing fits: %s", text)
	}
	for name, arguments := range map[string]map[string]any{
		"too many": {"query": "x", "limit": 21}, "too long": {"query": strings.Repeat("x", 2000)}, "negative": {"query": "x", "limit": -1},
	} {
		if text, _, failed := call(t, client, "find_tools", arguments); !failed || !strings.Contains(text, "(invalid)") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestFoundToolsAreEnabledForTheirSession has one of two sessions of a server
// enable tools: it is told, and the other sees and hears nothing of it.
func TestFoundToolsAreEnabledForTheirSession(t *testing.T) {
	server := mcpserver.New(new(house).services(), mcpserver.Options{})
	mine, told := listening(t, pipes(t, server))
	other, otherTold := listening(t, pipes(t, server))
	if _, err := mine.CallTool(t.Context(), &mcp.CallToolParams{Name: "remember_fact"}); err == nil {
		t.Error("a tool is callable before it is enabled")
	}
	_, fields, failed := call(t, mine, "find_tools", map[string]any{"query": "remember a fact", "enable": true, "limit": 1})
	if got, _ := fields["enabled"].([]any); failed || len(got) != 1 || got[0] != "remember_fact" {
		t.Fatalf("enabled %v", fields)
	}
	<-told
	if got := listed(t, mine); !slices.Contains(got, "remember_fact") || len(got) != len(byToolset["core"])+1 {
		t.Errorf("listed are %v", got)
	}
	if text, _, failed := call(t, mine, "remember_fact", map[string]any{"key": "k", "value": 1}); failed {
		t.Error(text)
	}
	if got := listed(t, other); len(got) != len(byToolset["core"]) {
		t.Errorf("listed to the other session are %v", got)
	}
	if _, err := other.CallTool(t.Context(), &mcp.CallToolParams{Name: "remember_fact", Arguments: map[string]any{"key": "k", "value": 1}}); err == nil {
		t.Error("the other session may call it too")
	}
	select {
	case <-otherTold:
		t.Error("the other session was told of tools that it does not have")
	case <-time.After(50 * time.Millisecond): // the library waits 10 ms to gather notifications
	}
}

// TestFoundToolsAreCalledWithoutASession holds what is left to clients that keep none.
func TestFoundToolsAreCalledWithoutASession(t *testing.T) {
	url := framed(t, mcpserver.New(new(house).services(), mcpserver.Options{Agent: "captain"}))
	client := connect(t, &mcp.StreamableClientTransport{Endpoint: url})
	text, fields, failed := call(t, client, "find_tools", map[string]any{"query": "remember a fact", "enable": true})
	if enabled, _ := fields["enabled"].([]any); failed || len(enabled) != 0 || !strings.Contains(text, "keeps no session") || !strings.Contains(text, "call_tool") {
		t.Errorf("%v: %s", fields, text)
	}
	text, fields, failed = call(t, client, "call_tool", map[string]any{"name": "remember_fact", "arguments": map[string]any{"key": "k", "value": 1}})
	if failed || fields["key"] != "k" {
		t.Errorf("%v: %s", fields, text)
	}
}

func TestCallToolGivesNoRight(t *testing.T) {
	url := framed(t, mcpserver.New(new(house).services(), mcpserver.Options{}))
	for name, c := range map[string]struct{ arguments, want string }{
		"another agent's work": {`{"name":"record_episode","arguments":{"event_type":"action","title":"t","content":"c"}}`, "call_tool failed (forbidden)"},
		"an unknown tool":      {`{"name":"rm_rf"}`, `call_tool failed (not_found): name is \"rm_rf\", and there is no such tool`},
		"itself":               {`{"name":"call_tool","arguments":{"name":"health"}}`, "there is no such tool"},
		"a bad argument":       {`{"name":"recall_fact","arguments":{"kee":"k"}}`, "call_tool failed (invalid): kee is no parameter"},
		"no object":            {`{"name":"recall_fact","arguments":[1]}`, "arguments must be"},
		"nothing":              {`{}`, "name is required"},
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"call_tool","arguments":` + c.arguments + meta + `}}`
			if _, answer, _ := post(t, url+"?agent_id=b", "2026-07-28", "", "Bearer a", body); !strings.Contains(answer, c.want) {
				t.Errorf("%s, want %s", answer, c.want)
			}
		})
	}
}
