package httpapi

import (
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
	at := s.at("tokens", "/api/tokens")
	at.post("", "Issue a token; its secret is shown in this answer and never again", created(sent(tokens.Issue)))
	at.get("", "List tokens, without their secrets, the latest first",
		bare(of(tokens.List, func(list []operational.Token) TokenList { return TokenList{list, len(list)} })))
	at.delete("/{id}", "Revoke a token, at once and for good", named(tokens.Revoke))
}
