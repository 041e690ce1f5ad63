package httpapi_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// changingSecrets are secrets that change while streams ask for them.
type changingSecrets struct {
	mu      sync.Mutex
	secrets secrets
}

func (s *changingSecrets) Authenticate(ctx context.Context, secret string) (principal.Principal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.secrets.Authenticate(ctx, secret)
}

func (s *changingSecrets) Issued(ctx context.Context) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.secrets.Issued(ctx)
}

func (s *changingSecrets) change(change func(secrets)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.secrets)
}

// TestStreamsEndWithTheirCallersRight opens a stream as somebody, changes what
// the router knows of tokens, and looks whether the stream ends.
func TestStreamsEndWithTheirCallersRight(t *testing.T) {
	someone := principal.Principal{AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}}
	for name, c := range map[string]struct {
		header map[string]string
		known  secrets
		change func(known secrets)
		ends   bool
	}{
		"nothing changes":                 {map[string]string{"Authorization": "Bearer s"}, secrets{"s": someone}, func(secrets) {}, false},
		"another's token is revoked":      {map[string]string{"Authorization": "Bearer s"}, secrets{"s": someone, "t": someone}, func(known secrets) { delete(known, "t") }, false},
		"nobody needs a token, and stays": {nil, secrets{}, func(secrets) {}, false},
		"its token is revoked":            {map[string]string{"Authorization": "Bearer s"}, secrets{"s": someone}, func(known secrets) { delete(known, "s") }, true},
		"its token may do less":           {map[string]string{"Authorization": "Bearer s"}, secrets{"s": someone}, func(known secrets) { known["s"] = principal.Principal{AgentID: "a"} }, true},
		"the first token is issued":       {nil, secrets{}, func(known secrets) { known["s"] = someone }, true},
	} {
		for _, path := range []string{"/events", "/ws", "/messages", "/mcp"} { // S9t: the last one stayed
			t.Run(name+path, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var cause error
					known := &changingSecrets{secrets: maps.Clone(c.known)}
					open := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
						<-r.Context().Done()
						cause = context.Cause(r.Context())
					})
					s := httpapi.New(httpapi.Services{Auth: known, Events: open, Socket: open, Messages: open, MCP: open}, httpapi.Options{})
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
					r.Host = "127.0.0.1:8025"
					for name, value := range c.header {
						r.Header.Set(name, value)
					}
					served := make(chan struct{})
					go func() { defer close(served); s.ServeHTTP(httptest.NewRecorder(), r) }()
					<-time.After(3*httpapi.RecheckEvery + time.Second)
					known.change(c.change)
					began := time.Now()
					select {
					case <-served:
						if took := time.Since(began); !c.ends || took > httpapi.RecheckEvery {
							t.Errorf("it ends after %v", took)
						}
						if errs.CodeOf(cause) != errs.Unauthenticated {
							t.Errorf("it ends with %v", cause)
						}
					case <-time.After(5 * httpapi.RecheckEvery):
						if c.ends {
							t.Error("it goes on")
						}
						cancel()
						<-served
						if errs.CodeOf(cause) == errs.Unauthenticated {
							t.Errorf("a client that goes away ends it with %v", cause)
						}
					}
				})
			})
		}
	}
}
