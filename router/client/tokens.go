package client

import (
	"context"
	"net/http"

	"skillrouter/operational"
)

// Tokens is operational.TokenService over HTTP.
type Tokens struct{ c *Client }

var _ operational.TokenService = Tokens{}

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
