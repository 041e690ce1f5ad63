package app_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
)

// TestTelemetry has a collector of its own take the spans of calls over HTTP and MCP, which the router's end sends: their
// names, what lies below what, and that none holds a text. An unconfigured router sends none; see TestOutbound.
func TestTelemetry(t *testing.T) {
	type span struct {
		TraceID, SpanID, ParentSpanID, Name string
		Attributes                          []struct {
			Key   string
			Value map[string]any
		}
	}
	var spans []span
	raw := ""
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		raw += string(body)
		var sent struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []span } }
		}
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Error(err)
			return
		}
		for _, s := range sent.ResourceSpans[0].ScopeSpans[0].Spans {
			s.TraceID, s.SpanID, s.ParentSpanID = strings.ToLower(s.TraceID), strings.ToLower(s.SpanID), strings.ToLower(s.ParentSpanID)
			spans = append(spans, s)
		}
	}))
	defer collector.Close()
	settings := config.Default()
	settings.Data, settings.Listen, settings.Telemetry.Endpoint = t.TempDir(), "127.0.0.1:0", collector.URL
	a, err := app.New(t.Context(), settings, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	owner, err := locate.ReadOwnerToken(settings.Data)
	if err != nil {
		t.Fatal(err)
	}
	session := ""
	call := func(path, body string, header ...string) string {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, a.URL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+owner)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode/100 != 2 || strings.Contains(string(text), `"error"`) || strings.Contains(string(text), `"isError":true`) {
			t.Fatalf("%s answers %d %s (%v)", path, response.StatusCode, text, err)
		}
		if id := response.Header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		return response.Header.Get("traceparent")
	}
	const one, two = "11111111111111111111111111111111", "22222222222222222222222222222222"
	answered := call("/check/anti-pattern", `{"proposed_action":"rm -rf /verysecretfolder"}`, "traceparent", "00-"+one+"-1111111111111111-01")
	// Without a session, and in one: a request's context takes another way to the tool in each.
	call("/mcp", strings.Replace(callTool, `"tools/list","params":{`, `"tools/call","params":{"name":"store_knowledge","arguments":{"category":"testing","title":"verysecrettitle","content":"verysecretcontent"},`, 1),
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "store_knowledge")
	call("/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	call("/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", session)
	call("/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_knowledge","_meta":{"traceparent":"00-`+two+`-2222222222222222-01"},"arguments":{"query":"verysecrettitle"}}}`, "Mcp-Session-Id", session)
	for range 5 { // the first writes, the others are worth no span
		call("/heartbeat", `{"agent_id":"builder"}`)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	byID := map[string]span{}
	for _, s := range spans {
		byID[s.SpanID] = s
	}
	var lines []string
	for _, s := range spans {
		line := s.Name
		for above, ok := byID[s.ParentSpanID]; ok; above, ok = byID[above.ParentSpanID] {
			line = above.Name + " > " + line
		}
		lines = append(lines, line)
		if s.Name == "guard_check" && (s.TraceID != one || answered != "00-"+one+"-"+s.ParentSpanID+"-01") {
			t.Errorf("the check is not below the span that was answered, %s: %+v", answered, s)
		}
		if s.Name == "execute_tool search_knowledge" && (s.TraceID != two || s.ParentSpanID != "2222222222222222") {
			t.Errorf("the tool is not below its _meta's span: %+v", s)
		}
	}
	all := "\n" + strings.Join(lines, "\n") + "\n"
	for _, want := range []string{
		"POST /check/anti-pattern > guard_check", "POST /mcp > execute_tool store_knowledge > create_memory > commit",
		"execute_tool search_knowledge > search_memory",
	} {
		if !strings.Contains(all, "\n"+want+"\n") {
			t.Errorf("%q is not among the spans:%s", want, all)
		}
	}
	if strings.Contains(raw, "verysecret") {
		t.Error("the collector was told a text")
	}
	if beats := strings.Count(all, "\nPOST /heartbeat\n"); beats != 1 {
		t.Errorf("%d spans of heartbeats", beats)
	}
}
