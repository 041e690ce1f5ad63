package operational

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// Bounds and figures of tokens.
const (
	// TokenPrefix opens every secret, so that people and leak scanners know one when they see it.
	TokenPrefix = "skr_"
	// tokenBytes of randomness make guessing hopeless; hence a plain SHA-256 is digest enough.
	tokenBytes = 32
	// MaxTokens that are not revoked. They are kept in memory; a team is far smaller.
	MaxTokens = 10_000
	// MaxTokenTTL is ten years, in seconds: longer means until revoked.
	MaxTokenTTL = 10 * 365 * 24 * 3600
	// maxSecret bounds what is hashed to see whether it is a token, in bytes.
	maxSecret = 256
	// Failed authentications that are answered as such, altogether: beyond them callers
	// are told to wait. Valid tokens are never slowed, and nothing is kept per caller.
	failuresPerSecond = 10
	failureBurst      = 100
)

// TokenService is what can be done with tokens. Tokens implements it beside
// the database, router/client over HTTP. All of it but Self needs ScopeAdmin, and what changes something
// a person where a passphrase is set.
type TokenService interface {
	// Self says who is calling, which a client cannot read from its secret. Whoever may call may ask.
	Self(ctx context.Context) (Identity, error)
	// Issue makes a token. Its secret is in the answer and nowhere else.
	Issue(ctx context.Context, draft TokenDraft) (IssuedToken, error)
	// List lists all tokens, revoked and expired ones too, the latest first.
	List(ctx context.Context) ([]Token, error)
	// Revoke ends a token at once. Revoking it again changes nothing.
	Revoke(ctx context.Context, id string) (Token, error)
}

// IssuedToken is a new token with its secret.
type IssuedToken struct {
	Token
	Secret string `json:"token"`
}

// Identity is who makes a call.
type Identity struct {
	AgentID string            `json:"agent_id,omitempty"` // the agent that the token was issued to, if it is one's
	Person  string            `json:"person,omitempty"`   // the person, if it is one's
	Scopes  []principal.Scope `json:"scopes"`
	Open    bool              `json:"open"` // no token is needed, and none was ever issued: everybody is the captain
	// Projects are the only ones that the token sees and writes; none: all.
	Projects []string `json:"projects,omitempty"`
}

// TokenDigest is the SHA-256 of a secret: what is stored of it.
type TokenDigest [sha256.Size]byte

// DigestOf returns the digest of a secret.
func DigestOf(secret string) TokenDigest { return sha256.Sum256([]byte(secret)) }

// NewSecret makes a secret of 256 random bits.
func NewSecret() string {
	random := make([]byte, tokenBytes)
	_, _ = rand.Read(random) // never fails: it ends the program instead
	return TokenPrefix + base64.RawURLEncoding.EncodeToString(random)
}

// clockSlack is how far in the future a token may have been issued before the
// clock counts as set back: clocks are corrected by less every day.
const clockSlack = time.Minute

// TokenStore keeps tokens. after runs after the commit, in commit order.
type TokenStore interface {
	CreateToken(ctx context.Context, token Token, digest TokenDigest, event eventlog.Event, after func()) error
	ListTokens(ctx context.Context, limit int) ([]Token, error)
	// LiveTokens returns the tokens that are not revoked, by digest.
	LiveTokens(ctx context.Context) (map[TokenDigest]Token, error)
	// ChangeToken applies change and writes its event; a change without an event stores nothing.
	ChangeToken(ctx context.Context, id string, change func(token *Token) *eventlog.Event, after func(token Token)) (Token, error)
}

// Tokens issues tokens, and tells who is calling from the secret of a token. It keeps the
// tokens that are not revoked in memory, in step with the database, so that a call costs no
// query.
type Tokens struct {
	store TokenStore
	now   clock.Clock
	owner []TokenDigest
	fails *rate.Limiter

	mu     sync.RWMutex
	live   map[TokenDigest]Token
	issued bool
}

var _ TokenService = (*Tokens)(nil)

// OpenTokens makes the service with the tokens in the store. A secret whose digest is among
// the owner digests is an admin's; these are not tokens that were issued.
func OpenTokens(ctx context.Context, store TokenStore, now clock.Clock, owner ...TokenDigest) (*Tokens, error) {
	t := &Tokens{store: store, now: now, owner: owner, fails: rate.NewLimiter(failuresPerSecond, failureBurst)}
	return t, t.Load(ctx)
}

// Load reads the tokens from the store: those that another router issued or revoked, too.
func (t *Tokens) Load(ctx context.Context) error {
	live, err := t.store.LiveTokens(ctx)
	if err != nil {
		return err
	}
	for digest, token := range live {
		// The clock was set back since: a token of an hour must not hold for years. It holds an hour from now.
		if at := t.now(); token.ExpiresAt != nil && token.CreatedAt.After(at.Add(clockSlack)) {
			expires := at.Add(token.ExpiresAt.Sub(token.CreatedAt))
			token.ExpiresAt = &expires
			live[digest] = token
		}
	}
	ever, err := t.store.ListTokens(ctx, 1)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live, t.issued = live, len(ever) > 0
	return nil
}

// Issued tells whether a token was ever issued, even if all have expired or were revoked
// since. An installation that uses tokens must not become open because its last token was
// revoked.
func (t *Tokens) Issued(context.Context) (bool, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.issued, nil
}

// Authenticate returns the principal to whom the secret belongs. The error is
// Unauthenticated, or RateLimited after too many wrong secrets.
func (t *Tokens) Authenticate(_ context.Context, secret string) (principal.Principal, error) {
	now := t.now()
	if len(secret) > 0 && len(secret) <= maxSecret {
		digest := DigestOf(secret)
		for _, owner := range t.owner {
			if subtle.ConstantTimeCompare(owner[:], digest[:]) == 1 {
				t.mu.RLock()
				defer t.mu.RUnlock()
				return principal.Owner(t.issued), nil
			}
		}
		t.mu.RLock()
		token, known := t.live[digest]
		t.mu.RUnlock()
		switch {
		case known && (token.ExpiresAt == nil || now.Before(*token.ExpiresAt)):
			p := principal.Principal{AgentID: token.AgentID, Person: token.Person, Scopes: slices.Clone(token.Scopes)}.Bind(token.Projects)
			if token.IssuedBelow == "" {
				p = p.Signing("token " + token.ID)
			}
			return p, nil
		case known:
			return principal.Principal{}, errs.Errorf(errs.Unauthenticated, "the token has expired")
		}
	}
	if !t.fails.AllowN(now, 1) {
		return principal.Principal{}, errs.Errorf(errs.RateLimited, "too many wrong tokens: wait a second")
	}
	return principal.Principal{}, errs.Errorf(errs.Unauthenticated, "the token is not valid")
}

// Self implements TokenService.
func (t *Tokens) Self(ctx context.Context) (Identity, error) {
	p := principal.Of(ctx)
	if len(p.Scopes) == 0 {
		return Identity{}, errs.Errorf(errs.Unauthenticated, "a token is needed")
	}
	return Identity{AgentID: p.AgentID, Person: p.Person, Scopes: slices.Clone(p.Scopes), Open: p.IsOpen(), Projects: p.Projects()}, nil
}

// Issue implements TokenService.
func (t *Tokens) Issue(ctx context.Context, draft TokenDraft) (IssuedToken, error) {
	p := principal.Of(ctx)
	if err := cmp.Or(p.Need(principal.ScopeAdmin), p.NeedPerson(), draft.check()); err != nil {
		return IssuedToken{}, err
	}
	t.mu.RLock()
	full := len(t.live) >= MaxTokens
	t.mu.RUnlock()
	if full {
		return IssuedToken{}, errs.Errorf(errs.Conflict, "there are %d tokens already: revoke some", MaxTokens)
	}
	now := t.now.Stamp()
	issued := IssuedToken{
		Token:  Token{ID: check.NewID(), AgentID: draft.AgentID, Person: check.OneLine(draft.Person), Scopes: slices.Clone(draft.Scopes), Projects: slices.Clone(draft.Projects), Note: draft.Note, CreatedAt: now},
		Secret: NewSecret(),
	}
	if draft.TTLSeconds > 0 {
		expires := now.Add(time.Duration(draft.TTLSeconds) * time.Second)
		issued.ExpiresAt = &expires
	}
	digest := DigestOf(issued.Secret)
	err := t.store.CreateToken(ctx, issued.Token, digest, tokenEvent(EventTokenIssued, issued.Token, p.AgentID, now), func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.live[digest] = issued.Token
		t.issued = true
	})
	if err != nil {
		return IssuedToken{}, err
	}
	return issued, nil
}

// List implements TokenService.
func (t *Tokens) List(ctx context.Context) ([]Token, error) {
	if err := principal.Of(ctx).Need(principal.ScopeAdmin); err != nil {
		return nil, err
	}
	return t.store.ListTokens(ctx, MaxTokens)
}

// Revoke implements TokenService.
func (t *Tokens) Revoke(ctx context.Context, id string) (Token, error) {
	p := principal.Of(ctx)
	if err := cmp.Or(p.Need(principal.ScopeAdmin), p.NeedPerson()); err != nil {
		return Token{}, err
	}
	now := t.now.Stamp()
	return t.store.ChangeToken(committer.Essential(ctx), id, func(token *Token) *eventlog.Event {
		if token.RevokedAt != nil {
			return nil
		}
		token.RevokedAt = &now
		e := tokenEvent(EventTokenRevoked, *token, p.AgentID, now)
		return &e
	}, func(token Token) {
		t.mu.Lock()
		defer t.mu.Unlock()
		maps.DeleteFunc(t.live, func(_ TokenDigest, live Token) bool { return live.ID == token.ID })
	})
}

func (d TokenDraft) check() error {
	if len(d.Scopes) == 0 {
		return errs.InvalidField("scopes", "is required: one or more of %v", principal.Scopes())
	}
	if len(d.Scopes) > len(principal.Scopes()) {
		return errs.InvalidField("scopes", "holds more than there are")
	}
	if err := cmp.Or(check.Each("scopes", d.Scopes, principal.Scopes()), check.OptionalAgent("agent_id", d.AgentID)); err != nil {
		return err
	}
	if d.AgentID == "" && slices.Contains(d.Scopes, principal.ScopeAgent) {
		return errs.InvalidField("agent_id", "is required for the scope %q", principal.ScopeAgent)
	}
	if err := d.checkProjects(); err != nil {
		return err
	}
	if d.Person != "" && d.AgentID != "" {
		return errs.InvalidField("person", "and agent_id exclude each other: a token is a person's or an agent's")
	}
	if err := check.Name("person", d.Person); err != nil {
		return err
	}
	if strings.ContainsAny(d.Note, "\r\n") {
		return errs.InvalidField("note", "may not hold line breaks")
	}
	if err := check.Text("note", d.Note, MaxFilterText); err != nil {
		return err
	}
	return check.Range("ttl_seconds", float64(d.TTLSeconds), 0, MaxTokenTTL)
}

// checkProjects refuses what no token can be bound to. Who acts for every agent is bound to nothing.
func (d TokenDraft) checkProjects() error {
	if len(d.Projects) > principal.MaxProjects {
		return errs.InvalidField("projects", "may name at most %d", principal.MaxProjects)
	}
	for _, project := range d.Projects {
		if err := check.Name("projects", project); err != nil {
			return err
		}
		if project == "" {
			return errs.InvalidField("projects", "may not name the empty project")
		}
	}
	if len(d.Projects) > 0 && (principal.Principal{Scopes: d.Scopes}).Has(principal.ScopeCaptain) {
		return errs.InvalidField("projects", "bind a token of the scopes %q and %q alone: a captain acts for every agent", principal.ScopeRead, principal.ScopeAgent)
	}
	return nil
}

// The types of the events of tokens.
const (
	EventTokenIssued  = "token.issued"
	EventTokenRevoked = "token.revoked"
)

func tokenEvent(kind string, token Token, by string, at time.Time) eventlog.Event {
	return eventOf(kind, token.ID, by, "", at, map[string]any{"agent_id": token.AgentID, "scopes": token.Scopes})
}

// Token is an issued token as it may be shown: without its secret, of which
// only a digest is stored.
type Token struct {
	ID        string            `json:"id"`
	AgentID   string            `json:"agent_id,omitempty"`
	Person    string            `json:"person,omitempty"`
	Scopes    []principal.Scope `json:"scopes"`
	Projects  []string          `json:"projects,omitempty"` // the only ones that it sees and writes; none: all
	Note      string            `json:"note,omitempty"`
	CreatedAt time.Time         `json:"created_at"`
	ExpiresAt *time.Time        `json:"expires_at,omitempty"`
	RevokedAt *time.Time        `json:"revoked_at,omitempty"`
	// IssuedBelow is the kind of agent that ran the program which asked for the token, in what earlier versions issued. Nobody decides with it
	// what only a person may.
	IssuedBelow string `json:"issued_below,omitempty"`
}

// TokenDraft is what may be asked for of a new token.
type TokenDraft struct {
	AgentID    string            `json:"agent_id,omitempty" doc:"Agent that it is for; needed for the scope agent"` // needed for the scope agent
	Person     string            `json:"person,omitempty" doc:"Person that it is for, instead of an agent"`         // whose it is, if it is no agent's: what this person decides is signed so
	Scopes     []principal.Scope `json:"scopes" doc:"What it may do" among:"read,agent,captain,admin"`
	Projects   []string          `json:"projects,omitempty" doc:"Projects that it is bound to; none: it sees all"` // the only ones that it sees and writes; none: all
	Note       string            `json:"note,omitempty" doc:"What it is for, in your words"`
	TTLSeconds int64             `json:"ttl_seconds,omitempty" unit:"s" doc:"Seconds that it lives; 0: until it is revoked"` // 0: until revoked
}
