package client_test

import (
	"testing"

	"skillrouter/cmd/locate"
	"skillrouter/internal/principal"
	"skillrouter/learning/history"
	"skillrouter/learning/learningtest"
	"skillrouter/operational"
	"skillrouter/router/client"
	"skillrouter/router/client/clienttest"
)

func TestIncidentsContract(t *testing.T) {
	learningtest.Incidents(t, func(t *testing.T) history.Service {
		folder := t.TempDir()
		c, _ := consolidating(t, folder, 0)
		owner, err := locate.ReadOwnerToken(folder)
		if err != nil {
			t.Fatal(err)
		}
		byOwner := dial(t, c.BaseURL(), client.Options{Token: owner})
		if _, err := client.Send(t.Context(), byOwner, operational.TokenService.Issue, operational.TokenDraft{AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}}); err != nil {
			t.Fatal(err)
		}
		return clienttest.Incidents{C: byOwner}
	})
}
