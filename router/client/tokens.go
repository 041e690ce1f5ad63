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
	return call[operational.IssuedToken](ctx, t.c, http.MethodPost, "/api/tokens", nil, draft)
}

// List implements operational.TokenService.
func (t Tokens) List(ctx context.Context) ([]operational.Token, error) {
	type listing struct {
		Tokens []operational.Token `json:"tokens"`
	}
	list, err := call[listing](ctx, t.c, http.MethodGet, "/api/tokens", nil, nil)
	return list.Tokens, err
}

// Revoke implements operational.TokenService.
func (t Tokens) Revoke(ctx context.Context, id string) (operational.Token, error) {
	path, err := segment("id", id)
	if err != nil {
		return operational.Token{}, err
	}
	return call[operational.Token](ctx, t.c, http.MethodDelete, "/api/tokens/"+path, nil, nil)
}
