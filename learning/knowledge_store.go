package learning

import (
	"context"

	"skillrouter"
)

// KnowledgeStore keeps entries. learning/store implements it on learning.db.
type KnowledgeStore interface {
	KeptStore
	// ChangeKnowledge queues a change and returns at once; changes are made in the order
	// in which they were queued. In one durable transaction decide is told what is stored
	// under the keys and answers what to write, which is written together with its
	// events. decide may be called twice and must then answer for itself alone. after is
	// called after the commit, in commit order, before wait returns; not if it failed.
	ChangeKnowledge(ctx context.Context, keys KnowledgeKeys, decide func(found FoundKnowledge) (KnowledgeChange, error), after func()) (wait func() error)
	// Knowledge returns the entries with the ids that exist, in no order.
	Knowledge(ctx context.Context, ids []string) ([]Knowledge, error)
	// ListKnowledge returns entries, newest first; up to MaxAnswer bytes of them.
	ListKnowledge(ctx context.Context, filter KnowledgeFilter, before int64) ([]Knowledge, error)
	// ScanKnowledge visits what is searched of every entry, oldest first, chunk by chunk.
	// visit may keep the chunk.
	ScanKnowledge(ctx context.Context, visit func(chunk []Knowledge) error) error
	// FindKnowledge visits what is searched of entries that the search fits, newest first,
	// until visit returns false or ctx ends, which is no error.
	FindKnowledge(ctx context.Context, search KeptSearch, visit func(found []Knowledge) (more bool)) error
	// AddUse adds to the use counts of entries; ids that nothing has are ignored.
	AddUse(ctx context.Context, uses map[string]Use) error
}

// KnowledgeKeys says what a change must know before it is decided.
type KnowledgeKeys struct {
	IDs          []string
	Fingerprints []Fingerprint
}

// FoundKnowledge is what is stored under the keys. An entry is under its ID;
// of several with one fingerprint the first stored counts.
type FoundKnowledge struct {
	Entries map[string]Knowledge
	Same    map[Fingerprint]string
}

// KnowledgeRecord is an entry as it is stored.
type KnowledgeRecord struct {
	Knowledge
	Fingerprint Fingerprint
}

// KnowledgeChange is what to write in one transaction.
type KnowledgeChange struct {
	Insert []KnowledgeRecord
	Update []KnowledgeRecord
	Delete []string
	Events []skillrouter.Event
}

// The types of this domain's events.
const (
	EventKnowledgeStored  = "knowledge.stored"
	EventKnowledgeUpdated = "knowledge.updated"
	EventKnowledgeDeleted = "knowledge.deleted"
	EventEpisodeRecorded  = "episode.recorded"
)
