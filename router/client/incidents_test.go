package client_test

import (
	"testing"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/client/clienttest"
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
