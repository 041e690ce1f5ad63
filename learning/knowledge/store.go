package knowledge

import (
	"context"
	"maps"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/shelf"
)

// Store keeps entries. learning/store implements it on learning.db.
type Store interface {
	shelf.IndexStore
	// ChangeKnowledge queues a change and returns at once; changes are made in the order
	// in which they were queued. In one durable transaction decide is told what is stored
	// under the keys and answers what to write, which is written together with its
	// events. decide may be called twice and must then answer for itself alone. after is
	// called after the commit, in commit order, before wait returns; not if it failed.
	ChangeKnowledge(ctx context.Context, keys Keys, decide func(found Found) (Change, error), after func()) (wait func() error)
	// Knowledge returns the entries with the ids that exist, in no order.
	Knowledge(ctx context.Context, ids []string) ([]Knowledge, error)
	// ListKnowledge returns entries, newest first; up to MaxAnswer bytes of them.
	ListKnowledge(ctx context.Context, filter Filter, before int64) ([]Knowledge, error)
	// KnowledgeVersions returns what an entry that is there said before, the latest first, as History does.
	KnowledgeVersions(ctx context.Context, id string) ([]Knowledge, error)
	// ScanKnowledge visits what is searched of every entry, oldest first, chunk by chunk.
	// visit may keep the chunk.
	ScanKnowledge(ctx context.Context, visit func(chunk []Knowledge) error) error
	// AddUse adds to the use counts of entries; ids that nothing has are ignored.
	AddUse(ctx context.Context, uses map[string]shelf.Use) error
}

// Keys says what a change must know before it is decided.
type Keys struct {
	IDs          []string
	Fingerprints []learning.Fingerprint
	Twins        bool // the entries with these fingerprints are asked for too, not their ids alone
}

// Found is what is stored under the keys. An entry is under its ID;
// of several with one fingerprint the first stored counts.
type Found struct {
	Entries map[string]Knowledge
	Same    map[learning.Fingerprint]string
}

// within leaves out the entries that their reader may not know of: to it they are not there.
func (f Found) within(reader principal.Principal) {
	if reader.Walled() {
		maps.DeleteFunc(f.Entries, func(_ string, e Knowledge) bool { return !reader.Sees(e.Project) })
	}
}

// Record is an entry as it is stored.
type Record struct {
	Knowledge
	Fingerprint learning.Fingerprint
}

// Change is what to write in one transaction.
type Change struct {
	Insert []Record
	Update []Record
	Delete []string
	Events []eventlog.Event
}

// The types of this domain's events.
const (
	EventStored  = "knowledge.stored"
	EventUpdated = "knowledge.updated"
	EventDeleted = "knowledge.deleted"
)
