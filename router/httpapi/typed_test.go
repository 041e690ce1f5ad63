package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// TestFirstRequests asks every kind of route at once what each derives when it
// is first asked, and the document, which derives all of them.
func TestFirstRequests(t *testing.T) {
	server, _ := operationalServer(t)
	json := map[string]string{"Content-Type": "application/json"}
	var all sync.WaitGroup
	for range 4 {
		for _, c := range []struct {
			method, target, body string
			status               int
		}{
			{"GET", "/api/tasks", "", http.StatusOK},
			{"POST", "/api/tasks", `{"title":"a","agent_id":"b"}`, http.StatusCreated},
			{"POST", "/api/tasks", `{"title":"a","prio":1}`, http.StatusBadRequest},
			{"GET", "/api/tasks/99", "", http.StatusNotFound},
			{"GET", "/api/tokens", "", http.StatusForbidden},
			{"GET", "/openapi.json", "", http.StatusOK},
			{"GET", "/openapi-3.0.yaml", "", http.StatusOK},
		} {
			all.Go(func() {
				header := json
				if c.body == "" {
					header = nil
				}
				if got := call(server, c.method, c.target, header, c.body); got.Code != c.status {
					t.Errorf("%s %s answers %d: %s", c.method, c.target, got.Code, got.Body)
				}
			})
		}
	}
	all.Wait()
}

// TestUnknownNamesInOrder: names that are not known are told in their order, however often one asks.
func TestUnknownNamesInOrder(t *testing.T) {
	server, _ := operationalServer(t)
	for range 8 {
		query := call(server, "GET", "/api/tasks?zoo=1&bee=2&ape=3", nil, "")
		body := call(server, "POST", "/api/tasks", map[string]string{"Content-Type": "application/json"}, `{"zoo":1,"bee":2,"ape":3}`)
		for _, got := range []*httptest.ResponseRecorder{query, body} {
			text := got.Body.String()
			ape, bee, zoo := strings.LastIndex(text, `"ape"`), strings.LastIndex(text, `"bee"`), strings.LastIndex(text, `"zoo"`)
			if got.Code != http.StatusBadRequest || ape < 0 || ape > bee || bee > zoo {
				t.Fatalf("%d %s", got.Code, text)
			}
		}
	}
}

// tasksEcho answers at once, so that a benchmark measures what lies before it.
type tasksEcho struct{ operational.TaskService }

func (tasksEcho) List(context.Context, operational.TaskFilter) ([]operational.Task, error) {
	return []operational.Task{{ID: "a", Title: "b"}}, nil
}

func (tasksEcho) Create(context.Context, operational.TaskDraft) (operational.Task, error) {
	return operational.Task{ID: "a", Title: "b"}, nil
}

// BenchmarkTypedRoute measures what a typed route costs around its handler.
func BenchmarkTypedRoute(b *testing.B) {
	server := httpapi.New(httpapi.Services{Tasks: tasksEcho{}}, httpapi.Options{})
	for _, c := range []struct{ name, method, target, body string }{
		{"body", "POST", "/api/tasks", `{"title":"write the docs","description":"all of them","agent_id":"builder","priority":"high","project":"router","tags":["docs","later"]}`},
		{"query", "GET", "/api/tasks?status=pending,claimed&project=router&limit=20&since=2026-01-02T03:04:05Z", ""},
		{"refused", "GET", "/api/tasks?limit=2000", ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := call(server, c.method, c.target, map[string]string{"Content-Type": "application/json"}, c.body); got.Code == http.StatusInternalServerError {
					b.Fatal(got.Body)
				}
			}
		})
	}
}
