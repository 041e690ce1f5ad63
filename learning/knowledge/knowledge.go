// Package knowledge is what agents chose to write down. It owns what may be stored, what counts as the same entry, and
// what use taught about an entry's questions.
package knowledge

import (
	"cmp"
	"context"
	"slices"
	"sync"
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

// Base is the Service beside the database. Load opens its
// index at start; Run does its background work.
type Base struct {
	*shelf.Shelf[Knowledge]
	store   Store
	now     clock.Clock
	uses    *shelf.Uses
	answers Answers // what was learned from use; may be nil
}

var _ Service = (*Base)(nil)

// NewBase makes a Base with an empty index.
func NewBase(store Store, options learning.Options) *Base {
	options = options.WithDefaults()
	return &Base{
		Shelf: shelf.NewShelf(store, shelf.Shelved[Knowledge]{
			Kind: IndexKind, Events: []string{"knowledge."}, Embedded: shelf.EmbeddedKnowledge,
			ID: func(e *Knowledge) string { return e.ID }, Size: func(e *Knowledge) int { return len(e.Content) }, Document: Document,
			Trust: func(e *Knowledge) learning.Trust { return e.Trust },
			Rows:  store.Knowledge, Scan: store.ScanKnowledge,
		}, options),
		store: store, now: options.Now, uses: shelf.NewUses(store.AddUse, options.Log),
	}
}

// Store implements Service. It needs ScopeAgent.
func (k *Base) Store(ctx context.Context, draft Draft) (Stored, error) {
	return k.StoreAs(ctx, draft, learning.TrustOf(principal.Of(ctx)))
}

// StoreAs is Store with the trust of whoever said it, which the caller of this method knows.
func (k *Base) StoreAs(ctx context.Context, draft Draft, trust learning.Trust) (_ Stored, err error) {
	ctx, span := trace.StartMemory(ctx, "create_memory", "knowledge")
	defer func() { span.Finish(err) }()
	writer := principal.Of(ctx).Keeping()
	one, err := k.prepare(writer, draft, trust)
	if err != nil {
		return Stored{}, err
	}
	if len(draft.Supersedes) > 0 {
		ctx = learning.Noting(ctx, k.now.Stamp(), learning.Merged, string(IndexKind), draft.Supersedes...)
	}
	plan, err := k.write(ctx, writer, []prepared{one})
	if err != nil {
		return Stored{}, err
	}
	return plan.fates[0].Stored, plan.fates[0].err
}

// Entry implements Service. It needs ScopeRead.
func (k *Base) Entry(ctx context.Context, id string) (Knowledge, error) {
	if err := cmp.Or(principal.Of(ctx).Keeping().Need(principal.ScopeRead), learning.CheckID("id", id)); err != nil {
		return Knowledge{}, err
	}
	entries, err := k.Entries(ctx, id)
	if err != nil {
		return Knowledge{}, err
	}
	if len(entries) == 0 {
		return Knowledge{}, NoEntry()
	}
	return entries[0], nil
}

// Entries returns those of some ids that there are, in no order. It needs ScopeRead.
func (k *Base) Entries(ctx context.Context, ids ...string) ([]Knowledge, error) {
	reader := principal.Of(ctx)
	if err := reader.Keeping().Need(principal.ScopeRead); err != nil {
		return nil, err
	}
	entries, err := k.store.Knowledge(ctx, ids)
	entries = slices.DeleteFunc(entries, func(e Knowledge) bool { return !reader.Sees(e.Project) })
	for i := range entries {
		k.show(&entries[i])
	}
	return entries, err
}

// History returns what an entry said before, the latest first: of each version since when it held (UpdatedAt), and a
// Number that tells it from the others. It needs ScopeRead.
func (k *Base) History(ctx context.Context, id string) ([]Knowledge, error) {
	if _, err := k.Entry(ctx, id); err != nil {
		return nil, err
	}
	versions, err := k.store.KnowledgeVersions(ctx, id)
	caller := principal.Of(ctx)
	return slices.DeleteFunc(versions, func(e Knowledge) bool { return !caller.Sees(e.Project) }), err
}

// NoEntry is the error of a knowledge entry that is not there.
func NoEntry() error {
	return errs.Errorf(errs.NotFound, "no knowledge entry has this id")
}

// Update implements Service. It needs ScopeAgent, and the entry's
// author or ScopeCaptain. Who wrote the entry stays as it is.
func (k *Base) Update(ctx context.Context, id string, patch Patch) (_ Knowledge, err error) {
	ctx, span := trace.StartMemory(ctx, "update_memory", "knowledge")
	defer func() { span.Finish(err) }()
	writer := principal.Of(ctx).Keeping()
	if err := cmp.Or(writer.Need(principal.ScopeAgent), learning.CheckID("id", id)); err != nil {
		return Knowledge{}, err
	}
	kinds, err := checkPatch(&patch)
	if err != nil {
		return Knowledge{}, err
	}
	var entry Knowledge
	said := patch.said()
	keys := Keys{IDs: []string{id}}
	if other := patch.SupersededBy; other != nil && *other != "" {
		keys.IDs = append(keys.IDs, *other)
	}
	if patch.Project != nil {
		if err := writer.Into("project", patch.Project); err != nil {
			return Knowledge{}, err
		}
	}
	ctx = learning.Noting(ctx, k.now.Stamp(), learning.Edited, string(IndexKind), id)
	err = k.store.ChangeKnowledge(ctx, keys, func(found Found) (Change, error) {
		found.within(writer)
		old, exists := found.Entries[id]
		if !exists {
			return Change{}, NoEntry()
		}
		if err := cmp.Or(learning.MayChange(writer, old.Author, itsAuthor), learning.Still(ctx, old)); err != nil {
			return Change{}, err
		}
		entry = old
		says := patch
		says.SupersededBy = nil
		overlay.Put(&entry, &says)
		if err := settle(&entry, patch, found.Entries); err != nil || same(old, entry) {
			return Change{}, err
		}
		if said {
			entry.Trust = learning.TrustOf(writer)
		}
		if at := k.now.Stamp(); said || entry.SupersededBy != old.SupersededBy {
			entry.UpdatedAt = at
		}
		return changing(writer, entry), nil
	}, func() { k.Put(entry) })()
	k.show(&entry)
	entry.Redacted = kinds
	return entry, err
}

// Delete implements Service. It needs ScopeAgent, and the entry's
// author or ScopeCaptain.
func (k *Base) Delete(ctx context.Context, id string) (err error) {
	ctx = committer.Essential(ctx) // it makes room
	ctx, span := trace.StartMemory(ctx, "delete_memory", "knowledge")
	defer func() { span.Finish(err) }()
	writer := principal.Of(ctx).Keeping()
	if err := cmp.Or(writer.Need(principal.ScopeAgent), learning.CheckID("id", id)); err != nil {
		return err
	}
	ctx = learning.Noting(ctx, k.now.Stamp(), learning.Deleted, string(IndexKind), id)
	return k.store.ChangeKnowledge(ctx, Keys{IDs: []string{id}}, func(found Found) (Change, error) {
		found.within(writer)
		old, exists := found.Entries[id]
		if !exists {
			return Change{}, NoEntry()
		}
		if err := learning.MayChange(writer, old.Author, itsAuthor); err != nil {
			return Change{}, err
		}
		return Change{
			Delete: []string{id},
			Events: []eventlog.Event{event(EventDeleted, old, writer, k.now.Stamp())},
		}, nil
	}, func() {
		k.Remove(id)
		if k.answers != nil {
			k.answers.Forget(id)
		}
	})()
}

// Run keeps the index and writes use counts until ctx ends; then it writes
// the last ones and returns nil. The store must take writes until it returns.
func (k *Base) Run(ctx context.Context) error {
	var counting sync.WaitGroup
	counting.Go(func() { k.uses.Run(ctx) })
	defer counting.Wait()
	return k.RunIndex(ctx)
}

// Used counts a use of each entry: somebody was shown it.
func (k *Base) Used(ids ...string) { k.uses.Count(k.now.Stamp(), ids...) }

// show adds to an entry the uses that are not written yet.
func (k *Base) show(e *Knowledge) { k.uses.Show(e.ID, &e.UseCount, &e.LastUsed) }

// event tells who did it, which may be another than the author.
func event(kind string, entry Knowledge, by principal.Principal, at time.Time) eventlog.Event {
	agent := cmp.Or(by.AgentID, entry.Author)
	return eventlog.Event{Type: kind, Subject: entry.ID, Agent: agent, Project: entry.Project, At: at}
}
