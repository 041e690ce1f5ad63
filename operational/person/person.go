// Package person knows people from agents by a passphrase: what is stored of it, who has proved to know it, and how
// slowly it may be guessed. What takes a person is each service's own to say (principal.Principal).
package person

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/secure/precis"
	"golang.org/x/time/rate"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// Bounds and figures of passphrases.
const (
	// MinPassphrase is the least length in characters: NIST SP 800-63B, 5.1.1.1.
	MinPassphrase = 8
	// MaxPassphrase bounds what is hashed, in bytes.
	MaxPassphrase = 1024
	// PersonFor is how long a person's session lasts, and MaxPersons how many there may be; the one that ends first gives way.
	PersonFor  = 15 * time.Minute
	MaxPersons = 256
	// ResetShown is how long it is said everywhere that the passphrase was reset.
	ResetShown = 7 * 24 * time.Hour

	// The parameters of argon2id, as the OWASP Password Storage Cheat Sheet has them (m=19456, t=2, p=1; RFC 9106 describes the function): 19 MiB at
	// a time, because one hash is computed at a time.
	argonMemory, argonTime, argonThreads = 19 * 1024, 2, 1
	argonSalt, argonKey                  = 16, 32 // bytes, as RFC 9106, 3.1, recommends
	// maxArgonMemory and maxArgonTime bound the parameters of a stored hash: a database may come from elsewhere.
	maxArgonMemory, maxArgonTime = 256 * 1024, 16

	// Attempts from one source: so many at once, then so many a second. Who comes sooner waits for its turn, up to maxTurn.
	attemptBurst, attemptsPerSecond = 5, 2
	maxTurn                         = 20 * time.Second
	// attemptSources is how many sources have an allowance of their own. It is a fixed number, so that no flood of sources grows the memory.
	attemptSources = 64

	// maxSecret bounds what is hashed to see whether it is a session's, in bytes.
	maxSecret = 256
)

// Passphrase is what is stored of the passphrase: one row.
type Passphrase struct {
	Hash    string // argon2id, in the form $argon2id$v=19$m=…,t=…,p=…$SALT$KEY; empty: none is set
	SetAt   *time.Time
	ResetAt *time.Time
	MayStop bool // a person agreed that the setting agents_may_stop has effect
}

// PassphraseState is what is told of the passphrase.
type PassphraseState struct {
	Set     bool       `json:"set"`
	SetAt   *time.Time `json:"set_at,omitempty"`
	ResetAt *time.Time `json:"reset_at,omitempty" doc:"When it was reset, because it was lost; told for a week"`
	MayStop bool       `json:"agents_may_stop" doc:"A person agreed that the setting agents_may_stop has effect, from the next start on"`
}

// PassphraseDraft sets the passphrase, or changes it.
type PassphraseDraft struct {
	Passphrase string `json:"passphrase" doc:"The new one, 8 characters or more"`
	Former     string `json:"former,omitempty" doc:"The one that is set, if one is"`
}

// PersonDraft is how a person begins a session.
type PersonDraft struct {
	Passphrase string `json:"passphrase"`
}

// PersonSession proves that a person makes a call.
type PersonSession struct {
	Secret    string    `json:"person" doc:"Sent with calls in the header Skill-Router-Person"`
	ExpiresAt time.Time `json:"expires_at"`
}

// StopsDraft says whether the setting agents_may_stop has effect.
type StopsDraft struct {
	On bool `json:"on"`
}

// PersonService is what can be done with the passphrase. Persons implements it beside the database, router/client over HTTP.
type PersonService interface {
	// State needs ScopeRead.
	State(ctx context.Context) (PassphraseState, error)
	// SetPassphrase needs ScopeAdmin, and the former passphrase where one is set.
	SetPassphrase(ctx context.Context, draft PassphraseDraft) (PassphraseState, error)
	// SignIn begins a person's session.
	SignIn(ctx context.Context, draft PersonDraft) (PersonSession, error)
	// AllowStops needs ScopeAdmin and a person.
	AllowStops(ctx context.Context, draft StopsDraft) (PassphraseState, error)
}

// PassphraseStore keeps the passphrase's row.
type PassphraseStore interface {
	Passphrase(ctx context.Context) (Passphrase, error)
	// ChangePassphrase stores what change makes of the row, with its event. after runs after the commit, in commit order.
	ChangePassphrase(ctx context.Context, change func(p *Passphrase) (eventlog.Event, error), after func(p Passphrase)) error
}

// Persons tells whether a person makes a call, by the passphrase.
type Persons struct {
	store PassphraseStore
	now   clock.Clock

	lane    chan struct{} // one hash is computed at a time
	seed    maphash.Seed
	sources [attemptSources]*rate.Limiter

	mu     sync.RWMutex
	stored Passphrase
	held   map[[sha256.Size]byte]time.Time // until when sessions last, by the digest of their secrets
}

var _ PersonService = (*Persons)(nil)

// OpenPersons makes the service with what is stored.
func OpenPersons(ctx context.Context, store PassphraseStore, now clock.Clock) (*Persons, error) {
	p := &Persons{store: store, now: now, lane: make(chan struct{}, 1), seed: maphash.MakeSeed(), held: map[[sha256.Size]byte]time.Time{}}
	for i := range p.sources {
		p.sources[i] = rate.NewLimiter(attemptsPerSecond, attemptBurst)
	}
	return p, p.Load(ctx)
}

// Load reads the passphrase from the store: one that another router set, too.
func (p *Persons) Load(ctx context.Context) error {
	stored, err := p.store.Passphrase(ctx)
	if err == nil {
		p.keep(stored)
	}
	return err
}

// keep takes in what is stored. Sessions end with the passphrase that they began with.
func (p *Persons) keep(stored Passphrase) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stored.Hash != p.stored.Hash {
		clear(p.held)
	}
	p.stored = stored
}

// Mark is the caller with what is known of a person: whether one is needed, and whether the secret is that of a session.
func (p *Persons) Mark(caller principal.Principal, secret string) principal.Principal {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.stored.Hash == "" {
		return caller
	}
	ends, ok := time.Time{}, false
	if secret != "" && len(secret) <= maxSecret {
		ends, ok = p.held[sha256.Sum256([]byte(secret))]
	}
	return caller.UnderPassphrase(ok && p.now().Before(ends))
}

// Stored is what is stored of the passphrase.
func (p *Persons) Stored() Passphrase {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.stored
}

// Reset says that the passphrase was reset within the last week; empty: it was not.
func (p *Persons) Reset() string {
	at := p.Stored().ResetAt
	if at == nil || p.now().Sub(*at) > ResetShown {
		return ""
	}
	return fmt.Sprintf("the passphrase was reset on %s, and every standing permission ended. If that was not you, somebody else acted as you on this machine", at.Format(time.DateTime))
}

// MayStop tells whether the setting agents_may_stop has effect where it is on.
func (p *Persons) MayStop() bool {
	stored := p.Stored()
	return stored.Hash == "" || stored.MayStop
}

// State implements PersonService.
func (p *Persons) State(ctx context.Context) (PassphraseState, error) {
	if err := principal.Of(ctx).Keeping().Need(principal.ScopeRead); err != nil {
		return PassphraseState{}, err
	}
	return p.state(), nil
}

func (p *Persons) state() PassphraseState {
	stored := p.Stored()
	state := PassphraseState{Set: stored.Hash != "", SetAt: stored.SetAt, MayStop: stored.MayStop}
	if p.Reset() != "" {
		state.ResetAt = stored.ResetAt
	}
	return state
}

// SetPassphrase implements PersonService. Of two who set the first one at a time, the second is refused.
func (p *Persons) SetPassphrase(ctx context.Context, draft PassphraseDraft) (PassphraseState, error) {
	caller := principal.Of(ctx)
	if err := caller.Need(principal.ScopeAdmin); err != nil {
		return PassphraseState{}, err
	}
	next, err := prepared("passphrase", draft.Passphrase)
	if err != nil {
		return PassphraseState{}, err
	}
	if utf8.RuneCountInString(next) < MinPassphrase {
		return PassphraseState{}, errs.InvalidField("passphrase", "must have %d characters or more", MinPassphrase)
	}
	before := p.Stored().Hash
	switch {
	case before == "" && draft.Former != "":
		return PassphraseState{}, errs.InvalidField("former", "is for a passphrase that is set, and none is")
	case before != "" && draft.Former == "":
		return PassphraseState{}, errs.Errorf(errs.PassphraseNeeded, "a passphrase is set already: changing it takes that one. If it is lost, stop the router and run: skillrouter passphrase reset")
	case before != "":
		if before, err = p.prove(ctx, source(caller), draft.Former); err != nil {
			return PassphraseState{}, err
		}
	}
	hash, err := p.hash(ctx, next)
	if err != nil {
		return PassphraseState{}, err
	}
	at := p.now.Stamp()
	err = p.store.ChangePassphrase(ctx, func(stored *Passphrase) (eventlog.Event, error) {
		if stored.Hash != before {
			return eventlog.Event{}, errs.Errorf(errs.Conflict, "somebody set the passphrase meanwhile, and nothing was changed")
		}
		stored.Hash, stored.SetAt = hash, &at
		return passphraseEvent(EventPassphraseSet, caller.AgentID, at), nil
	}, p.keep)
	return p.state(), err
}

// AllowStops implements PersonService.
func (p *Persons) AllowStops(ctx context.Context, draft StopsDraft) (PassphraseState, error) {
	caller := principal.Of(ctx)
	if err := cmp.Or(caller.Need(principal.ScopeAdmin), caller.NeedPerson()); err != nil {
		return PassphraseState{}, err
	}
	err := p.store.ChangePassphrase(ctx, func(stored *Passphrase) (eventlog.Event, error) {
		stored.MayStop = draft.On
		return passphraseEvent(EventPassphraseStops, caller.AgentID, p.now.Stamp()), nil
	}, p.keep)
	return p.state(), err
}

// SignIn implements PersonService.
func (p *Persons) SignIn(ctx context.Context, draft PersonDraft) (PersonSession, error) {
	caller := principal.Of(ctx)
	if err := caller.Need(principal.ScopeAgent); err != nil {
		return PersonSession{}, err
	}
	return p.Begin(ctx, source(caller), draft.Passphrase, PersonFor)
}

// source is whose allowance an attempt is taken from.
func source(caller principal.Principal) string {
	return fmt.Sprintf("%s\n%s\n%t", caller.AgentID, caller.Person, caller.IsOpen())
}

// Begin begins a session that lasts so long, for whoever knows the passphrase. from is whose allowance of attempts it counts against.
func (p *Persons) Begin(ctx context.Context, from, passphrase string, last time.Duration) (PersonSession, error) {
	hash, err := p.prove(ctx, from, passphrase)
	if err != nil {
		return PersonSession{}, err
	}
	now := p.now()
	session := PersonSession{Secret: personPrefix + rand.Text() + rand.Text(), ExpiresAt: now.Add(last)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stored.Hash != hash {
		return PersonSession{}, errs.Errorf(errs.Conflict, "the passphrase was changed meanwhile: sign in with the new one")
	}
	maps.DeleteFunc(p.held, func(_ [sha256.Size]byte, ends time.Time) bool { return !now.Before(ends) })
	if len(p.held) >= MaxPersons {
		first := session.ExpiresAt
		for _, ends := range p.held {
			if ends.Before(first) {
				first = ends
			}
		}
		maps.DeleteFunc(p.held, func(_ [sha256.Size]byte, ends time.Time) bool { return !ends.After(first) })
	}
	p.held[sha256.Sum256([]byte(session.Secret))] = session.ExpiresAt
	return session, nil
}

// personPrefix opens every secret of a session, so that people and leak scanners know one when they see it.
const personPrefix = "skp_"

// prove compares a passphrase with the stored one, whose hash it returns. Attempts from one source wait for their turn: whoever guesses is slow,
// and whoever knows it waits no longer than those before.
func (p *Persons) prove(ctx context.Context, from, passphrase string) (string, error) {
	given, err := prepared("passphrase", passphrase)
	if err != nil {
		return "", err
	}
	hash := p.Stored().Hash
	if hash == "" {
		return "", errs.Errorf(errs.Conflict, "no passphrase is set: skillrouter passphrase set, in your own terminal")
	}
	if err := p.turn(ctx, from); err != nil {
		return "", err
	}
	same, err := p.same(ctx, hash, given)
	switch {
	case err != nil:
		return "", err
	case !same:
		return "", errs.Errorf(errs.Forbidden, "the passphrase is not the one that is set")
	}
	return hash, nil
}

// turn waits until a source may try once more.
func (p *Persons) turn(ctx context.Context, from string) error {
	limiter, now := p.sources[maphash.String(p.seed, from)%attemptSources], p.now()
	reserved := limiter.ReserveN(now, 1)
	wait := reserved.DelayFrom(now)
	if wait > maxTurn {
		reserved.CancelAt(now)
		return errs.Errorf(errs.RateLimited, "too many try a passphrase: wait %d seconds", int(maxTurn.Seconds()))
	}
	return committer.Pause(ctx, wait)
}

// alone runs a computation while no other runs.
func (p *Persons) alone(ctx context.Context, compute func()) error {
	select {
	case p.lane <- struct{}{}:
		defer func() { <-p.lane }()
		compute()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hash is what is stored of a passphrase.
func (p *Persons) hash(ctx context.Context, passphrase string) (hash string, err error) {
	salt := make([]byte, argonSalt)
	_, _ = rand.Read(salt) // never fails: it ends the program instead
	err = p.alone(ctx, func() {
		key := argon2.IDKey([]byte(passphrase), salt, argonTime, argonMemory, argonThreads, argonKey)
		hash = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads, base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
	})
	return hash, err
}

// same compares a passphrase with a hash, in a time that does not tell how alike they are.
func (p *Persons) same(ctx context.Context, hash, passphrase string) (same bool, err error) {
	var version, threads int
	var memory, times uint32
	var rest string
	if _, err := fmt.Sscanf(hash, "$argon2id$v=%d$m=%d,t=%d,p=%d$%s", &version, &memory, &times, &threads, &rest); err != nil {
		return false, unreadable(err)
	}
	salt64, key64, _ := strings.Cut(rest, "$")
	salt, err1 := base64.RawStdEncoding.DecodeString(salt64)
	key, err2 := base64.RawStdEncoding.DecodeString(key64)
	if err := cmp.Or(err1, err2); err != nil || version != argon2.Version || memory > maxArgonMemory || times < 1 || times > maxArgonTime || threads < 1 || threads > 16 || len(key) < 16 || len(key) > 64 {
		return false, unreadable(err)
	}
	err = p.alone(ctx, func() {
		same = subtle.ConstantTimeCompare(argon2.IDKey([]byte(passphrase), salt, times, memory, uint8(threads), uint32(len(key))), key) == 1
	})
	return same, err
}

func unreadable(err error) error {
	return &errs.Error{Code: errs.Internal, Message: "the stored passphrase cannot be read: stop the router and run: skillrouter passphrase reset", Err: err}
}

// prepared is a passphrase as it is hashed: the profile OpaqueString of RFC 8265, by which one that was typed on another keyboard is the same.
func prepared(field, passphrase string) (string, error) {
	switch {
	case passphrase == "":
		return "", errs.InvalidField(field, "is required")
	case len(passphrase) > MaxPassphrase:
		return "", errs.InvalidField(field, "may have up to %d bytes", MaxPassphrase)
	case !utf8.ValidString(passphrase):
		return "", errs.InvalidField(field, "must be UTF-8")
	}
	text, err := precis.OpaqueString.String(passphrase)
	if err != nil {
		return "", errs.InvalidField(field, "may hold no control characters, and nothing that no keyboard has")
	}
	return text, nil
}

// The types of the passphrase's events.
const (
	EventPassphraseSet   = "passphrase.set"
	EventPassphraseReset = "passphrase.reset"
	EventPassphraseStops = "passphrase.stops"
)

func passphraseEvent(kind, by string, at time.Time) eventlog.Event {
	return eventlog.Event{Type: kind, Subject: "passphrase", Agent: by, At: at, Data: json.RawMessage("{}")}
}

// ResetPassphrase forgets a passphrase that was lost. Whoever calls it holds the data folder, and no router writes.
func ResetPassphrase(ctx context.Context, store PassphraseStore, at time.Time) (was bool, err error) {
	err = store.ChangePassphrase(ctx, func(p *Passphrase) (eventlog.Event, error) {
		was = p.Hash != ""
		p.Hash, p.SetAt, p.ResetAt, p.MayStop = "", nil, &at, false
		return passphraseEvent(EventPassphraseReset, "", at), nil
	}, func(Passphrase) {})
	return was, err
}
