package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/router/mcpserver"
)

// framed serves the handler behind what the HTTP frame does: it finds the
// principal by the token.
func framed(t *testing.T, server *mcpserver.Server) string {
	t.Helper()
	principals := map[string]principal.Principal{
		"":          principal.Open(),
		"Bearer a":  {AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}},
		"Bearer a2": {AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}},
		"Bearer b":  {AgentID: "b", Scopes: []principal.Scope{principal.ScopeAgent}},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := principals[r.Header.Get("Authorization")]
		if !ok {
			http.Error(w, "no such token", http.StatusUnauthorized)
			return
		}
		server.Handler().ServeHTTP(w, r.WithContext(principal.With(r.Context(), p)))
	}))
	t.Cleanup(func() { end(t, server, s) })
	return s.URL
}

// end closes what a test served, so that nothing of it is left running.
func end(t *testing.T, server *mcpserver.Server, s *httptest.Server) {
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
	s.Close()
}

// post sends a message as a client of the protocol version would.
func post(t *testing.T, url, version, session, token, body string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range map[string]string{"Mcp-Protocol-Version": version, "Mcp-Session-Id": session, "Authorization": token} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if version >= "2026-07-28" {
		var m struct {
			Method string `json:"method"`
			Params struct {
				Name string `json:"name"`
			} `json:"params"`
		}
		if json.Unmarshal([]byte(body), &m) == nil {
			r.Header.Set("Mcp-Method", m.Method)
			r.Header.Set("Mcp-Name", m.Params.Name)
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(raw), answer.Header
}

func initialize(t *testing.T, url, version, token string) (session string) {
	t.Helper()
	status, body, header := post(t, url, "", "", token, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if status != 200 || !strings.Contains(body, `"protocolVersion":"`+version+`"`) || header.Get("Mcp-Session-Id") == "" {
		t.Fatalf("initialize: %d %s %v", status, body, header)
	}
	status, body, _ = post(t, url, version, header.Get("Mcp-Session-Id"), token, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if status != http.StatusAccepted {
		t.Fatalf("initialized: %d %s", status, body)
	}
	return header.Get("Mcp-Session-Id")
}

const (
	search = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search_knowledge","arguments":{"query":"x"}%s}}`
	meta   = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
)

func TestEveryProtocolVersion(t *testing.T) {
	url := framed(t, mcpserver.New(new(house).services(), mcpserver.Options{}))
	for _, version := range mcp.SupportedProtocolVersions() {
		t.Run(version, func(t *testing.T) {
			var session, extra string
			form := "text/event-stream" // so that messages can come before the answer
			if version == "2026-07-28" {
				extra, form = meta, "application/json"
			} else {
				session = initialize(t, url, version, "")
			}
			status, body, header := post(t, url, version, session, "", fmt.Sprintf(search, extra))
			if status != 200 || !strings.Contains(body, `"structuredContent"`) || header.Get("Content-Type") != form {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	if status, body, _ := post(t, url, "2099-01-01", "", "", strings.ReplaceAll(fmt.Sprintf(search, meta), "2026-07-28", "2099-01-01")); !strings.Contains(body, "unsupported protocol version") || !strings.Contains(body, "2025-11-25") {
		t.Errorf("a version of the future: %d %s", status, body)
	}
}

func TestOfficialClientOverHTTP(t *testing.T) {
	h := &house{}
	url := framed(t, mcpserver.New(h.services(), mcpserver.Options{Agent: "captain"}))
	client := connect(t, &mcp.StreamableClientTransport{Endpoint: url + "?agent_id=builder-1"})
	if text, _, failed := call(t, client, "store_knowledge", map[string]any{"category": "gotcha", "title": "T", "content": "C"}); failed {
		t.Fatal(text)
	}
	if got := h.knowledge[0].Author; got != "builder-1" {
		t.Errorf("author %q, want the agent of the URL", got)
	}
}

// TestEachCallHasItsOwnPrincipal uses a session by which other values than
// those of its first request must reach the services.
func TestEachCallHasItsOwnPrincipal(t *testing.T) {
	h := &house{}
	url := framed(t, mcpserver.New(h.services(), mcpserver.Options{Agent: "captain"}))
	for _, token := range []string{"Bearer a", "Bearer b"} {
		session := initialize(t, url, "2025-11-25", token)
		for range 2 {
			if status, body, _ := post(t, url, "2025-11-25", session, token, fmt.Sprintf(search, "")); status != 200 {
				t.Fatalf("%d %s", status, body)
			}
		}
		if status, body, _ := post(t, url, "2026-07-28", "", token, fmt.Sprintf(search, meta)); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	var agents []string
	for _, p := range h.callers {
		agents = append(agents, p.AgentID)
	}
	if got := strings.Join(agents, " "); got != "a a a b b b" {
		t.Errorf("calls were made as %q", got)
	}
}

func TestSessionBelongsToItsToken(t *testing.T) {
	h := &house{}
	url := framed(t, mcpserver.New(h.services(), mcpserver.Options{}))
	session := initialize(t, url, "2025-11-25", "Bearer a")
	for name, token := range map[string]string{"another agent's token": "Bearer b", "another token of the same agent": "Bearer a2", "no token": ""} {
		if status, body, _ := post(t, url, "2025-11-25", session, token, fmt.Sprintf(search, "")); status != http.StatusForbidden {
			t.Errorf("%s: %d %s", name, status, body)
		}
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, nil)
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("Authorization", token)
		if answer, err := http.DefaultClient.Do(r); err != nil || answer.StatusCode != http.StatusForbidden {
			t.Errorf("%s: DELETE %v, %v", name, answer.StatusCode, err)
		}
	}
	if len(h.callers) != 0 {
		t.Errorf("calls were made: %v", h.callers)
	}
	if status, body, _ := post(t, url, "2025-11-25", session, "Bearer a", fmt.Sprintf(search, "")); status != 200 {
		t.Errorf("its own token: %d %s", status, body)
	}
}

// TestActingAgent says who a call is made for, by the token and the URL.
func TestActingAgent(t *testing.T) {
	record := strings.Replace(fmt.Sprintf(search, meta), `"search_knowledge","arguments":{"query":"x"}`, `"record_episode","arguments":{"event_type":"action","title":"t","content":"c"}`, 1)
	for name, c := range map[string]struct{ token, query, want string }{
		"nobody says":                        {"", "", "captain"},
		"the URL":                            {"", "?agent_id=b", "b"},
		"the token":                          {"Bearer a", "", "a"},
		"the URL, and it is not the token's": {"Bearer a", "?agent_id=b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := &house{}
			url := framed(t, mcpserver.New(h.services(), mcpserver.Options{Agent: "captain"})) + c.query
			status, answer, _ := post(t, url, "2026-07-28", "", c.token, record)
			if status != 200 {
				t.Fatalf("%d %s", status, answer)
			}
			if c.want == "" {
				if len(h.episodes) > 0 || !strings.Contains(answer, "record_episode failed (forbidden)") {
					t.Errorf("recorded %+v: %s", h.episodes, answer)
				}
				return
			}
			if got := h.episodes[0].AgentID; got != c.want {
				t.Errorf("recorded as %q, want %q", got, c.want)
			}
		})
	}
}

// TestCallersProject says which project a call belongs to.
func TestCallersProject(t *testing.T) {
	const within = "?project=web&folder=packages/cart&branch=v2"
	here := learning.Place{Folder: "packages/cart", Branch: "v2"}
	for name, c := range map[string]struct {
		query, given, want string
		place              learning.Place
	}{
		"nobody says":                     {want: ""},
		"the URL":                         {query: "?project=web", want: "web"},
		"the call's goes before":          {"?project=web", `,"project":"docs"`, "docs", learning.Place{}},
		"an empty one is none":            {"?project=web", `,"project":""`, "", learning.Place{}},
		"the URL names folder and branch": {within, "", "web", here},
		"the call names the same":         {within, `,"project":"web"`, "web", here},
		"another project has not those":   {within, `,"project":"docs"`, "docs", learning.Place{}},
		"none has not those":              {within, `,"project":""`, "", learning.Place{}},
	} {
		t.Run(name, func(t *testing.T) {
			h := &house{}
			url := framed(t, mcpserver.New(h.services(), mcpserver.Options{Agent: "captain"})) + c.query
			record := strings.Replace(fmt.Sprintf(search, meta), `"search_knowledge","arguments":{"query":"x"}`, `"record_episode","arguments":{"event_type":"action","title":"t","content":"c"`+c.given+`}`, 1)
			status, answer, _ := post(t, url, "2026-07-28", "", "", record)
			if status != 200 || len(h.episodes) != 1 {
				t.Fatalf("%d %s", status, answer)
			}
			if got := h.episodes[0]; got.Project != c.want || got.Place != c.place {
				t.Errorf("it belongs to %q and %+v, not to %q and %+v", got.Project, got.Place, c.want, c.place)
			}
		})
	}
}

func TestSessionsAreBounded(t *testing.T) {
	url := framed(t, mcpserver.New(new(house).services(), mcpserver.Options{}))
	first, second := initialize(t, url, "2025-06-18", ""), initialize(t, url, "2025-06-18", "")
	if status, body, _ := post(t, url, "2025-06-18", first, "", fmt.Sprintf(search, "")); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	for range mcpserver.MaxSessions - 1 {
		initialize(t, url, "2025-06-18", "")
	}
	// The second was unused the longest; the first was used after it.
	if status, _, _ := post(t, url, "2025-06-18", second, "", fmt.Sprintf(search, "")); status != http.StatusNotFound {
		t.Errorf("the session unused the longest: %d, want 404", status)
	}
	if status, _, _ := post(t, url, "2025-06-18", first, "", fmt.Sprintf(search, "")); status != http.StatusOK {
		t.Errorf("the session used after it: %d, want 200", status)
	}
}

func TestHTTPRefusals(t *testing.T) {
	url := framed(t, mcpserver.New(new(house).services(), mcpserver.Options{}))
	huge := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_knowledge","arguments":{"query":"` + strings.Repeat("x", mcpserver.MaxMessage) + `"}}}`
	batch := "[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, mcpserver.MaxBatch) + `{"jsonrpc":"2.0","id":2,"method":"ping"}]`
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"not JSON":             {`{"jsonrpc":`, 400},
		"nothing":              {``, 400},
		"no JSON-RPC":          {`{"hello":1}`, 400},
		"another version":      {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, 400},
		"an id that is none":   {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, 400},
		"empty batch":          {`[]`, 400},
		"batch over the bound": {batch, 400},
		"message over 8 MiB":   {huge, 413},
		"unknown session":      {fmt.Sprintf(search, ""), 404},
	} {
		t.Run(name, func(t *testing.T) {
			session := ""
			if name == "unknown session" {
				session = "nobody"
			}
			if status, body, _ := post(t, url, "2025-03-26", session, "", c.body); status != c.want {
				t.Errorf("status %d, want %d: %.200s", status, c.want, body)
			}
		})
	}
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode != http.StatusMethodNotAllowed || answer.Header.Get("Allow") != "POST, DELETE" {
		t.Errorf("GET: %d, Allow %q", answer.StatusCode, answer.Header.Get("Allow"))
	}
	listen := `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}` + meta + `}}`
	if _, body, _ := post(t, url, "2026-07-28", "", "", listen); !strings.Contains(body, "-32601") {
		t.Errorf("subscriptions/listen: %s", body)
	}
}

// TestUnknownMethods holds that a session's call of a method that there is not
// has the protocol's answer, with its id, and that no method that there is has it.
func TestUnknownMethods(t *testing.T) {
	url := framed(t, mcpserver.New(new(house).services(), mcpserver.Options{}))
	for _, version := range []string{"", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		status, body, _ := post(t, url, version, "", "", `{"jsonrpc":"2.0","id":"mine","method":"no/such","params":{"x":1`+meta+`}}`)
		if want := map[bool]int{false: 200, true: 404}[version == "2026-07-28"]; status != want || !strings.Contains(body, "-32601") || !strings.Contains(body, `"id":"mine"`) {
			t.Errorf("protocol %q: %d %s, want %d", version, status, body, want)
		}
	}
	for _, method := range []string{
		"initialize", "ping", "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read",
		"logging/setLevel", "completion/complete",
	} {
		if _, body, _ := post(t, url, "2025-06-18", "nobody", "", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{}}`); strings.Contains(body, "-32601") {
			t.Errorf("%s: %s", method, body)
		}
	}
}
