package operationaltest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

var admin = principal.Principal{Scopes: []principal.Scope{principal.ScopeAdmin}}

// Tokens runs the contract of TokenService over worlds that fresh makes.
func Tokens(t *testing.T, fresh func(t *testing.T) World[operational.TokenService]) {
	for name, run := range map[string]func(*testing.T, World[operational.TokenService]){
		"issued, listed, revoked": tokenLife,
		"admins only":             tokenRights,
		"input is checked":        tokenInput,
	} {
		t.Run(name, func(t *testing.T) { run(t, fresh(t)) })
	}
}

func tokenLife(t *testing.T, w World[operational.TokenService]) {
	svc, ctx := w.As(admin), w.Context(t.Context(), admin)
	before := len(must[[]operational.Token](t)(svc.List(ctx)))
	issued := must[operational.IssuedToken](t)(svc.Issue(ctx, operational.TokenDraft{
		AgentID: "builder-1", Scopes: []principal.Scope{principal.ScopeAgent}, Note: "for the build box", TTLSeconds: 3600,
	}))
	if !strings.HasPrefix(issued.Secret, operational.TokenPrefix) || len(issued.Secret) < 40 || issued.ExpiresAt == nil || issued.RevokedAt != nil {
		t.Fatalf("issued was %+v", issued)
	}
	tokens := must[[]operational.Token](t)(svc.List(ctx))
	if len(tokens) != before+1 || tokens[0].ID != issued.ID || tokens[0].AgentID != "builder-1" || tokens[0].Note != "for the build box" {
		t.Fatalf("tokens are %+v", tokens)
	}
	if text, err := json.Marshal(tokens); err != nil || strings.Contains(string(text), issued.Secret) {
		t.Errorf("the listing shows the secret: %s, error %v", text, err)
	}
	revoked := must[operational.Token](t)(svc.Revoke(ctx, issued.ID))
	if revoked.RevokedAt == nil {
		t.Errorf("revoked it is %+v", revoked)
	}
	again := must[operational.Token](t)(svc.Revoke(ctx, issued.ID))
	if again.RevokedAt == nil || !again.RevokedAt.Equal(*revoked.RevokedAt) {
		t.Errorf("revoked again it is %+v", again)
	}
	refuses(t, errs.NotFound)(svc.Revoke(ctx, "nothing"))
}

func tokenRights(t *testing.T, w World[operational.TokenService]) {
	for _, p := range []principal.Principal{onlooker, agent("builder-1"), captain} {
		svc, ctx := w.As(p), w.Context(t.Context(), p)
		refuses(t, errs.Forbidden)(svc.Issue(ctx, operational.TokenDraft{Scopes: []principal.Scope{principal.ScopeRead}}))
		refuses(t, errs.Forbidden)(svc.List(ctx))
		refuses(t, errs.Forbidden)(svc.Revoke(ctx, "nothing"))
		if self := must[operational.Identity](t)(svc.Self(ctx)); self.AgentID != p.AgentID || !slices.Equal(self.Scopes, p.Scopes) || self.Open {
			t.Errorf("%+v is told to be %+v", p, self)
		}
	}
}

func tokenInput(t *testing.T, w World[operational.TokenService]) {
	svc, ctx := w.As(admin), w.Context(t.Context(), admin)
	for name, c := range map[string]struct {
		draft operational.TokenDraft
		field string
	}{
		"no scope":         {operational.TokenDraft{AgentID: "a"}, "scopes"},
		"unknown scope":    {operational.TokenDraft{AgentID: "a", Scopes: []principal.Scope{"root"}}, "scopes"},
		"agent without id": {operational.TokenDraft{Scopes: []principal.Scope{principal.ScopeAgent}}, "agent_id"},
		"bad id":           {operational.TokenDraft{AgentID: "a b", Scopes: []principal.Scope{principal.ScopeAgent}}, "agent_id"},
		"negative life":    {operational.TokenDraft{Scopes: []principal.Scope{principal.ScopeRead}, TTLSeconds: -1}, "ttl_seconds"},
		"endless life":     {operational.TokenDraft{Scopes: []principal.Scope{principal.ScopeRead}, TTLSeconds: 1 << 62}, "ttl_seconds"},
		"note":             {operational.TokenDraft{Scopes: []principal.Scope{principal.ScopeRead}, Note: "a\nb"}, "note"},
	} {
		_, err := svc.Issue(ctx, c.draft)
		if errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != c.field {
			t.Errorf("%s: error %v of field %q, want invalid of field %q", name, err, errs.FieldOf(err), c.field)
		}
	}
}
