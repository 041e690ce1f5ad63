package httpapi

import (
	"context"
	"net/http"

	"skillrouter/operational"
)

// TokenList is the answer of GET /api/tokens.
type TokenList struct {
	Tokens []operational.Token `json:"tokens"`
	Count  int                 `json:"count"`
}

func (s *Server) tokenRoutes() {
	tokens := s.services.Tokens
	if tokens == nil {
		return
	}
	created := operation(http.MethodPost, "/api/tokens", "tokens", "Issue a token; its secret is shown in this answer and never again")
	created.DefaultStatus = http.StatusCreated
	register(s, created, func(ctx context.Context, in *struct{ Body operational.TokenDraft }) (*answer[operational.IssuedToken], error) {
		issued, err := tokens.Issue(ctx, in.Body)
		return &answer[operational.IssuedToken]{Status: http.StatusCreated, Body: issued}, err
	})
	register(s, operation(http.MethodGet, "/api/tokens", "tokens", "List tokens, without their secrets, the latest first"),
		func(ctx context.Context, _ *struct{}) (*answer[TokenList], error) {
			list, err := tokens.List(ctx)
			return reply(TokenList{Tokens: emptied(list), Count: len(list)}), err
		})
	register(s, operation(http.MethodDelete, "/api/tokens/{id}", "tokens", "Revoke a token, at once and for good"),
		func(ctx context.Context, in *idInput) (*answer[operational.Token], error) {
			token, err := tokens.Revoke(ctx, in.ID)
			return reply(token), err
		})
}
