package llm_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/router/contexts"
	"github.com/skillrouter/skillrouter/router/llm"
)

// builder is a ContextService that a test scripts.
type builder struct {
	mu    sync.Mutex
	asked []contexts.Request
	build func(ctx context.Context, request contexts.Request) (contexts.Context, error)
}

func (b *builder) Show(context.Context, contexts.Showing) (contexts.Context, error) {
	return contexts.Context{}, nil
}

func (b *builder) Build(ctx context.Context, request contexts.Request) (contexts.Context, error) {
	b.mu.Lock()
	b.asked = append(b.asked, request)
	b.mu.Unlock()
	return b.build(ctx, request)
}

const remembered = "<memory>\nPATCH, not PUT: \"quoted\" & \\ back\n</memory>"

func remembers() *builder {
	return &builder{build: func(_ context.Context, request contexts.Request) (contexts.Context, error) {
		return contexts.Context{Text: remembered, Tokens: 12, Budget: request.Budget, Items: []contexts.Item{{Kind: "knowledge", ID: "k1"}}}, nil
	}}
}

// diary is an EpisodeService that remembers in memory.
type diary struct {
	episode.Service
	recorded chan episode.Draft
}

func (d *diary) Record(ctx context.Context, draft episode.Draft) (episode.Episode, error) {
	if err := principal.Of(ctx).ActAs(draft.AgentID); err != nil {
		return episode.Episode{}, err
	}
	d.recorded <- draft
	return episode.Episode{}, nil
}

// proxy serves a Proxy in front of an endpoint to a principal.
func proxy(t *testing.T, base string, who principal.Principal, options llm.ProxyOptions, timeouts llm.Timeouts) *httptest.Server {
	t.Helper()
	var e *llm.Endpoint
	if base != "" {
		e, _ = endpoint(t, base, llm.Options{Key: "sk-upstream", Timeouts: timeouts})
	}
	p := llm.NewProxy(e, func(w http.ResponseWriter, err error) {
		status := map[errs.Code]int{
			errs.Unavailable: 503, errs.Invalid: 400, errs.Forbidden: 403, errs.NotFound: 404, errs.TooLarge: 413,
		}[errs.CodeOf(err)]
		text, _ := json.Marshal(map[string]any{"error": map[string]any{"message": errs.FieldOf(err) + " " + errs.MessageOf(err)}})
		says(w, status, string(text))
	}, options)
	if options.Episodes != nil {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		t.Cleanup(func() {
			stop()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.ServeHTTP(w, r.WithContext(principal.With(r.Context(), who)))
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server
}

func ask(t *testing.T, base, path, body string, header map[string]string) *http.Response {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func read(t *testing.T, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const asking = `{"model":"qwen3-coder","messages":[{"role":"user","content":"PATCH or PUT?"}],"seed":12345678901234567890,"x_unknown":{"b": 1, "a":[ ]} }`

// TestWhereMemoryGoes: only messages is touched, and of it one place.
func TestWhereMemoryGoes(t *testing.T) {
	quoted, _ := json.Marshal(remembered)
	memory := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(quoted[1 : len(quoted)-1]))
	message := `{"role":"system","content":"` + memory + `"}`
	tests := []struct{ name, body, want string }{
		{"no system message", asking, strings.Replace(asking, `[{"role"`, `[`+message+`,{"role"`, 1)},
		{
			"a system message",
			`{"messages" : [ {"content":"be \"kind\" \ud83d\ude00", "role":"system"} ,{"role":"user","content":"PATCH or PUT?"}],"tools":[]}`,
			`{"messages" : [ {"content":"be \"kind\" \ud83d\ude00\n\n` + memory + `", "role":"system"} ,{"role":"user","content":"PATCH or PUT?"}],"tools":[]}`,
		},
		{
			"several, of which the last leading one",
			`{"messages":[{"role":"system","content":"a"},{"role":"developer","content":""},{"role":"user","content":"PATCH or PUT?"},{"role":"system","content":"late"}]}`,
			`{"messages":[{"role":"system","content":"a"},{"role":"developer","content":"` + memory + `"},{"role":"user","content":"PATCH or PUT?"},{"role":"system","content":"late"}]}`,
		},
		{
			"a system message in parts",
			`{"messages":[{"role":"system","content":[{"type":"text","text":"a"} ]},{"role":"user","content":[{"type":"image_url","image_url":{}},{"type":"text","text":"PATCH or PUT?"}]}]}`,
			`{"messages":[{"role":"system","content":[{"type":"text","text":"a"} ,{"type":"text","text":"` + memory + `"}]},{"role":"user","content":[{"type":"image_url","image_url":{}},{"type":"text","text":"PATCH or PUT?"}]}]}`,
		},
		{
			"a system message of nothing",
			`{"messages":[{"role":"system","content":null},{"role":"user","content":"PATCH or PUT?"}]}`,
			`{"messages":[{"role":"system","content":null},` + message + `,{"role":"user","content":"PATCH or PUT?"}]}`,
		},
		{
			"messages twice: the last counts",
			`{"messages":[],"messages":[{"role":"user","content":"PATCH or PUT?"}]}`,
			`{"messages":[],"messages":[` + message + `,{"role":"user","content":"PATCH or PUT?"}]}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) { says(w, 200, completion) })
			memory := remembers()
			p := proxy(t, u.URL, principal.Open(), llm.ProxyOptions{Context: memory, Budget: 900}, llm.Timeouts{})
			response := ask(t, p.URL, "/v1/chat/completions", test.body, map[string]string{"X-Skillrouter-Agent": "a1", "X-Skillrouter-Project": "web"})
			if got := read(t, response); response.StatusCode != 200 || got != completion {
				t.Errorf("%d %s", response.StatusCode, got)
			}
			if got := response.Header.Get("X-Skillrouter-Memory"); got != "1 item, 12 tokens" {
				t.Errorf("memory: %s", got)
			}
			if diff := cmp.Diff(test.want, string(u.requests()[0].Body)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			want := []contexts.Request{{Task: "PATCH or PUT?", Budget: 900, AgentID: "a1", Project: "web"}}
			if diff := cmp.Diff(want, memory.asked); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestUntouched: what gets no memory goes on byte for byte, and the header says why.
func TestUntouched(t *testing.T) {
	long := `{"messages":[{"role":"user","content":"` + strings.Repeat("word ", 4000) + `"}]}`
	fails := func(err error) *builder {
		return &builder{build: func(context.Context, contexts.Request) (contexts.Context, error) { return contexts.Context{}, err }}
	}
	tests := []struct {
		name, body string
		header     map[string]string
		options    llm.ProxyOptions
		says       string
	}{
		{"switched off", asking, map[string]string{"X-Skillrouter-Memory": "OFF"}, llm.ProxyOptions{Context: remembers(), Budget: 500}, "off"},
		{"no budget", asking, nil, llm.ProxyOptions{Context: remembers()}, "off"},
		{"no builder", asking, nil, llm.ProxyOptions{Budget: 500}, "none: there is no memory here"},
		{"nothing fits", asking, nil, llm.ProxyOptions{Budget: 500, Context: fails(nil)}, "none: nothing fits"},
		{"the builder fails", asking, nil, llm.ProxyOptions{Budget: 500, Context: fails(errors.New("disk"))}, "none: it could not be gathered in time"},
		{"the builder hangs", asking, nil, llm.ProxyOptions{Budget: 500, MemoryTime: 20 * time.Millisecond, Context: &builder{build: func(context.Context, contexts.Request) (contexts.Context, error) {
			<-t.Context().Done()
			return contexts.Context{}, nil
		}}}, "none: it could not be gathered in time"},
		{"a conversation that fills the window", long, nil, llm.ProxyOptions{Budget: 500, Window: 4096, Context: remembers()}, "none: the conversation fills the model's window"},
		{"no user", `{"messages":[{"role":"system","content":"x"}]}`, nil, llm.ProxyOptions{Budget: 500, Context: remembers()}, "none: the user asks nothing"},
		{"no messages", `{"messages":[]}`, nil, llm.ProxyOptions{Budget: 500, Context: remembers()}, "none: the user asks nothing"},
		{"messages of another kind", `{"messages":"hi"}`, nil, llm.ProxyOptions{Budget: 500, Context: remembers()}, "none: this is no conversation"},
		{"a message that is a text", `{"messages":["hi"]}`, nil, llm.ProxyOptions{Budget: 500, Context: remembers()}, "none: this is no conversation"},
		{"broken JSON", `{"messages":[`, nil, llm.ProxyOptions{Budget: 500, Context: remembers()}, "none: this is no conversation"},
		{"prose", `hello`, nil, llm.ProxyOptions{Budget: 500, Context: remembers()}, "none: this is no conversation"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) { says(w, 200, completion) })
			p := proxy(t, u.URL, principal.Open(), test.options, llm.Timeouts{})
			response := ask(t, p.URL, "/v1/chat/completions", test.body, test.header)
			if got := read(t, response); got != completion {
				t.Error(got)
			}
			if got := response.Header.Get("X-Skillrouter-Memory"); got != test.says {
				t.Errorf("the header says %q, want %q", got, test.says)
			}
			if got := string(u.requests()[0].Body); got != test.body {
				t.Errorf("the body became %s", got)
			}
		})
	}
}

// TestBudgetShrinks: what the window has left bounds the memory.
func TestBudgetShrinks(t *testing.T) {
	u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) { says(w, 200, completion) })
	memory := remembers()
	p := proxy(t, u.URL, principal.Open(), llm.ProxyOptions{Context: memory, Budget: 1500, Window: 4096}, llm.Timeouts{})
	body := `{"max_tokens":2000,"messages":[{"role":"user","content":"` + strings.Repeat("word ", 1200) + `"}]}` // about 1,500 tokens
	read(t, ask(t, p.URL, "/v1/chat/completions", body, nil))
	if got := memory.asked[0].Budget; got < 450 || got > 600 {
		t.Errorf("a budget of %d", got)
	}
	read(t, ask(t, p.URL, "/v1/chat/completions", asking, map[string]string{"X-Skillrouter-Budget": "77"}))
	if got := memory.asked[1].Budget; got != 77 {
		t.Errorf("a budget of %d", got)
	}
	if got := memory.asked[0].Task; len(got) > 4200 {
		t.Errorf("a task of %d bytes", len(got))
	}
}

// TestQuestion: a short answer of the user means little without what was said before.
func TestQuestion(t *testing.T) {
	u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) { says(w, 200, completion) })
	memory := remembers()
	p := proxy(t, u.URL, principal.Open(), llm.ProxyOptions{Context: memory, Budget: 500}, llm.Timeouts{})
	read(t, ask(t, p.URL, "/v1/chat/completions", `{"messages":[{"role":"user","content":"how do I rotate the signing keys?"},{"role":"assistant","content":"shall I?"},{"role":"user","content":"yes"},{"role":"tool","content":"done"}]}`, nil))
	if got := memory.asked[0].Task; got != "how do I rotate the signing keys?\nyes" {
		t.Errorf("the task is %q", got)
	}
}

func TestHeadersOfRequests(t *testing.T) {
	u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) { says(w, 200, completion) })
	p := proxy(t, u.URL, principal.Open(), llm.ProxyOptions{}, llm.Timeouts{})
	read(t, ask(t, p.URL, "/v1/chat/completions?api-version=1", asking, map[string]string{
		"Authorization": "Bearer skr_ours", "Cookie": "a=b", "Origin": "http://localhost", "X-Skillrouter-Agent": "a", "X-Skillrouter-Memory": "on",
		"Connection": "X-Hop", "X-Hop": "1", "OpenAI-Organization": "org", "User-Agent": "aider/1", "Accept-Encoding": "zstd", "X-Stainless-Lang": "js",
	}))
	r := u.requests()[0]
	if r.Path != "/v1/chat/completions?api-version=1" || string(r.Body) != asking {
		t.Errorf("%s %s", r.Path, r.Body)
	}
	want := http.Header{
		"Authorization": {"Bearer sk-upstream"}, "Content-Type": {"application/json"}, "Content-Length": r.Header["Content-Length"],
		"Openai-Organization": {"org"}, "User-Agent": {"aider/1"}, "Accept-Encoding": {"zstd"}, "X-Stainless-Lang": {"js"},
	}
	if diff := cmp.Diff(want, r.Header); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestAnswersPass compares answers with those of a direct call, byte for byte.
func TestAnswersPass(t *testing.T) {
	tests := map[string]func(w http.ResponseWriter){
		"whole": func(w http.ResponseWriter) { says(w, 200, "  "+completion+"\r\n") },
		"stream": func(w http.ResponseWriter) {
			streams(w, ": hi\r\n\r\n", piece("a"), "event: odd\n"+piece("b"), lastPiece, done)
		},
		"tool calls": func(w http.ResponseWriter) { says(w, 200, toolCalls) },
		"bad request": func(w http.ResponseWriter) {
			says(w, 400, `{"error":{"message":"bad","type":"invalid_request_error"}}`)
		},
		"overloaded": func(w http.ResponseWriter) { w.Header().Set("Retry-After", "9"); says(w, 429, `{"error":"slow"}`) },
		"failed":     func(w http.ResponseWriter) { says(w, 500, "boom\n") },
		"prose":      func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/plain"); streams(w, "Sure!") },
		"nothing":    func(w http.ResponseWriter) { w.WriteHeader(204) },
		"not UTF-8":  func(w http.ResponseWriter) { says(w, 200, "\xff\x00\xfe") },
		"own headers": func(w http.ResponseWriter) {
			w.Header().Add("X-A", "1")
			w.Header().Add("X-A", "2")
			says(w, 200, completion)
		},
		"odd status": func(w http.ResponseWriter) { w.Header().Set("Openai-Processing-Ms", "7"); says(w, 418, `{}`) },
	}
	for name, answer := range tests {
		t.Run(name, func(t *testing.T) {
			u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", "Sat, 21 Nov 2026 12:00:00 GMT")
				answer(w)
			})
			p := proxy(t, u.URL, principal.Open(), llm.ProxyOptions{Context: remembers(), Budget: 100}, llm.Timeouts{})
			direct := ask(t, u.URL, "/v1/chat/completions", asking, nil)
			through := ask(t, p.URL, "/v1/chat/completions", asking, nil)
			if direct.StatusCode != through.StatusCode {
				t.Errorf("status %d, directly %d", through.StatusCode, direct.StatusCode)
			}
			if diff := cmp.Diff(read(t, direct), read(t, through)); diff != "" {
				t.Errorf("(-direct +through)\n%s", diff)
			}
			through.Header.Del("X-Skillrouter-Memory")
			if diff := cmp.Diff(direct.Header, through.Header); diff != "" {
				t.Errorf("(-direct +through)\n%s", diff)
			}
		})
	}
}

const toolCalls = `{"id":"c2","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}]},"finish_reason":"tool_calls"}]}`

// TestSiteHeadersStay: what an endpoint says of its own site is not said of ours.
func TestSiteHeadersStay(t *testing.T) {
	u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		for _, name := range []string{"Set-Cookie", "Access-Control-Allow-Origin", "Strict-Transport-Security", "X-Skillrouter-Memory", "Keep-Alive"} {
			w.Header().Set(name, "x")
		}
		says(w, 200, completion)
	})
	p := proxy(t, u.URL, principal.Open(), llm.ProxyOptions{}, llm.Timeouts{})
	response := ask(t, p.URL, "/v1/models", "", nil)
	for name, values := range response.Header {
		if values[0] == "x" {
			t.Errorf("%s came through", name)
		}
	}
}

func TestOtherPaths(t *testing.T) {
	u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) { says(w, 200, `{"object":"list","data":[]}`) })
	p := proxy(t, u.URL+"/openai/v1", principal.Open(), llm.ProxyOptions{Context: remembers(), Budget: 500}, llm.Timeouts{})
	for path, want := range map[string]string{
		"/v1/models": "/openai/v1/models", "/v1/models/hf.co/a%2Fb:q4": "/openai/v1/models/hf.co/a%2Fb:q4", "/v1/models?limit=1": "/openai/v1/models?limit=1",
	} {
		before := len(u.requests())
		if response := ask(t, p.URL, path, "", nil); response.StatusCode != 200 {
			t.Errorf("%s: %s", path, response.Status)
		}
		if got := u.requests()[before]; got.Path != want || got.Method != http.MethodGet {
			t.Errorf("%s asks %s %s", path, got.Method, got.Path)
		}
	}
	embeddings := `{"model":"nomic","input":["PATCH or PUT?"],"messages":[{"role":"user","content":"x"}]}`
	before := len(u.requests())
	response := ask(t, p.URL, "/v1/embeddings", embeddings, nil)
	if got := string(u.requests()[before].Body); got != embeddings || response.Header.Get("X-Skillrouter-Memory") != "" {
		t.Errorf("memory in %s", got)
	}
	for _, call := range [][2]string{
		{http.MethodPost, "/v1/responses"},
		{http.MethodPost, "/v1/responses/resp_1/cancel"},
		{http.MethodGet, "/v1/responses/resp_1/input_items?limit=2"},
		{http.MethodDelete, "/v1/responses/resp_1"},
	} {
		before := len(u.requests())
		const body = `{"model":"m","input":"PATCH or PUT?","unknown":1e-7}`
		r, _ := http.NewRequestWithContext(t.Context(), call[0], p.URL+call[1], strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		got := u.requests()[before]
		if response.StatusCode != 200 || got.Method != call[0] || got.Path != "/openai"+call[1] || string(got.Body) != body || response.Header.Get("X-Skillrouter-Memory") != "" {
			t.Errorf("%s: %s, asks %s %s with %s", call, response.Status, got.Method, got.Path, got.Body)
		}
	}
	before = len(u.requests())
	for _, path := range []string{"/v1/models/..%2f..%2fapi/delete", "/v1/models/%2e%2e/x", "/v1/models/..%5cx", "/v1/models/a%2f..%2fb", "/v1/./x"} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+path, nil)
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
	if got := u.requests(); len(got) != before {
		t.Errorf("it was asked %s", got[before].Path)
	}
}

// TestWhoMayAsk: the token says who asks, and headers cannot say more.
func TestWhoMayAsk(t *testing.T) {
	agent := principal.Principal{AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}}
	reader := principal.Principal{Scopes: []principal.Scope{principal.ScopeRead}}
	tests := []struct {
		name   string
		who    principal.Principal
		header map[string]string
		status int
		as     string
	}{
		{"an agent", agent, nil, 200, "a"},
		{"an agent by its name", agent, map[string]string{"X-Skillrouter-Agent": "a"}, 200, "a"},
		{"an agent by another's", agent, map[string]string{"X-Skillrouter-Agent": "b"}, 403, ""},
		{"a captain as another", principal.Open(), map[string]string{"X-Skillrouter-Agent": "b"}, 200, "b"},
		{"a reader", reader, nil, 403, ""},
		{"nobody", principal.Principal{}, nil, 403, ""},
		{"a name that is none", principal.Open(), map[string]string{"X-Skillrouter-Agent": "../x"}, 400, ""},
		{"a budget of ten million", agent, map[string]string{"X-Skillrouter-Budget": "10000000"}, 400, ""},
		{"a budget of nought", agent, map[string]string{"X-Skillrouter-Budget": "0"}, 400, ""},
		{"memory perhaps", agent, map[string]string{"X-Skillrouter-Memory": "perhaps"}, 400, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) { says(w, 200, completion) })
			memory := remembers()
			p := proxy(t, u.URL, test.who, llm.ProxyOptions{Context: memory, Budget: 500}, llm.Timeouts{})
			response := ask(t, p.URL, "/v1/chat/completions", asking, test.header)
			if response.StatusCode != test.status {
				t.Fatalf("%s: %s", response.Status, read(t, response))
			}
			if test.status != 200 {
				if len(u.requests()) != 0 {
					t.Error("the endpoint was asked")
				}
				return
			}
			if memory.asked[0].AgentID != test.as {
				t.Errorf("asked as %q", memory.asked[0].AgentID)
			}
		})
	}
}

// TestWhoMayReadAResponse: a kept response is somebody's conversation, and no list of models.
func TestWhoMayReadAResponse(t *testing.T) {
	reader := principal.Principal{Scopes: []principal.Scope{principal.ScopeRead}}
	u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) { says(w, 200, `{}`) })
	p := proxy(t, u.URL, reader, llm.ProxyOptions{}, llm.Timeouts{})
	for path, want := range map[string]int{"/v1/models": 200, "/v1/responses/resp_1": 403} {
		if response := ask(t, p.URL, path, "", nil); response.StatusCode != want {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
}

func TestNothingConfigured(t *testing.T) {
	p := proxy(t, "", principal.Open(), llm.ProxyOptions{}, llm.Timeouts{})
	response := ask(t, p.URL, "/v1/chat/completions", asking, nil)
	if response.StatusCode != http.StatusServiceUnavailable {
		t.Error(response.Status)
	}
	hold(t, "answer", read(t, response), "llm.base_url", "SKILLROUTER_LLM_BASE_URL")
}

// TestEndpointFaults: what the endpoint does not answer is answered by the proxy.
func TestEndpointFaults(t *testing.T) {
	hanging := script(t, func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	p := proxy(t, hanging.URL, principal.Open(), llm.ProxyOptions{}, llm.Timeouts{FirstByte: 50 * time.Millisecond})
	response := ask(t, p.URL, "/v1/chat/completions", asking, nil)
	if response.StatusCode != 503 || response.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("%s %v", response.Status, response.Header)
	}
	hold(t, "answer", read(t, response), "did not begin to answer")

	redirecting := script(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
	})
	p = proxy(t, redirecting.URL, principal.Open(), llm.ProxyOptions{}, llm.Timeouts{})
	response = ask(t, p.URL, "/v1/chat/completions", asking, nil)
	if response.StatusCode != 503 || response.Header.Get("Location") != "" {
		t.Errorf("%s %v", response.Status, response.Header)
	}
	hold(t, "answer", read(t, response), "redirections are not followed")

	gone := script(t, func(int, http.ResponseWriter, *http.Request) {})
	p = proxy(t, gone.URL, principal.Open(), llm.ProxyOptions{}, llm.Timeouts{})
	gone.Close()
	response = ask(t, p.URL, "/v1/models", "", nil)
	if response.StatusCode != 503 {
		t.Error(response.Status)
	}
	hold(t, "answer", read(t, response), "no model answers")
}

// TestPiecesComeAtOnce: a piece is handed on before the next one is there.
func TestPiecesComeAtOnce(t *testing.T) {
	next := make(chan struct{})
	u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		for _, text := range []string{"a", "b", "c"} {
			streams(w, piece(text))
			<-next
		}
	})
	p := proxy(t, u.URL, principal.Open(), llm.ProxyOptions{}, llm.Timeouts{})
	response := ask(t, p.URL, "/v1/chat/completions", asking, nil)
	lines := bufio.NewReader(response.Body)
	for _, text := range []string{"a", "b", "c"} {
		line, err := lines.ReadString('\n')
		if err != nil || !strings.Contains(line, `"content":"`+text+`"`) {
			t.Fatalf("%q %v", line, err)
		}
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		next <- struct{}{} // only now the endpoint goes on
	}
}

// TestThinkingByHTTP2: a model that is silent for longer than a piece may take to be written is waited for.
func TestThinkingByHTTP2(t *testing.T) {
	const writeTime = 50 * time.Millisecond
	next := make(chan struct{})
	u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		for _, text := range []string{"a", "b"} {
			streams(w, piece(text))
			<-next
		}
	})
	server := httptest.NewUnstartedServer(proxy(t, u.URL, principal.Open(), llm.ProxyOptions{WriteTime: writeTime}, llm.Timeouts{}).Config.Handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	response, err := server.Client().Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(asking))
	if err != nil || response.ProtoMajor != 2 {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for range 2 {
		<-time.After(3 * writeTime)
		next <- struct{}{}
	}
	if text := read(t, response); !strings.Contains(text, `"content":"b"`) {
		t.Errorf("%q", text)
	}
}

// TestDisconnects: the end of one side is the end of the other.
func TestDisconnects(t *testing.T) {
	t.Run("the client's", func(t *testing.T) {
		gone := make(chan struct{})
		u := script(t, func(_ int, w http.ResponseWriter, r *http.Request) {
			streams(w, piece("a"))
			<-r.Context().Done()
			close(gone)
		})
		p := proxy(t, u.URL, principal.Open(), llm.ProxyOptions{}, llm.Timeouts{})
		response := ask(t, p.URL, "/v1/chat/completions", asking, nil)
		if _, err := bufio.NewReader(response.Body).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		select {
		case <-gone:
		case <-time.After(10 * time.Second):
			t.Error("the endpoint was not told")
		}
	})
	t.Run("the endpoint's", func(t *testing.T) {
		u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			streams(w, piece("a"))
			panic(http.ErrAbortHandler)
		})
		p := proxy(t, u.URL, principal.Open(), llm.ProxyOptions{}, llm.Timeouts{})
		response := ask(t, p.URL, "/v1/chat/completions", asking, nil)
		text, err := io.ReadAll(response.Body)
		if err == nil || !bytes.Equal(text, []byte(piece("a"))) {
			t.Errorf("%q %v: the client takes it for whole", text, err)
		}
	})
	t.Run("the endpoint's silence", func(t *testing.T) {
		u := script(t, func(_ int, w http.ResponseWriter, r *http.Request) { streams(w, piece("a")); <-r.Context().Done() })
		p := proxy(t, u.URL, principal.Open(), llm.ProxyOptions{}, llm.Timeouts{Idle: 50 * time.Millisecond})
		response := ask(t, p.URL, "/v1/chat/completions", asking, nil)
		if text, err := io.ReadAll(response.Body); err == nil {
			t.Errorf("%q: the client takes it for whole", text)
		}
	})
}

// TestRecords: exchanges that are whole are remembered, without the memory that was put in front.
func TestRecords(t *testing.T) {
	tests := []struct {
		name   string
		body   string
		header map[string]string
		answer func(w http.ResponseWriter)
		want   bool
	}{
		{"whole", asking, nil, func(w http.ResponseWriter) { says(w, 200, strings.Replace(completion, "hello", "PATCH.", 1)) }, true},
		{"stream", `{"stream":true,` + asking[1:], nil, func(w http.ResponseWriter) { streams(w, piece("PAT"), piece("CH."), lastPiece, done) }, true},
		{"not wanted", asking, map[string]string{"X-Skillrouter-Record": "off"}, func(w http.ResponseWriter) { says(w, 200, completion) }, false},
		{"refused", asking, nil, func(w http.ResponseWriter) { says(w, 400, completion) }, false},
		{"a step with a tool", asking, nil, func(w http.ResponseWriter) { says(w, 200, toolCalls) }, false},
		{"prose", asking, nil, func(w http.ResponseWriter) { says(w, 200, "Sure!") }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) { test.answer(w) })
			d := &diary{recorded: make(chan episode.Draft, 9)}
			p := proxy(t, u.URL, principal.Principal{AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}},
				llm.ProxyOptions{Context: remembers(), Budget: 500, Episodes: d}, llm.Timeouts{})
			header := map[string]string{"X-Skillrouter-Project": "web", "Accept-Encoding": "gzip"}
			for name, value := range test.header {
				header[name] = value
			}
			read(t, ask(t, p.URL, "/v1/chat/completions", test.body, header))
			if !test.want {
				// One that is remembered shows that this one was not: they are stored in turn.
				test.answer = func(w http.ResponseWriter) { says(w, 200, strings.Replace(completion, "hello", "later", 1)) }
				read(t, ask(t, p.URL, "/v1/chat/completions", asking, map[string]string{"X-Skillrouter-Project": "web"}))
			}
			select {
			case got := <-d.recorded:
				answer := "PATCH."
				if !test.want {
					answer = "later"
				}
				want := episode.Draft{
					AgentID: "a", Project: "web", EventType: "outcome", Title: "PATCH or PUT?",
					Content: "Question:\nPATCH or PUT?\n\nAnswer by qwen3-coder:\n" + answer,
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			case <-time.After(10 * time.Second):
				t.Error("nothing is remembered")
			}
		})
	}
}
