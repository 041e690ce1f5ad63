package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/skillrouter/skillrouter/cmd/config"
)

// model is an OpenAI-compatible endpoint that behaves as the model's name says.
type model struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string      // bodies
	keys  []string      // of Authorization
	gone  chan struct{} // one for each call of endless that its client broke off
}

const (
	chatAnswer = `{"id":"c1","object":"chat.completion","created":1,"model":"plain","x_unknown":{"b": [1 ,2]},"choices":[{"index":0,"message":{"role":"assistant","content":"PATCH."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`
	toolAnswer = `{"id":"c2","object":"chat.completion","created":1,"model":"tools","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}]},"finish_reason":"tool_calls"}]}`
)

// chunk is an event of a stream with that delta.
func chunk(delta, finish string) string {
	return `data: {"id":"c3","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
}

func startModel(t *testing.T) *model {
	t.Helper()
	m := &model{gone: make(chan struct{}, 9)}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m.mu.Lock()
		m.asked, m.keys = append(m.asked, string(body)), append(m.keys, r.Header.Get("Authorization"))
		m.mu.Unlock()
		m.answer(w, r, body)
	}))
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

func (m *model) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	say := func(status int, text string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
	stream := func(events ...string) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range events {
			_, _ = io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	}
	switch path := r.URL.EscapedPath(); {
	case path == "/v1/models":
		say(200, `{"object":"list","data":[{"id":"plain","object":"model","created":1,"owned_by":"us"}]}`)
		return
	case strings.HasPrefix(path, "/v1/models/"):
		name, _ := json.Marshal(strings.TrimPrefix(r.URL.Path, "/v1/models/"))
		say(200, `{"id":`+string(name)+`,"object":"model","created":1,"owned_by":"us"}`)
		return
	case path == "/v1/embeddings":
		say(200, `{"object":"list","model":"nomic","data":[{"object":"embedding","index":0,"embedding":[0.5,-1]}],"usage":{"prompt_tokens":1,"total_tokens":1}}`)
		return
	}
	var request struct{ Model string }
	_ = json.Unmarshal(body, &request)
	switch request.Model {
	case "plain":
		say(200, chatAnswer)
	case "tools":
		say(200, toolAnswer)
	case "stream":
		stream(chunk(`{"role":"assistant","content":"PAT"}`, "null"), chunk(`{"content":"CH."}`, "null"), chunk(`{}`, `"stop"`),
			`data: {"id":"c3","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`+"\n\n", "data: [DONE]\n\n")
	case "stream-tools":
		stream(chunk(`{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"read_file","arguments":""}}]}`, "null"),
			chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}`, "null"), chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"\"a.go\"}"}}]}`, "null"),
			chunk(`{}`, `"tool_calls"`), "data: [DONE]\n\n")
	case "error-400":
		say(400, `{"error":{"message":"no such parameter","type":"invalid_request_error","param":"x","code":null}}`)
	case "error-429":
		w.Header().Set("Retry-After", "1")
		say(429, `{"error":{"message":"slow down","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}`)
	case "error-500":
		say(500, `{"error":{"message":"out of memory","type":"server_error","param":null,"code":null}}`)
	case "prose":
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "Sure! Use PATCH.")
	case "drop":
		stream(chunk(`{"content":"PAT"}`, "null"))
		panic(http.ErrAbortHandler)
	case "endless":
		stream(chunk(`{"content":"PAT"}`, "null"))
		<-r.Context().Done()
		m.gone <- struct{}{}
	case "hang":
		<-r.Context().Done()
	default:
		say(404, `{"error":{"message":"no such model","type":"not_found_error","param":null,"code":null}}`)
	}
}

// serveModel starts a router in front of a model.
func serveModel(t *testing.T, m *model, change func(*config.Config)) string {
	t.Helper()
	cfg := settings(t)
	cfg.LLM.BaseURL, cfg.LLM.APIKey, cfg.LLM.Timeout = m.URL+"/v1", "sk-upstream", 500*time.Millisecond
	if change != nil {
		change(&cfg)
	}
	return opened(t, cfg).URL()
}

// broken waits until the model was told that its client has gone.
func (m *model) broken(t *testing.T) {
	t.Helper()
	select {
	case <-m.gone:
	case <-time.After(10 * time.Second):
		t.Error("the model goes on for nobody")
	}
}

// TestOpenAIForNode runs the npm package openai, of the version that is pinned, against the router.
func TestOpenAIForNode(t *testing.T) {
	if testing.Short() {
		t.Skip("installs the npm package openai")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("there is no npm here")
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "client.mjs"} {
		text, err := os.ReadFile(filepath.Join("testdata", "openai-client", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = dir
	if output, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install openai, as without a registry: %v\n%s", err, output)
	}
	m := startModel(t)
	base := serveModel(t, m, nil)
	run := exec.CommandContext(ctx, "node", "client.mjs")
	run.Dir = dir
	run.Env = append(os.Environ(), "BASE_URL="+base+"/v1")
	var stderr strings.Builder
	run.Stderr = &stderr
	output, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var got map[string]any
	if err := json.Unmarshal(output, &got); err != nil {
		t.Fatalf("%v in %s", err, output)
	}
	m.broken(t)
	failed := func(kind string, status any, message string) map[string]any {
		return map[string]any{"error": kind, "status": status, "message": message}
	}
	call := map[string]any{"name": "read_file", "arguments": `{"path":"a.go"}`}
	want := map[string]any{
		"plain":           map[string]any{"content": "PATCH.", "memory": got["plain"].(map[string]any)["memory"], "unknown": map[string]any{"b": []any{1.0, 2.0}}},
		"memory off":      map[string]any{"memory": "off"},
		"stream":          map[string]any{"content": "PATCH.", "calls": []any{}, "finish": "stop", "usage": 11.0},
		"tools":           call,
		"stream of tools": map[string]any{"content": "", "calls": []any{call}, "finish": "tool_calls", "usage": nil},
		"error 400":       failed("BadRequestError", 400.0, "400 no such parameter"),
		"error 429":       failed("RateLimitError", 429.0, "429 slow down"),
		"error 500":       failed("InternalServerError", 500.0, "500 out of memory"),
		"prose":           map[string]any{"type": "string"},
		"drop":            got["drop"],
		"hang":            failed("InternalServerError", 503.0, "503 the model at "+m.URL+"/v1 did not begin to answer within 500ms (llm.timeout)"),
		"abort":           map[string]any{"content": "PAT"},
		"models":          []any{"plain"},
		"model":           "hf.co/Qwen/Qwen3:Q4",
		"embeddings":      []any{0.5, -1.0},
		"no such path":    failed("NotFoundError", 404.0, "404 there is no /v1/audio/speech here; docs/http-api.md lists what there is"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if drop, _ := got["drop"].(map[string]any); drop["error"] == nil {
		t.Errorf("the client takes a broken stream for whole: %v", drop)
	}
}

// TestOpenAIForGo is the same with OpenAI's package for Go.
func TestOpenAIForGo(t *testing.T) {
	m := startModel(t)
	base := serveModel(t, m, nil)
	client := openai.NewClient(option.WithBaseURL(base+"/v1/"), option.WithAPIKey("ollama"), option.WithMaxRetries(0))
	ask := func(name string) openai.ChatCompletionNewParams {
		return openai.ChatCompletionNewParams{Model: name, Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("be brief"), openai.UserMessage("PATCH or PUT for a partial update?"),
		}}
	}
	collect := func(name string) (openai.ChatCompletionAccumulator, error) {
		var whole openai.ChatCompletionAccumulator
		stream := client.Chat.Completions.NewStreaming(t.Context(), ask(name))
		for stream.Next() {
			whole.AddChunk(stream.Current())
		}
		return whole, stream.Err()
	}
	t.Run("plain", func(t *testing.T) {
		var response *http.Response
		got, err := client.Chat.Completions.New(t.Context(), ask("plain"), option.WithHeader("X-Skillrouter-Memory", "off"), option.WithResponseInto(&response))
		if err != nil || got.RawJSON() != chatAnswer || response.Header.Get("X-Skillrouter-Memory") != "off" {
			t.Errorf("%v %v", got, err)
		}
	})
	t.Run("stream", func(t *testing.T) {
		got, err := collect("stream")
		if err != nil || got.Choices[0].Message.Content != "PATCH." || got.Usage.TotalTokens != 11 {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("tools", func(t *testing.T) {
		got, err := client.Chat.Completions.New(t.Context(), ask("tools"))
		if err != nil || got.Choices[0].Message.ToolCalls[0].Function.Arguments != `{"path":"a.go"}` {
			t.Errorf("%+v %v", got, err)
		}
	})
	t.Run("stream of tools", func(t *testing.T) {
		got, err := collect("stream-tools")
		if err != nil || got.Choices[0].Message.ToolCalls[0].Function.Arguments != `{"path":"a.go"}` {
			t.Errorf("%+v %v", got, err)
		}
	})
	for _, status := range []int{400, 429, 500} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			_, err := client.Chat.Completions.New(t.Context(), ask(fmt.Sprintf("error-%d", status)))
			refused, ok := errors.AsType[*openai.Error](err)
			if !ok || refused.StatusCode != status || refused.Message == "" {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("drop", func(t *testing.T) {
		if got, err := collect("drop"); err == nil {
			t.Errorf("the client takes a broken stream for whole: %+v", got)
		}
	})
	t.Run("hang", func(t *testing.T) {
		_, err := client.Chat.Completions.New(t.Context(), ask("hang"))
		if refused, ok := errors.AsType[*openai.Error](err); !ok || refused.StatusCode != 503 || !strings.Contains(refused.Message, "did not begin") {
			t.Errorf("%v", err)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		stream := client.Chat.Completions.NewStreaming(ctx, ask("endless"))
		if !stream.Next() {
			t.Fatal(stream.Err())
		}
		cancel()
		m.broken(t)
		_ = stream.Close()
	})
	t.Run("models", func(t *testing.T) {
		got, err := client.Models.List(t.Context())
		if err != nil || len(got.Data) != 1 || got.Data[0].ID != "plain" {
			t.Errorf("%v %v", got, err)
		}
		one, err := client.Models.Get(t.Context(), "hf.co/Qwen/Qwen3:Q4")
		if err != nil || one.ID != "hf.co/Qwen/Qwen3:Q4" {
			t.Errorf("%v %v", one, err)
		}
	})
	for _, key := range m.keys {
		if key != "Bearer sk-upstream" {
			t.Errorf("the endpoint was given %q", key)
		}
	}
}

// TestChatRemembers goes the whole way: what was learned reaches the model, under the budget, and the exchange is learned.
func TestChatRemembers(t *testing.T) {
	m := startModel(t)
	base := serveModel(t, m, func(cfg *config.Config) { cfg.LLM.Record = true })
	post := func(path, body string) (*http.Response, string) {
		t.Helper()
		response, err := http.Post(base+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response, string(text)
	}
	if response, text := post("/api/knowledge", `{"category":"gotcha","title":"PATCH, not PUT, for partial updates","content":"PUT replaces the whole planner entry. Use PATCH for a partial update."}`); response.StatusCode/100 != 2 {
		t.Fatalf("%s %s", response.Status, text)
	}
	const body = `{"model":"plain","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"PATCH or PUT for a partial update?"}]}`
	response, text := post("/v1/chat/completions", body)
	if text != chatAnswer {
		t.Errorf("%s %s", response.Status, text)
	}
	var items, tokens int
	memory := response.Header.Get("X-Skillrouter-Memory")
	if _, err := fmt.Sscanf(strings.Replace(memory, "item,", "items,", 1), "%d items, %d tokens", &items, &tokens); err != nil || items < 1 || tokens < 1 || tokens > 1500 {
		t.Fatalf("the header says %q (%v)", memory, err)
	}
	asked := m.asked[0]
	if !strings.Contains(asked, "PUT replaces the whole planner entry") || strings.Count(asked, `"role":"system"`) != 1 {
		t.Errorf("the model was asked %s", asked)
	}
	for limit := time.Now().Add(10 * time.Second); ; {
		_, episodes := post("/api/episodes/search", `{"query":"PATCH or PUT for a partial update?"}`)
		if strings.Contains(episodes, `Answer by plain:\nPATCH.`) {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("the exchange is not remembered: %s", episodes)
		}
	}
}

// TestChatTokens: a made-up key will do until a token is issued; then it is that or nothing, told as OpenAI does.
func TestChatTokens(t *testing.T) {
	s := serve(t)
	s.secrets["made up"] = "ollama"
	const path, body = "/v1/chat/completions", `{"messages":[]}`
	for i := range 150 { // more than wrong tokens may be tried elsewhere
		if status, _ := s.do("made up", http.MethodPost, path, body, nil); status != http.StatusServiceUnavailable {
			t.Fatalf("call %d: %d, want 503: nothing is configured, and nobody refused", i, status)
		}
	}
	if status, _ := s.do("made up", http.MethodGet, "/api/stats", "", nil); status != http.StatusUnauthorized && status != http.StatusTooManyRequests {
		t.Errorf("elsewhere it is %d, want 401, or 429 after many", status)
	}
	s.issue()
	for who, want := range map[string]struct {
		status int
		kind   string
	}{
		stranger: {401, "authentication_error"}, reader1: {403, "permission_error"}, agentA: {503, "server_error"},
	} {
		status, raw := s.do(who, http.MethodPost, path, body, map[string]string{})
		var got struct {
			Error struct{ Message, Type, Code string }
		}
		if err := json.Unmarshal([]byte(raw), &got); err != nil || status != want.status || got.Error.Type != want.kind || got.Error.Message == "" {
			t.Errorf("%s: %d %s", who, status, raw)
		}
	}
	status, raw := s.do(agentA, http.MethodPost, path, body, map[string]string{"X-Skillrouter-Agent": "b"})
	if status != 403 || !strings.Contains(raw, `"type":"permission_error"`) {
		t.Errorf("as another agent: %d %s", status, raw)
	}
	status, raw = s.do(agentA, http.MethodPost, path, body, map[string]string{"Origin": "http://evil.example"})
	if status != 403 || !strings.Contains(raw, `"type":"permission_error"`) {
		t.Errorf("from a foreign page: %d %s", status, raw)
	}
}

// TestChatBounds: a conversation that is too large is refused before it is sent on.
func TestChatBounds(t *testing.T) {
	m := startModel(t)
	base := serveModel(t, m, nil)
	body := `{"model":"plain","messages":[{"role":"user","content":"` + strings.Repeat("x", 17<<20) + `"}]}`
	response, err := http.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Skipf("the router closed the connection while it was written to: %v", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%s", response.Status)
	}
}
