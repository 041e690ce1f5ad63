package skillrouter

import (
	"cmp"
	"context"
	"slices"
)

// Scope is one right of a token.
type Scope string

// The scopes, from the least to the most.
const (
	// ScopeRead may read what is shared (memory, agents, tasks, recon), nobody's mailbox, and change nothing.
	ScopeRead Scope = "read"
	// ScopeAgent may act as its own agent id: check in, send, read its own mailbox, write memory, work on tasks.
	ScopeAgent Scope = "agent"
	// ScopeCaptain may act as any agent and read any mailbox.
	ScopeCaptain Scope = "captain"
	// ScopeAdmin may do everything, and issue and revoke tokens.
	ScopeAdmin Scope = "admin"
)

// Scopes lists every scope, from the least to the most.
func Scopes() []Scope { return []Scope{ScopeRead, ScopeAgent, ScopeCaptain, ScopeAdmin} }

// Principal is who a call is made as. It comes from the token, never from a
// field that the client fills in. The zero Principal may do nothing.
type Principal struct {
	AgentID string // the agent that the token was issued to; empty for one that is no agent's
	Scopes  []Scope

	open bool // it stands for whoever calls
}

// Open is the principal of every call while no token has been issued on a
// loopback bind: it may act as anyone, and may not issue tokens.
func Open() Principal { return Principal{Scopes: []Scope{ScopeCaptain}, open: true} }

// IsOpen tells whether p is that of Open: what a captain alone is granted for
// being one, such as to pass a mailbox's bounds, is not meant for everybody.
func (p Principal) IsOpen() bool { return p.open }

// System is the principal of the router's own work: timers, sweeps, start-up.
func System() Principal { return Principal{Scopes: []Scope{ScopeAdmin}} }

// Has tells whether p holds the scope or a greater one.
func (p Principal) Has(scope Scope) bool {
	rank := slices.Index(Scopes(), scope)
	for _, s := range p.Scopes {
		if slices.Index(Scopes(), s) >= rank && rank >= 0 {
			return true
		}
	}
	return false
}

// ActAs returns a Forbidden error unless p may act as agentID: its own id, or
// any id with ScopeCaptain.
func (p Principal) ActAs(agentID string) error {
	if p.Has(ScopeCaptain) || (p.Has(ScopeAgent) && p.AgentID != "" && p.AgentID == agentID) {
		return nil
	}
	if !p.Has(ScopeAgent) {
		return Errorf(Forbidden, "this token may not act as an agent: it lacks the scope %q", ScopeAgent)
	}
	return Errorf(Forbidden, "this token belongs to another agent and may not act as %q", agentID)
}

// ActingAs returns the agent that a call is made as: the one that the client
// names in field, if p may act as that agent, else the token's own, which may be
// nobody in particular. It needs ScopeAgent.
func (p Principal) ActingAs(field, named string) (string, error) {
	if err := p.Need(ScopeAgent); err != nil {
		return "", err
	}
	if named == "" {
		return p.AgentID, nil
	}
	return named, cmp.Or(CheckAgentID(field, named), p.ActAs(named))
}

// SpeakingAs is ActingAs where a captain may name any person too. The name that
// it returns is the one that was checked: on one line, and without white space at its ends.
func (p Principal) SpeakingAs(field, named string) (string, error) {
	if err := cmp.Or(p.Need(ScopeAgent), CheckName(field, named)); err != nil {
		return "", err
	}
	if named = OneLine(named); named == "" {
		return p.AgentID, nil
	}
	return named, p.ActAs(named)
}

// Need returns a Forbidden error unless p holds the scope.
func (p Principal) Need(scope Scope) error {
	if p.Has(scope) {
		return nil
	}
	return Errorf(Forbidden, "this needs a token with the scope %q", scope)
}

type standingKey struct{}

// WithStanding returns a context of a stream that may outlive its caller's right
// to it; check returns an error once that has ended.
func WithStanding(ctx context.Context, check func() error) context.Context {
	return context.WithValue(ctx, standingKey{}, check)
}

// Standing returns an error if the caller of a stream may hear no more. Whoever
// serves one asks before it hands on what it took, so that what happens after a
// token was revoked does not reach its streams. It costs a digest and a look into memory.
func Standing(ctx context.Context) error {
	if check, ok := ctx.Value(standingKey{}).(func() error); ok {
		return check()
	}
	return nil
}

type principalKey struct{}

// WithPrincipal returns a context whose calls are made as p.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalOf returns whom ctx's calls are made as; the zero Principal, which
// may do nothing, if nobody said.
func PrincipalOf(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}
