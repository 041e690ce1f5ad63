// Package principal says who makes a call, and what they may do.
package principal

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
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

// Principal says who makes a call. It comes from the token, never from a field that the
// client fills in. The zero Principal may do nothing.
type Principal struct {
	AgentID string // the agent that the token was issued to; empty for one that is no agent's
	Person  string // the person that the token was issued to; empty for an agent's, and for one that names nobody
	Scopes  []Scope

	open     bool                        // it stands for whoever calls
	signs    string                      // how what a person decides with it is signed; empty: no person bears it
	unissued bool                        // no token was ever issued, so nothing tells people from agents
	guarded  bool                        // a passphrase is set, which alone tells people from agents
	person   bool                        // whoever calls has proved to know the passphrase
	keeping  bool                        // see Keeping
	wall     *wall                       // nil: it sees every project
	near     bool                        // the call comes from this machine
	names    func(project string) string // nil: projects are called as calls say; see Named
}

// FromNear returns p as a caller on this machine.
func (p Principal) FromNear() Principal {
	p.near = true
	return p
}

// IsNear tells whether the call comes from this machine, so that the folders that it names are folders here.
func (p Principal) IsNear() bool { return p.near }

// PersonHeader is the HTTP header that bears the secret of a person's session: see person.Persons.
const PersonHeader = "Skill-Router-Person"

// UnderPassphrase returns p where a passphrase is set. A person who proved to know it and shows no token is the owner.
func (p Principal) UnderPassphrase(proved bool) Principal {
	if proved && p.open {
		near := p.near
		p = Owner(!p.unissued)
		p.near = near
	}
	p.guarded, p.person = true, proved
	return p
}

// IsPerson tells whether a person is known to make the call: by the passphrase, or where none is set by a token that names the person.
func (p Principal) IsPerson() bool {
	return p.person || !p.guarded && p.Person != "" && p.signs != "" && p.Has(ScopeCaptain)
}

// Guarded tells whether a passphrase is set, as far as the caller's door knows.
func (p Principal) Guarded() bool { return p.guarded }

// Proved tells whether whoever calls has proved to know the passphrase.
func (p Principal) Proved() bool { return p.person }

// NeedPerson returns a PassphraseNeeded error if a passphrase is set, and the caller did not prove to know it. No token stands in for it.
func (p Principal) NeedPerson() error {
	if p.guarded && !p.person {
		return errs.Errorf(errs.PassphraseNeeded, "only a person decides this, and no token stands in for the passphrase: give the command in your own terminal, or sign in to the dashboard with the passphrase")
	}
	return nil
}

// Decides returns an error unless p may weaken what guards everybody: see NeedPerson. While neither a passphrase nor a token exists, nobody may,
// because nothing tells a person from an agent.
func (p Principal) Decides() error {
	if err := p.NeedPerson(); err != nil {
		return err
	}
	if p.unissued && !p.person {
		return errs.Errorf(errs.Forbidden, "nobody decides this yet, because nothing tells a person from an agent. Set a passphrase in your own terminal, and then give the command again: skillrouter passphrase set")
	}
	return nil
}

// Open returns the principal of every call while the router listens on loopback and no token
// has been issued. It may act as every agent, and may not issue tokens.
func Open() Principal { return Principal{Scopes: []Scope{ScopeCaptain}, open: true, unissued: true} }

// IsOpen tells whether p is the principal that Open returns. Some rights of a captain, such
// as to exceed the limits of a mailbox, are not for everybody.
func (p Principal) IsOpen() bool { return p.open }

// Owner returns the principal of the owner's token. issued tells whether any token was issued.
func Owner(issued bool) Principal {
	return Principal{Scopes: []Scope{ScopeAdmin}, signs: "owner", unissued: !issued}
}

// Signing returns p as whoever decides what only a person may, signed with the person's name, else with that of the
// token's agent, else with name. A token with the scope agent is an agent's, whatever other scopes it has: it signs nothing.
func (p Principal) Signing(name string) Principal {
	if !slices.Contains(p.Scopes, ScopeAgent) {
		p.signs = cmp.Or(p.Person, p.AgentID, name)
	}
	return p
}

// Unissued tells whether no token was ever issued: whoever calls may then be anybody.
func (p Principal) Unissued() bool { return p.unissued }

// AsPerson returns the name that signs what only a person may decide: see Decides. An agent's token never does (see Signing). It needs ScopeCaptain.
func (p Principal) AsPerson() (string, error) {
	if p.signs == "" && !p.open {
		return "", errs.Errorf(errs.Forbidden, "only a person decides this, and the token is an agent's")
	}
	if err := cmp.Or(p.Need(ScopeCaptain), p.Decides()); err != nil {
		return "", err
	}
	return p.signs, nil
}

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

// KindOf is the kind of an agent: what stands before the first colon of its id, or all of it.
// Sessions of one kind, such as claude-code:amber-fox and claude-code:calm-owl, are one voice where voices are counted.
func KindOf(agentID string) string {
	kind, _, _ := strings.Cut(agentID, ":")
	return kind
}

// Voice is whom a call counts as where voices are counted: the token's agent, a person, or "" for the owner. Whatever names a caller
// gives, and without a token, all calls of one user are one voice.
func (p Principal) Voice() string {
	switch {
	case !p.Has(ScopeCaptain):
		return cmp.Or(p.AgentID, "?")
	case p.Person != "":
		return "@" + p.Person // no agent's id begins so
	}
	return p.AgentID
}

// Judge is whom a judgement counts as: a person, who begins with an "@", or the caller's voice.
func (p Principal) Judge() string {
	if name, err := p.AsPerson(); err == nil {
		return "@" + name
	}
	return p.Voice()
}

// SameVoice tells whether two agents are one voice: both are of one kind.
func SameVoice(a, b string) bool { return KindOf(a) == KindOf(b) }

// Is tells whether p is agentID: its own id, or a session of it. A token of claude-code is
// claude-code and every claude-code:NAME. It asks for no scope.
func (p Principal) Is(agentID string) bool {
	rest, own := strings.CutPrefix(agentID, p.AgentID)
	return own && p.AgentID != "" && (rest == "" || rest[0] == ':')
}

// Bound is the agent that p may act as alone, with its sessions; empty if p may act as any.
func (p Principal) Bound() string {
	if p.Has(ScopeCaptain) {
		return ""
	}
	return p.AgentID
}

// ActAs returns a Forbidden error unless p may act as agentID: its own id and its sessions', or
// any id with ScopeCaptain.
func (p Principal) ActAs(agentID string) error {
	if p.Has(ScopeCaptain) || p.Has(ScopeAgent) && p.Is(agentID) {
		return nil
	}
	if !p.Has(ScopeAgent) {
		return errs.Errorf(errs.Forbidden, "this token may not act as an agent: it lacks the scope %q", ScopeAgent)
	}
	return errs.Errorf(errs.Forbidden, "this token belongs to another agent and may not act as %q", agentID)
}

// ActingAs returns the agent in whose name a call is made. That is the agent that the client
// names in field, if p may act as that agent. Without a name it is the token's own agent,
// which may be empty. It needs ScopeAgent.
func (p Principal) ActingAs(field, named string) (string, error) {
	if err := p.Need(ScopeAgent); err != nil {
		return "", err
	}
	if named == "" {
		return p.AgentID, nil
	}
	return named, cmp.Or(check.AgentID(field, named), p.ActAs(named))
}

// SpeakingAs is ActingAs, but a captain may name any person too. It returns the name as it
// was checked: on one line, without white space at either end. Without a name a person speaks as himself.
func (p Principal) SpeakingAs(field, named string) (string, error) {
	if err := cmp.Or(p.Need(ScopeAgent), check.Name(field, named)); err != nil {
		return "", err
	}
	if named = check.OneLine(named); named == "" {
		return cmp.Or(p.AgentID, p.Person), nil
	}
	return named, p.ActAs(named)
}

// Need returns a Forbidden error unless p holds the scope, and is bound to no projects or asks
// what keeps to them.
func (p Principal) Need(scope Scope) error {
	if p.wall != nil && !p.keeping {
		return Unkept("what was asked for")
	}
	if p.Has(scope) {
		return nil
	}
	return errs.Errorf(errs.Forbidden, "this needs a token with the scope %q", scope)
}

type standingKey struct{}

// WithStanding returns a context for a stream that may outlive its caller's right to it.
// check returns an error when that right has ended.
func WithStanding(ctx context.Context, check func() error) context.Context {
	return context.WithValue(ctx, standingKey{}, check)
}

// Standing returns an error if the caller of a stream may not read on. A stream calls it
// before it passes on what it has read, so that nothing that happened after a token was
// revoked reaches its streams. It costs one digest and one look-up in memory.
func Standing(ctx context.Context) error {
	if check, ok := ctx.Value(standingKey{}).(func() error); ok {
		return check()
	}
	return nil
}

type principalKey struct{}

// WithPrincipal returns a context whose calls are made as p.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalOf returns who makes the calls of a context. If the context does not say, it
// returns the zero Principal, which may do nothing.
func Of(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}
