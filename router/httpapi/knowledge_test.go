package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/learning/store"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/client/clienttest"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// tokenTable authenticates the secrets that it lists.
type tokenTable map[string]principal.Principal

func (a tokenTable) Authenticate(_ context.Context, secret string) (principal.Principal, error) {
	if p, ok := a[secret]; ok {
		return p, nil
	}
	return principal.Principal{}, errs.Errorf(errs.Unauthenticated, "the token is not valid")
}

func (a tokenTable) Issued(context.Context) (bool, error) { return len(a) > 0, nil }

// memoryServer serves the learning services on a database of its own.
func memoryServer(t testing.TB, tokens tokenTable) (*httptest.Server, *knowledge.Base) {
	t.Helper()
	return serveMemory(t, memoryDatabase(t), tokens)
}

func memoryDatabase(t testing.TB) *database.DB {
	t.Helper()
	db, err := databasetest.OpenIn(t, t.TempDir(), "learning", time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = db.Commit.Run(t.Context()) })
	t.Cleanup(func() {
		running.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func serveMemory(t testing.TB, db *database.DB, tokens tokenTable) (*httptest.Server, *knowledge.Base) {
	t.Helper()
	s := store.New(db.Read, db.Commit)
	knowledge := knowledge.NewBase(s, learning.Options{})
	server := httptest.NewServer(httpapi.New(httpapi.Services{
		Auth: tokens, Knowledge: knowledge, Episodes: episode.NewEpisodes(s, learning.Options{}),
	}, httpapi.Options{}))
	t.Cleanup(server.Close)
	return server, knowledge
}

func TestLearningContractOverHTTP(t *testing.T) {
	learningtest.Run(t, func(t *testing.T) learningtest.Services {
		server, _ := memoryServer(t, nil)
		c, err := client.New(server.URL, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return learningtest.Services{Knowledge: clienttest.Knowledge{C: c}, Episodes: clienttest.Episodes{C: c}}
	})
}

// exchange sends a body and returns the status and the decoded answer.
func exchange(t testing.TB, server *httptest.Server, secret, method, path, contentType string, body io.Reader) (int, map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if len(text) > 0 {
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatalf("%s %s answers %q: %v", method, path, text, err)
		}
	}
	return response.StatusCode, answer
}

func post(t testing.TB, server *httptest.Server, path, body string) (int, map[string]any) {
	t.Helper()
	return exchange(t, server, "", http.MethodPost, path, "application/json", strings.NewReader(body))
}

func TestKnowledgeStatuses(t *testing.T) {
	server, _ := memoryServer(t, nil)
	entry := `{"category":"gotcha","title":"PATCH","content":"not PUT","tags":["http"]}`
	for _, step := range []struct {
		name, method, path, body string
		status                   int
		want                     map[string]any
	}{
		{"stored", "POST", "/api/knowledge", entry, 201, map[string]any{"duplicate": false, "updated": false}},
		{"duplicate", "POST", "/api/knowledge", entry, 200, map[string]any{"duplicate": true}},
		{"named", "POST", "/api/knowledge", `{"id":"a/b","category":"c","title":"t","content":"one"}`, 201, map[string]any{"knowledge_id": "a/b"}},
		{"named again", "POST", "/api/knowledge", `{"id":"a/b","category":"c","title":"t","content":"two"}`, 200, map[string]any{"updated": true}},
		{"read", "GET", "/api/knowledge/a%2Fb", "", 200, map[string]any{"id": "a/b", "content": "two"}},
		{"changed", "PUT", "/api/knowledge/a%2fb", `{"content":"three"}`, 200, map[string]any{"content": "three", "title": "t"}},
		{"plain slash", "GET", "/api/knowledge/a/b", "", 404, map[string]any{"code": "not_found"}},
		{"deleted", "DELETE", "/api/knowledge/a%2Fb", "", 204, nil},
		{"deleted before", "DELETE", "/api/knowledge/a%2Fb", "", 404, map[string]any{"code": "not_found"}},
		{"badly escaped control", "GET", "/api/knowledge/a%00b", "", 400, map[string]any{"field": "id"}},
		{"searched", "POST", "/api/knowledge/search", `{"query":"patch"}`, 200, map[string]any{"count": 1.0}},
		{"episode", "POST", "/api/episodes", `{"event_type":"action","title":"t","content":"c","agent_id":"a"}`, 201, map[string]any{"agent_id": "a", "importance": 0.5}},
		{"recent", "GET", "/api/episodes/recent?limit=3", "", 200, map[string]any{"count": 1.0}},
		{"episodes searched", "POST", "/api/episodes/search?explain=1", `{"query":"t"}`, 200, map[string]any{"count": 1.0}},
	} {
		contentType := ""
		if step.body != "" {
			contentType = "application/json"
		}
		status, got := exchange(t, server, "", step.method, step.path, contentType, strings.NewReader(step.body))
		if status != step.status {
			t.Errorf("%s: status %d, want %d: %v", step.name, status, step.status, got)
		}
		for key, value := range step.want {
			if got[key] != value {
				t.Errorf("%s: %s = %v, want %v", step.name, key, got[key], value)
			}
		}
	}
}

func TestMemoryRefusesBadInput(t *testing.T) {
	server, _ := memoryServer(t, nil)
	for _, test := range []struct {
		name, path, body string
		status           int
		field            string
	}{
		{"unknown field", "/api/knowledge", `{"category":"c","title":"t","content":"c","colour":"red"}`, 400, "colour"},
		{"a field of ours", "/api/knowledge", `{"category":"c","title":"t","content":"c","use_count":7}`, 400, "use_count"},
		{"missing title", "/api/knowledge", `{"category":"c","content":"c"}`, 400, "title"},
		{"wrong type", "/api/knowledge", `{"category":"c","title":1,"content":"c"}`, 400, "title"},
		{"tags that are none", "/api/knowledge", `{"category":"c","title":"t","content":"c","tags":"x"}`, 400, "tags"},
		{"tag that is none", "/api/knowledge", `{"category":"c","title":"t","content":"c","tags":[1]}`, 400, "tags"},
		{"large content", "/api/knowledge", `{"category":"c","title":"t","content":"` + strings.Repeat("x", learning.MaxContent+1) + `"}`, 413, "content"},
		{"not JSON", "/api/knowledge", `{"category":`, 400, ""},
		{"two documents", "/api/knowledge", `{"category":"c","title":"t","content":"c"}{}`, 400, ""},
		{"invalid UTF-8", "/api/knowledge", "{\"category\":\"c\",\"title\":\"t\",\"content\":\"\xff\xfe\"}", 400, ""},
		{"an array", "/api/knowledge", `[]`, 400, ""},
		{"no body", "/api/knowledge", ``, 400, ""},
		{"limit in words", "/api/knowledge/search", `{"query":"q","limit":"five"}`, 400, "limit"},
		{"limit of one half", "/api/knowledge/search", `{"query":"q","limit":0.5}`, 400, "limit"},
		{"limit over the top", "/api/knowledge/search", `{"query":"q","limit":100000}`, 400, "limit"},
		{"no query", "/api/knowledge/search", `{}`, 400, "query"},
		{"unknown parameter", "/api/knowledge/search?colour=red", `{"query":"q"}`, 400, "colour"},
		{"bad enum", "/api/episodes", `{"event_type":"mood","title":"t","content":"c"}`, 400, "event_type"},
		{"importance in words", "/api/episodes", `{"event_type":"action","title":"t","content":"c","importance":"high"}`, 400, "importance"},
		{"importance NaN", "/api/episodes", `{"event_type":"action","title":"t","content":"c","importance":NaN}`, 400, ""},
		{"importance beyond floats", "/api/episodes", `{"event_type":"action","title":"t","content":"c","importance":1e999}`, 400, ""},
		{"importance too high", "/api/episodes", `{"event_type":"action","title":"t","content":"c","importance":2}`, 400, "importance"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, got := post(t, server, test.path, test.body)
			if status != test.status {
				t.Errorf("status %d, want %d: %v", status, test.status, got)
			}
			if field, _ := got["field"].(string); test.field != "" && !strings.HasPrefix(field, test.field) {
				t.Errorf("field %q, want %q: %v", field, test.field, got)
			}
			if got["error"] == nil || got["error"] == "" {
				t.Errorf("no error member: %v", got)
			}
		})
	}
	for path, field := range map[string]string{
		"/api/episodes/recent?limit=x": "limit", "/api/episodes/recent?since=yesterday": "since", "/api/episodes/recent?event_type=mood": "event_type",
		"/api/knowledge?cursor=abc": "cursor", "/api/knowledge?limit=-1": "limit", "/api/knowledge?limit=201": "limit",
	} {
		status, got := exchange(t, server, "", http.MethodGet, path, "", nil)
		if status != 400 || got["field"] != field {
			t.Errorf("GET %s: %d %v, want 400 for %s", path, status, got, field)
		}
	}
}

func TestMemoryAuthorization(t *testing.T) {
	server, _ := memoryServer(t, tokenTable{
		"reader":  {Scopes: []principal.Scope{principal.ScopeRead}},
		"alice":   {AgentID: "alice", Scopes: []principal.Scope{principal.ScopeAgent}},
		"bob":     {AgentID: "bob", Scopes: []principal.Scope{principal.ScopeAgent}},
		"captain": {Scopes: []principal.Scope{principal.ScopeCaptain}},
	})
	entry := func(id, agent string) string {
		return fmt.Sprintf(`{"id":%q,"category":"c","title":"t","content":"by %s","agent_id":%q}`, id, agent, agent)
	}
	for _, step := range []struct {
		name, secret, method, path, body string
		status                           int
	}{
		{"nobody stores", "", "POST", "/api/knowledge", entry("1", "alice"), 401},
		{"nobody reads", "", "GET", "/api/knowledge/1", "", 401},
		{"a reader stores", "reader", "POST", "/api/knowledge", entry("1", ""), 403},
		{"a reader imports", "reader", "POST", "/api/knowledge/bulk", "[]", 403},
		{"a reader records", "reader", "POST", "/api/episodes", `{"event_type":"action","title":"t","content":"c"}`, 403},
		{"alice stores", "alice", "POST", "/api/knowledge", entry("1", "alice"), 201},
		{"bob stores as alice", "bob", "POST", "/api/knowledge", entry("2", "alice"), 403},
		{"bob updates hers by storing", "bob", "POST", "/api/knowledge", entry("1", "bob"), 403},
		{"bob updates hers", "bob", "PUT", "/api/knowledge/1", `{"title":"mine"}`, 403},
		{"bob deletes hers", "bob", "DELETE", "/api/knowledge/1", "", 403},
		{"a reader deletes hers", "reader", "DELETE", "/api/knowledge/1", "", 403},
		{"bob reads hers", "bob", "GET", "/api/knowledge/1", "", 200},
		{"a reader searches", "reader", "POST", "/api/knowledge/search", `{"query":"alice"}`, 200},
		{"alice updates hers", "alice", "PUT", "/api/knowledge/1", `{"title":"mine"}`, 200},
		{"the captain updates hers", "captain", "PUT", "/api/knowledge/1", `{"title":"ours"}`, 200},
		{"the captain stores as bob", "captain", "POST", "/api/knowledge", entry("3", "bob"), 201},
		{"bob deletes that", "bob", "DELETE", "/api/knowledge/3", "", 204},
		{"bob records as alice", "bob", "POST", "/api/episodes", `{"event_type":"action","title":"t","content":"c","agent_id":"alice"}`, 403},
		{"alice records", "alice", "POST", "/api/episodes", `{"event_type":"action","title":"t","content":"c"}`, 201},
	} {
		contentType := ""
		if step.body != "" {
			contentType = "application/json"
		}
		status, got := exchange(t, server, step.secret, step.method, step.path, contentType, strings.NewReader(step.body))
		if status != step.status {
			t.Errorf("%s: status %d, want %d: %v", step.name, status, step.status, got)
		}
	}
	_, got := exchange(t, server, "reader", "GET", "/api/knowledge/1", "", nil)
	if got["agent_id"] != "alice" || got["title"] != "ours" {
		t.Errorf("after all that: %v", got)
	}
	_, got = exchange(t, server, "reader", "GET", "/api/episodes/recent", "", nil)
	if list := got["episodes"].([]any); len(list) != 1 || list[0].(map[string]any)["agent_id"] != "alice" {
		t.Errorf("episodes: %v", got)
	}
	_, got = exchange(t, server, "bob", "POST", "/api/knowledge/bulk", "application/x-ndjson",
		strings.NewReader(entry("1", "bob")+"\n"+entry("4", "alice")+"\n"+entry("5", "bob")+"\n"))
	if got["stored"] != 1.0 || got["refused_count"] != 2.0 {
		t.Errorf("bob's import of hers: %v", got)
	}
}

func TestKnowledgeListing(t *testing.T) {
	server, _ := memoryServer(t, nil)
	var body bytes.Buffer
	for i := range 25 {
		fmt.Fprintf(&body, `{"id":"%d","category":"c%d","title":"t","content":"entry %d"}`+"\n", i, i%2, i)
	}
	if status, got := exchange(t, server, "", "POST", "/api/knowledge/bulk", "application/x-ndjson", &body); status != 200 || got["stored"] != 25.0 {
		t.Fatalf("%d %v", status, got)
	}
	var ids []string
	cursor, pages := "", 0
	for {
		_, got := exchange(t, server, "", "GET", "/api/knowledge?category=c0&limit=4&cursor="+cursor, "", nil)
		for _, e := range got["results"].([]any) {
			ids = append(ids, e.(map[string]any)["id"].(string))
		}
		pages++
		next, more := got["next"].(string)
		if !more {
			break
		}
		cursor = next
	}
	if got, want := strings.Join(ids, " "), "24 22 20 18 16 14 12 10 8 6 4 2 0"; got != want || pages != 4 {
		t.Errorf("%d pages: %s, want %s", pages, got, want)
	}
}
