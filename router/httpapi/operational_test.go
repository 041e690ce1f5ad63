package httpapi_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/operationaltest"
	"github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/client/clienttest"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// operationalServer serves the operational services on a fresh database.
func operationalServer(t *testing.T) (*httpapi.Server, *operational.Tokens) {
	t.Helper()
	db, err := databasetest.OpenIn(t, t.TempDir(), "operational", time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = db.Commit.Run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	s := store.New(db.Read, db.Commit)
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second + 123456*time.Nanosecond)
		return now
	}
	tokens, err := operational.OpenTokens(t.Context(), s, clock)
	if err != nil {
		t.Fatal(err)
	}
	return httpapi.New(httpapi.Services{
		Auth: tokens, Tasks: operational.NewTasks(s, clock), Recon: operational.NewRecon(s, clock), Tokens: tokens,
	}, httpapi.Options{}), tokens
}

// overHTTP is a world behind a listening server. Each principal gets a client
// with a token of its own.
func overHTTP[Service any](t *testing.T, service func(*client.Client) Service) operationaltest.World[Service] {
	handler, tokens := operationalServer(t)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return operationaltest.World[Service]{
		As: func(p principal.Principal) Service {
			secret := "skr_of-nobody"
			if len(p.Scopes) > 0 {
				issued, err := tokens.Issue(principal.With(t.Context(), principal.System()), operational.TokenDraft{AgentID: p.AgentID, Scopes: p.Scopes})
				if err != nil {
					t.Fatal(err)
				}
				secret = issued.Secret
			}
			c, err := client.New(server.URL, client.Options{Token: secret})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			return service(c)
		},
		Context: func(ctx context.Context, _ principal.Principal) context.Context { return ctx },
	}
}

func TestTasksOverHTTP(t *testing.T) {
	operationaltest.Tasks(t, func(t *testing.T) operationaltest.World[operational.TaskService] {
		return overHTTP(t, func(c *client.Client) operational.TaskService { return clienttest.Tasks{C: c} })
	})
}

func TestReconOverHTTP(t *testing.T) {
	operationaltest.Recon(t, func(t *testing.T) operationaltest.World[operational.ReconService] {
		return overHTTP(t, func(c *client.Client) operational.ReconService { return clienttest.Recon{C: c} })
	})
}

func TestTokensOverHTTP(t *testing.T) {
	operationaltest.Tokens(t, func(t *testing.T) operationaltest.World[operational.TokenService] {
		return overHTTP(t, func(c *client.Client) operational.TokenService { return clienttest.Tokens{C: c} })
	})
}

// TestTaskBodies holds what a client that is not ours may send, and how it is refused.
func TestTaskBodies(t *testing.T) {
	server, _ := operationalServer(t)
	json := map[string]string{"Content-Type": "application/json"}
	if got := call(server, "POST", "/api/tasks", json, `{"title":"a","agent_id":"b"}`); got.Code != http.StatusCreated {
		t.Fatalf("created: %d %s", got.Code, got.Body)
	}
	for name, c := range map[string]struct {
		method, target, body string
		status               int
		field                string
	}{
		"unknown field":          {"POST", "/api/tasks", `{"title":"a","prio":1}`, 400, "prio"},
		"title missing":          {"POST", "/api/tasks", `{}`, 400, "title"},
		"wrong type":             {"POST", "/api/tasks", `{"title":"a","priority":"high"}`, 400, "priority"},
		"fraction of a priority": {"POST", "/api/tasks", `{"title":"a","priority":1.5}`, 400, "priority"},
		"priority out of range":  {"POST", "/api/tasks", `{"title":"a","priority":99}`, 400, "priority"},
		"no JSON":                {"POST", "/api/tasks", `{"title":`, 400, ""},
		"not a number":           {"POST", "/api/tasks/1/progress", `{"progress":NaN}`, 400, ""},
		"status unknown":         {"GET", "/api/tasks?status=lost", "", 400, "status"},
		"open unknown":           {"GET", "/api/tasks?open=maybe", "", 400, "open"},
		"limit too large":        {"GET", "/api/tasks?limit=5000", "", 400, "limit"},
		"unknown query":          {"GET", "/api/tasks?colour=red", "", 400, "colour"},
		"no such task":           {"GET", "/api/tasks/99", "", 404, ""},
		"body left out":          {"POST", "/api/tasks/1/release", "", 200, ""},
		"claim by nobody":        {"POST", "/api/tasks/claim", "", 400, "agent_id"},
		"two statuses":           {"GET", "/api/tasks?status=pending,claimed", "", 200, ""},
		"token without a scope":  {"POST", "/api/tokens", `{"scopes":[]}`, 403, ""},
	} {
		header := json
		if c.body == "" {
			header = nil
		}
		got := call(server, c.method, c.target, header, c.body)
		if got.Code != c.status || !strings.Contains(got.Body.String(), c.field) {
			t.Errorf("%s: %d %s, want %d naming %q", name, got.Code, got.Body, c.status, c.field)
		}
	}
	if got := call(server, "POST", "/api/tasks/1/release", nil, ""); got.Code != http.StatusConflict {
		t.Errorf("release of a pending task: %d %s", got.Code, got.Body)
	}
}
