// Package operationaltest holds the contracts of the operational services: one
// suite per interface, to be run over the service itself and over every client
// that stands for it. It knows what a service promises, and neither the store
// nor the transport behind it.
package operationaltest

import (
	"context"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// World is a fresh, empty installation under test.
type World[Service any] struct {
	// As returns the service as the principal sees it: for a client, one that bears a token of the principal's.
	As func(p principal.Principal) Service
	// Context returns the context of a call that is made as the principal.
	Context func(ctx context.Context, p principal.Principal) context.Context
}

// The principals of the suites.
var (
	captain  = principal.Principal{AgentID: "captain", Scopes: []principal.Scope{principal.ScopeCaptain}}
	onlooker = principal.Principal{Scopes: []principal.Scope{principal.ScopeRead}}
	nobody   = principal.Principal{}
)

// secret is made up; no text that is stored may hold it.
const secret = "q7Zk3vQ9xT1bLw7RyP"

func agent(id string) principal.Principal {
	return principal.Principal{AgentID: id, Scopes: []principal.Scope{principal.ScopeAgent}}
}

// wantCode fails the test unless err has the code.
func wantCode(t *testing.T, err error, code errs.Code) {
	t.Helper()
	if got := errs.CodeOf(err); got != code {
		t.Fatalf("error %v has the code %q, want %q", err, got, code)
	}
}

// refuses is wantCode for a call that answers something beside its error.
func refuses(t *testing.T, code errs.Code) func(_ any, err error) {
	return func(_ any, err error) {
		t.Helper()
		wantCode(t, err, code)
	}
}

// must fails the test if err is not nil.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
