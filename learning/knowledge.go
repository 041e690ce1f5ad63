package learning

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"skillrouter"
)

// KnowledgeBase is the KnowledgeService beside the database. Load opens its
// index at start; Run does its background work.
type KnowledgeBase struct {
	*Shelf[Knowledge]
	store    KnowledgeStore
	now      skillrouter.Clock
	uses     *uses
	answered *Answered // what was learned from use; may be nil
}

var _ KnowledgeService = (*KnowledgeBase)(nil)

// NewKnowledgeBase makes a KnowledgeBase with an empty index.
func NewKnowledgeBase(store KnowledgeStore, options Options) *KnowledgeBase {
	options = options.withDefaults()
	return &KnowledgeBase{
		Shelf: newShelf(store, shelved[Knowledge]{
			kind: KeptKnowledge, form: knowledgeForm, events: []string{"knowledge."}, embedded: EmbeddedKnowledge,
			id: func(e *Knowledge) string { return e.ID }, size: func(e *Knowledge) int { return len(e.Content) }, document: knowledgeDocument,
			rows: store.Knowledge, scan: store.ScanKnowledge, find: store.FindKnowledge,
		}, options),
		store: store, now: options.Now, uses: newUses(store.AddUse, options.Log),
	}
}

// Store implements KnowledgeService. It needs ScopeAgent.
func (k *KnowledgeBase) Store(ctx context.Context, draft KnowledgeDraft) (Stored, error) {
	writer := skillrouter.PrincipalOf(ctx)
	one, err := k.prepare(writer, draft, TrustAgent)
	if err != nil {
		return Stored{}, err
	}
	plan, wait := k.write(ctx, writer, []prepared{one})
	if err := wait(); err != nil {
		return Stored{}, err
	}
	return plan.fates[0].Stored, plan.fates[0].err
}

// Entry implements KnowledgeService. It needs ScopeRead.
func (k *KnowledgeBase) Entry(ctx context.Context, id string) (Knowledge, error) {
	if err := cmp.Or(skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead), checkID("id", id)); err != nil {
		return Knowledge{}, err
	}
	entries, err := k.store.Knowledge(ctx, []string{id})
	if err != nil {
		return Knowledge{}, err
	}
	if len(entries) == 0 {
		return Knowledge{}, noEntry()
	}
	k.show(&entries[0])
	return entries[0], nil
}

func noEntry() error {
	return skillrouter.Errorf(skillrouter.NotFound, "no knowledge entry has this id")
}

// Update implements KnowledgeService. It needs ScopeAgent, and the entry's
// author or ScopeCaptain. Who wrote the entry stays as it is.
func (k *KnowledgeBase) Update(ctx context.Context, id string, patch KnowledgePatch) (Knowledge, error) {
	writer := skillrouter.PrincipalOf(ctx)
	if err := cmp.Or(writer.Need(skillrouter.ScopeAgent), checkID("id", id)); err != nil {
		return Knowledge{}, err
	}
	if err := checkPatch(&patch); err != nil {
		return Knowledge{}, err
	}
	kinds := redactPatch(&patch)
	var entry Knowledge
	err := k.store.ChangeKnowledge(ctx, KnowledgeKeys{IDs: []string{id}}, func(found FoundKnowledge) (KnowledgeChange, error) {
		old, exists := found.Entries[id]
		if !exists {
			return KnowledgeChange{}, noEntry()
		}
		if err := mayChange(writer, old); err != nil {
			return KnowledgeChange{}, err
		}
		entry = patched(old, patch)
		if same(old, entry) {
			return KnowledgeChange{}, nil
		}
		entry.Trust, entry.UpdatedAt = TrustAgent, k.now.Stamp()
		return KnowledgeChange{
			Update: []KnowledgeRecord{{entry, fingerprint(entry.Project, entry.Title, entry.Content)}},
			Events: []skillrouter.Event{knowledgeEvent(EventKnowledgeUpdated, entry, writer, entry.UpdatedAt)},
		}, nil
	}, func() { k.put(entry) })()
	k.show(&entry)
	entry.Redacted = kinds
	return entry, err
}

// Delete implements KnowledgeService. It needs ScopeAgent, and the entry's
// author or ScopeCaptain.
func (k *KnowledgeBase) Delete(ctx context.Context, id string) error {
	writer := skillrouter.PrincipalOf(ctx)
	if err := cmp.Or(writer.Need(skillrouter.ScopeAgent), checkID("id", id)); err != nil {
		return err
	}
	return k.store.ChangeKnowledge(ctx, KnowledgeKeys{IDs: []string{id}}, func(found FoundKnowledge) (KnowledgeChange, error) {
		old, exists := found.Entries[id]
		if !exists {
			return KnowledgeChange{}, noEntry()
		}
		if err := mayChange(writer, old); err != nil {
			return KnowledgeChange{}, err
		}
		return KnowledgeChange{
			Delete: []string{id},
			Events: []skillrouter.Event{knowledgeEvent(EventKnowledgeDeleted, old, writer, k.now.Stamp())},
		}, nil
	}, func() {
		k.remove(id)
		k.answered.forget(id)
	})()
}

// Run keeps the index and writes use counts until ctx ends; then it writes
// the last ones and returns nil. The store must take writes until it returns.
func (k *KnowledgeBase) Run(ctx context.Context) error {
	var counting sync.WaitGroup
	counting.Go(func() { k.uses.run(ctx) })
	defer counting.Wait()
	return k.RunIndex(ctx)
}

// Used counts a use of each entry: somebody was shown it.
func (k *KnowledgeBase) Used(ids ...string) { k.uses.count(k.now.Stamp(), ids...) }

// show adds to an entry the uses that are not written yet.
func (k *KnowledgeBase) show(e *Knowledge) { k.uses.show(e.ID, &e.UseCount, &e.LastUsed) }

func newID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

// knowledgeEvent tells who did it, which may be another than the author.
func knowledgeEvent(kind string, entry Knowledge, by skillrouter.Principal, at time.Time) skillrouter.Event {
	agent := by.AgentID
	if agent == "" {
		agent = entry.Author
	}
	return skillrouter.Event{Type: kind, Subject: entry.ID, Agent: agent, Project: entry.Project, At: at}
}

func patched(entry Knowledge, patch KnowledgePatch) Knowledge {
	set := func(field, value *string) {
		if value != nil {
			*field = *value
		}
	}
	set(&entry.Category, patch.Category)
	set(&entry.Title, patch.Title)
	set(&entry.Content, patch.Content)
	set(&entry.Source, patch.Source)
	set(&entry.Project, patch.Project)
	if patch.Tags != nil {
		entry.Tags = *patch.Tags
	}
	return entry
}

// redactPatch cuts the secrets out of a patch, and returns their kinds.
func redactPatch(patch *KnowledgePatch) []string {
	var r skillrouter.Redaction
	for _, field := range []**string{&patch.Title, &patch.Content, &patch.Source} {
		if *field != nil {
			own := **field // the caller's stays as it is
			*field = &own
			r.Text(*field)
		}
	}
	if patch.Tags != nil {
		r.List(*patch.Tags) // a copy, by checkPatch
	}
	return r.Kinds()
}
