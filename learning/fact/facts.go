package fact

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/overlay"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/trace"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/shelf"
)

// Facts is the Service beside the database. Run does its background work.
type Facts struct {
	*shelf.Shelf[Fact]
	store               Store
	now                 clock.Clock
	log                 *slog.Logger
	uses                *shelf.Uses
	recent              recent
	hits, stale, misses atomic.Int64 // what readers found
}

var _ Service = (*Facts)(nil)

// NewFacts makes Facts.
func NewFacts(store Store, options learning.Options) *Facts {
	options = options.WithDefaults()
	f := &Facts{store: store, now: options.Now, log: options.Log}
	f.uses = shelf.NewUses(func(ctx context.Context, uses map[string]shelf.Use) error {
		defer f.recent.empty() // they show other counts
		return store.AddFactUse(ctx, uses)
	}, options.Log)
	f.Shelf = shelf.NewShelf(store, shelf.Shelved[Fact]{
		Kind: IndexKind, Events: []string{eventPrefix},
		ID: func(fact *Fact) string { return ID(fact.Persona, fact.Key) }, Size: func(fact *Fact) int { return len(fact.Value) }, Document: document,
		Findable: func(fact *Fact) bool { return fact.Live(f.now()) },
		Rows:     f.rows, Scan: store.ScanFacts,
	}, options)
	return f
}

// change queues a change of facts as ChangeFacts does.
func (f *Facts) change(ctx context.Context, decide func(tx Tx) error, after func()) (wait func() error) {
	return f.store.ChangeFacts(ctx, decide, func() {
		f.recent.empty()
		after()
	})
}

// Follow takes in what another node wrote, or what was put back.
func (f *Facts) Follow(ctx context.Context, events []eventlog.Event) error {
	if slices.ContainsFunc(events, func(e eventlog.Event) bool { return strings.HasPrefix(e.Type, eventPrefix) }) {
		f.recent.empty()
	}
	return f.Shelf.Follow(ctx, events)
}

// Remember implements Service.
func (f *Facts) Remember(ctx context.Context, draft Draft) (_ Stored, err error) {
	ctx, span := trace.StartMemory(ctx, "upsert_memory", "fact")
	defer func() { span.Finish(err) }()
	author, err := principal.Of(ctx).ActingAs("agent_id", draft.AgentID)
	if err != nil {
		return Stored{}, err
	}
	p, err := Prepare(draft)
	if err != nil {
		return Stored{}, err
	}
	p.Author, p.Trust = author, learning.TrustOf(principal.Of(ctx))
	if kinds := p.Redaction.Kinds(); draft.Exact && len(kinds) > 0 {
		return Stored{}, errs.InvalidField("value", "holds a secret (%s): it is not stored, because only the exact value was to be stored", strings.Join(kinds, ", "))
	}
	return f.put(learning.Noting(ctx, f.now.Stamp(), learning.Edited, "fact", ID(p.Persona, p.Key)), p)
}

// put stores a prepared fact.
func (f *Facts) put(ctx context.Context, p prepared) (Stored, error) {
	var fact Fact
	var replaced bool
	err := f.change(ctx, func(tx Tx) error {
		at := f.now.Stamp()
		old, there, err := tx.Fact(p.Persona, p.Key)
		if err != nil {
			return err
		}
		live := there && old.Live(at)
		if live {
			if err := learning.MayReplace(principal.Of(ctx), p.Persona, old.Author); err != nil {
				return err
			}
		}
		if err := compareVersion(p.ifVersion, old, live); err != nil {
			return err
		}
		fact, replaced = p.Fact, live
		fact.CachedAt, fact.CreatedAt, fact.UpdatedAt = at, at, at
		if there {
			fact.Version, fact.CreatedAt, fact.AccessCount, fact.LastAccessed = old.Version, old.CreatedAt, old.AccessCount, old.LastAccessed
		}
		expireAfter(&fact, at)
		if err := tx.PutFact(&fact); err != nil {
			return err
		}
		kind := EventStored
		if live {
			kind = EventUpdated
		}
		return addEvent(tx, kind, fact, fact.Author, at)
	}, func() { f.Put(fact) })()
	if err != nil {
		return Stored{}, err
	}
	return Stored{
		Persona: fact.Persona, Key: fact.Key, Version: fact.Version, ExpiresAt: fact.ExpiresAt,
		Replaced: replaced, Redacted: p.Redaction.Kinds(),
	}, nil
}

// compareVersion refuses a write over another version than the writer knows.
func compareVersion(want *int64, old Fact, live bool) error {
	switch {
	case want == nil:
	case *want == 0 && live:
		return errs.Errorf(errs.Conflict, "there is a fact under this key already, of version %d", old.Version)
	case *want > 0 && !live:
		return errs.Errorf(errs.Conflict, "there is no fact under this key any more, or it has expired")
	case *want > 0 && *want != old.Version:
		return errs.Errorf(errs.Conflict, "the fact was written meanwhile: its version is %d and not %d", old.Version, *want)
	}
	return nil
}

// expireAfter lets a fact's time to live begin.
func expireAfter(fact *Fact, at time.Time) {
	fact.ExpiresAt = nil
	if fact.TTL > 0 {
		end := at.Add(time.Duration(fact.TTL) * time.Second)
		fact.ExpiresAt = &end
	}
}

// Recall implements Service.
func (f *Facts) Recall(ctx context.Context, ref Ref) (Fact, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), checkRef(&ref)); err != nil {
		return Fact{}, err
	}
	at, id := f.now(), ID(ref.Persona, ref.Key)
	fact, there, emptied := f.recent.get(id)
	if !there || !fact.Live(at) { // another node drops what has expired without an event
		var err error
		if fact, there, err = f.store.Fact(ctx, ref.Persona, ref.Key); err != nil {
			return Fact{}, err
		}
		if there {
			f.recent.keep(id, fact, emptied)
		}
	}
	fact.Expired = there && !fact.Live(at)
	switch {
	case !there || fact.Expired && !ref.StaleOK:
		f.misses.Add(1)
		return Fact{}, no()
	case fact.Expired:
		f.stale.Add(1)
	default:
		f.hits.Add(1)
	}
	f.Used(fact.Persona, fact.Key)
	f.show(&fact)
	return fact, nil
}

// Update implements Service.
func (f *Facts) Update(ctx context.Context, ref Ref, patch Patch) (Fact, error) {
	author, err := principal.Of(ctx).ActingAs("agent_id", patch.AgentID)
	if err != nil {
		return Fact{}, err
	}
	if err := checkRef(&ref); err != nil {
		return Fact{}, err
	}
	// The patch is prepared as a draft would be, with a value in place of one that stays.
	draft := Draft{Persona: ref.Persona, Key: ref.Key, Value: patch.Value}
	if patch.Value == nil {
		draft.Value = json.RawMessage("0")
	}
	overlay.Put(&draft, &patch)
	p, err := Prepare(draft)
	if err != nil {
		return Fact{}, err
	}
	var fact Fact
	ctx = learning.Noting(ctx, f.now.Stamp(), learning.Edited, "fact", ID(ref.Persona, ref.Key))
	err = f.change(ctx, func(tx Tx) error {
		at := f.now.Stamp()
		old, there, err := tx.Fact(ref.Persona, ref.Key)
		if err != nil {
			return err
		}
		live := there && old.Live(at)
		if err := compareVersion(p.ifVersion, old, live); err != nil {
			return err
		}
		if !live {
			return no()
		}
		if err := cmp.Or(learning.MayReplace(principal.Of(ctx), ref.Persona, old.Author), learning.Still(ctx, old)); err != nil {
			return err
		}
		fact = patched(old, patch, p)
		fact.UpdatedAt = at
		if fact.Trust == learning.TrustPerson { // of what an agent changes, it is the agent's word
			fact.Trust = learning.TrustOf(principal.Of(ctx))
		}
		if patch.Value != nil {
			fact.CachedAt, fact.Author = at, author
		}
		expireAfter(&fact, at)
		if err := tx.PutFact(&fact); err != nil {
			return err
		}
		return addEvent(tx, EventUpdated, fact, author, at)
	}, func() { f.Put(fact) })()
	if err != nil {
		return Fact{}, err
	}
	f.show(&fact)
	return fact, nil
}

// patched is a fact with what a patch sets, which was prepared.
func patched(fact Fact, patch Patch, p prepared) Fact {
	overlay.Take(&patch, &p.Fact)
	overlay.Put(&fact, &patch)
	if patch.Value != nil {
		fact.Value = p.Value
	}
	return fact
}

// Forget implements Service.
func (f *Facts) Forget(ctx context.Context, ref Ref) (err error) {
	ctx = committer.Essential(ctx) // it makes room
	ctx, span := trace.StartMemory(ctx, "delete_memory", "fact")
	defer func() { span.Finish(err) }()
	writer := principal.Of(ctx)
	if err := cmp.Or(writer.Need(principal.ScopeAgent), checkRef(&ref)); err != nil {
		return err
	}
	id := ID(ref.Persona, ref.Key)
	ctx = learning.Noting(ctx, f.now.Stamp(), learning.Deleted, "fact", id)
	return f.change(ctx, func(tx Tx) error {
		old, there, err := tx.Fact(ref.Persona, ref.Key)
		if err != nil {
			return err
		}
		if there && old.Live(f.now.Stamp()) {
			if err := learning.MayReplace(writer, ref.Persona, old.Author); err != nil {
				return err
			}
		}
		if gone, err := tx.DeleteFact(ref.Persona, ref.Key); err != nil {
			return err
		} else if !there {
			if !gone {
				return no()
			}
			return nil // it fell away before, and what it was is deleted now
		}
		agent := cmp.Or(writer.AgentID, old.Author)
		return addEvent(tx, EventDeleted, old, agent, f.now.Stamp())
	}, func() {
		f.uses.Forget(id)
		f.Remove(id)
	})()
}

// History returns what was under a key before what is there now, the latest first. It needs ScopeRead.
func (f *Facts) History(ctx context.Context, ref Ref) ([]Fact, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), checkRef(&ref)); err != nil {
		return nil, err
	}
	return f.store.FactVersions(ctx, ref.Persona, ref.Key)
}

// show puts into a fact how often it was accessed.
func (f *Facts) show(fact *Fact) {
	f.uses.Show(ID(fact.Persona, fact.Key), &fact.AccessCount, &fact.LastAccessed)
}

func no() error {
	return errs.Errorf(errs.NotFound, "there is no fact under this key, or it has expired")
}

// addEvent tells of a change of a fact, in its transaction.
func addEvent(tx Tx, kind string, fact Fact, agent string, at time.Time) error {
	return tx.AddEvents(eventlog.Event{Type: kind, Subject: ID(fact.Persona, fact.Key), Agent: agent, At: at}.With(Event{
		Persona: fact.Persona, Key: fact.Key, Category: fact.Category, Version: fact.Version,
		TTL: fact.TTL, ExpiresAt: fact.ExpiresAt, Probe: fact.Probe,
	}))
}

// Bounds of the facts in memory, which go all together when there are more. Without them a GET over HTTP is answered 0.3 times as often: the driver
// of SQLite parses the query each time.
const (
	recentFacts = 4096
	recentBytes = 8 << 20 // of their values
)

// recent are facts as they were last committed. Each commit that changes any fact, here or at another node, empties it.
type recent struct {
	mu      sync.RWMutex
	facts   map[string]Fact
	bytes   int
	emptied uint64 // how often
}

// get returns a fact. Its value is shared and must not be changed. A reader that finds the fact in the database keeps it with emptied.
func (r *recent) get(id string) (fact Fact, there bool, emptied uint64) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	fact, there = r.facts[id]
	return fact, there, r.emptied
}

// keep keeps what was read from the database, unless it may have changed since.
func (r *recent) keep(id string, fact Fact, emptied uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.emptied != emptied || len(fact.Value) > recentBytes/8 {
		return
	}
	if r.facts == nil || len(r.facts) >= recentFacts || r.bytes+len(fact.Value) > recentBytes {
		r.facts, r.bytes = map[string]Fact{}, 0
	}
	r.facts[id] = fact
	r.bytes += len(fact.Value)
}

func (r *recent) empty() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.facts, r.bytes = nil, 0
	r.emptied++
}
