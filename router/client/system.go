package client

import (
	"context"
	"net/http"
	"time"

	"skillrouter/learning/shelf"
	"skillrouter/operational"
	"skillrouter/router"
	"skillrouter/router/client/plain"
)

var _ shelf.EmbeddingService = System{}

// System looks at the process that answers, rather than at what it holds.
type System struct{ c *Client }

// Health is what the router says of itself (GET /health).
type Health struct {
	Status    string            `json:"status"`
	Server    string            `json:"server"`
	Version   string            `json:"version"`
	UptimeMS  int64             `json:"uptime_ms"`
	Timestamp time.Time         `json:"timestamp"`
	Stats     map[string]int64  `json:"stats"`
	Search    map[string]string `json:"search,omitempty"`
	Interlock any               `json:"interlock,omitempty"`
	Problems  []string          `json:"problems,omitempty"` // stored writes that turned out to be gone
}

// Health asks how the router is. A router that wants a token and got none says
// only that it answers, which is the error of any other call then.
func (s System) Health(ctx context.Context) (Health, error) {
	h, err := call[Health](ctx, s.c, http.MethodGet, at("/health"), nil)
	if err == nil {
		err = plain.NeedsToken(h.Status, h.Server)
	}
	return h, err
}

// Embeddings tells how far the vectors are by which search goes by meaning too.
func (s System) Embeddings(ctx context.Context) (shelf.EmbeddingStatus, error) {
	return call[shelf.EmbeddingStatus](ctx, s.c, http.MethodGet, at("/api/embeddings"), nil)
}

// Outbounds lists every place of the router that may open a connection.
func (s System) Outbounds(ctx context.Context) ([]router.Outbound, error) {
	return list[router.Outbound](ctx, s.c, at("/api/doctor/outbound"), "places")
}

// Doctor has the router check itself: settings, pragmas, indexes, disk, clock.
func (s System) Doctor(ctx context.Context) ([]router.SystemCheck, error) {
	return list[router.SystemCheck](ctx, s.c, at("/api/doctor"), "checks")
}

// Tokens is operational.TokenService over HTTP.
type Tokens struct{ c *Client }

var _ operational.TokenService = Tokens{}

// Self implements operational.TokenService.
func (t Tokens) Self(ctx context.Context) (operational.Identity, error) {
	return call[operational.Identity](ctx, t.c, http.MethodGet, at("/api/whoami"), nil)
}

// Issue implements operational.TokenService.
func (t Tokens) Issue(ctx context.Context, draft operational.TokenDraft) (operational.IssuedToken, error) {
	return call[operational.IssuedToken](ctx, t.c, http.MethodPost, at("/api/tokens"), draft)
}

// List implements operational.TokenService.
func (t Tokens) List(ctx context.Context) ([]operational.Token, error) {
	return list[operational.Token](ctx, t.c, at("/api/tokens"), "tokens")
}

// Revoke implements operational.TokenService.
func (t Tokens) Revoke(ctx context.Context, id string) (operational.Token, error) {
	return call[operational.Token](ctx, t.c, http.MethodDelete, at("/api/tokens/{id}", id), nil)
}
