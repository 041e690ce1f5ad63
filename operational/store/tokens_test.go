package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/operationaltest"
)

func TestTokens(t *testing.T) {
	operationaltest.Tokens(t, func(t *testing.T) operationaltest.World[operational.TokenService] {
		tokens, err := operational.OpenTokens(t.Context(), open(t), testClock())
		if err != nil {
			t.Fatal(err)
		}
		return direct[operational.TokenService](tokens)
	})
}

func TestAuthenticate(t *testing.T) {
	s := open(t)
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	tick := func() time.Time { return now }
	owner := operational.NewSecret()
	tokens, err := operational.OpenTokens(t.Context(), s, tick, operational.DigestOf(owner))
	if err != nil {
		t.Fatal(err)
	}
	if issued, err := tokens.Issued(t.Context()); issued || err != nil {
		t.Error("the owner's secret counts as an issued token")
	}
	if p, err := tokens.Authenticate(t.Context(), owner); err != nil || !p.Has(principal.ScopeAdmin) {
		t.Errorf("the owner is %+v, error %v", p, err)
	}
	ctx := principal.With(t.Context(), principal.System())
	issue := func(agent string, ttl int64) operational.IssuedToken {
		issued, err := tokens.Issue(ctx, operational.TokenDraft{AgentID: agent, Scopes: []principal.Scope{principal.ScopeAgent}, TTLSeconds: ttl})
		if err != nil {
			t.Fatal(err)
		}
		return issued
	}
	lasting, short := issue("builder-1", 0), issue("builder-2", 60)
	want := func(tokens *operational.Tokens, secret, agent string) {
		t.Helper()
		p, err := tokens.Authenticate(t.Context(), secret)
		if agent == "" {
			if errs.CodeOf(err) != errs.Unauthenticated {
				t.Errorf("a secret that is no more valid gives %+v, error %v", p, err)
			}
			return
		}
		if err != nil || p.AgentID != agent || !slices.Equal(p.Scopes, []principal.Scope{principal.ScopeAgent}) {
			t.Errorf("%s authenticates as %+v, error %v", agent, p, err)
		}
	}
	want(tokens, lasting.Secret, "builder-1")
	want(tokens, short.Secret, "builder-2")
	now = now.Add(time.Minute)
	want(tokens, short.Secret, "")
	if _, err := tokens.Revoke(ctx, lasting.ID); err != nil {
		t.Fatal(err)
	}
	want(tokens, lasting.Secret, "")
	if issued, err := tokens.Issued(t.Context()); !issued || err != nil {
		t.Error("an expired token that was never revoked lets the installation fall open")
	}

	// The same after a restart, from the database alone.
	reopened, err := operational.OpenTokens(t.Context(), s, func() time.Time { return now.Add(-30 * time.Second) })
	if err != nil {
		t.Fatal(err)
	}
	want(reopened, lasting.Secret, "")
	want(reopened, short.Secret, "builder-2")
	want(reopened, owner, "")
	want(reopened, "", "")
	want(reopened, short.Secret+"x", "")
	if _, err := reopened.Revoke(ctx, short.ID); err != nil {
		t.Fatal(err)
	}
	again, err := operational.OpenTokens(t.Context(), s, tick)
	if err != nil {
		t.Fatal(err)
	}
	for name, tokens := range map[string]*operational.Tokens{"at once": reopened, "after a restart": again} {
		if issued, err := tokens.Issued(t.Context()); !issued || err != nil {
			t.Errorf("%s, revoking the last token lets the installation fall open", name)
		}
	}
}

// TestAuthenticateFailuresAreLimited holds that guessing is slowed and that
// who bears a valid token never is.
func TestAuthenticateFailuresAreLimited(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	tokens, err := operational.OpenTokens(t.Context(), open(t), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	ctx := principal.With(t.Context(), principal.System())
	issued, err := tokens.Issue(ctx, operational.TokenDraft{Scopes: []principal.Scope{principal.ScopeRead}})
	if err != nil {
		t.Fatal(err)
	}
	count := map[errs.Code]int{}
	for range 1000 {
		_, err := tokens.Authenticate(t.Context(), "skr_guess")
		count[errs.CodeOf(err)]++
	}
	if count[errs.Unauthenticated] != 100 || count[errs.RateLimited] != 900 {
		t.Errorf("1000 wrong tokens at once gave %v", count)
	}
	if _, err := tokens.Authenticate(t.Context(), issued.Secret); err != nil {
		t.Errorf("a valid token is refused beside them: %v", err)
	}
	now = now.Add(time.Second)
	if _, err := tokens.Authenticate(t.Context(), "skr_guess"); errs.CodeOf(err) != errs.Unauthenticated {
		t.Errorf("a second later a wrong token gives %v", err)
	}
}

// TestTokenFromTheFuture (finding B11): a token of an hour that was issued while
// the clock was ten years ahead held for ten years more.
func TestTokenFromTheFuture(t *testing.T) {
	s := open(t)
	now := time.Date(2036, 11, 20, 9, 0, 0, 0, time.UTC)
	tick := func() time.Time { return now }
	ahead, err := operational.OpenTokens(t.Context(), s, tick)
	if err != nil {
		t.Fatal(err)
	}
	ctx := principal.With(t.Context(), principal.System())
	issued, err := ahead.Issue(ctx, operational.TokenDraft{AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}, TTLSeconds: 3600})
	if err != nil {
		t.Fatal(err)
	}
	now = now.AddDate(-10, 0, 0)
	tokens, err := operational.OpenTokens(t.Context(), s, tick) // as after a restart
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		valid bool
	}{{0, true}, {59 * time.Minute, true}, {2 * time.Minute, false}} {
		now = now.Add(step.after)
		if _, err := tokens.Authenticate(t.Context(), issued.Secret); (err == nil) != step.valid {
			t.Errorf("%s after the start: %v", step.after, err)
		}
	}
}
