package fact

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning/shelf"
)

// Store keeps facts. learning/store implements it on learning.db.
type Store interface {
	shelf.IndexStore
	// ChangeFacts queues a change and returns at once; changes are made in the order in
	// which they were queued, each in a durable transaction. decide may be called twice.
	// after is called after the commit, in commit order, before wait returns; not if it failed.
	ChangeFacts(ctx context.Context, decide func(tx Tx) error, after func()) (wait func() error)
	// Fact returns the fact under a key, an expired one too.
	Fact(ctx context.Context, persona, key string) (fact Fact, ok bool, err error)
	// FactVersions returns what was under a key before what is there now, the latest first.
	FactVersions(ctx context.Context, persona, key string) ([]Fact, error)
	// FactsUnder returns the facts under keys that there are, by key, and whether these are
	// all: it ends with the one with which they hold more than MaxAnswer bytes.
	FactsUnder(ctx context.Context, persona string, keys []string) (facts []Fact, all bool, err error)
	// FactKeys visits the keys of a persona's facts that live at that time, in order, until
	// visit has enough.
	FactKeys(ctx context.Context, span Span, at time.Time, visit func(key string) (more bool)) error
	// ScanFacts visits every fact, an expired one too, chunk by chunk. visit may keep the chunk.
	ScanFacts(ctx context.Context, visit func(chunk []Fact) error) error
	// FactCategories counts a persona's facts that live at that time.
	FactCategories(ctx context.Context, persona string, at time.Time) ([]Category, error)
	// FactPersonas lists the personas that have facts, by name.
	FactPersonas(ctx context.Context) ([]string, error)
	// CountFacts counts every persona's facts.
	CountFacts(ctx context.Context, at time.Time) ([]PersonaFacts, error)
	// FactsDue tells whether facts expire or fall away by then.
	FactsDue(ctx context.Context, expire, drop time.Time) (bool, error)
	// LastFactVersion returns the greatest version that is there, or 0.
	LastFactVersion(ctx context.Context) (int64, error)
	// AddFactUse adds to the access counts of facts, which are named by ID; what is not there is ignored.
	AddFactUse(ctx context.Context, uses map[string]shelf.Use) error
}

// Span is which keys FactKeys visits.
type Span struct {
	Persona  string
	Category string // empty: all
	Prefix   string // only keys that begin so
	After    string // only keys after this one; empty: from the first
}

// Tx is one transaction on the facts. It is used by its change alone and
// ends with it.
type Tx interface {
	// Fact returns the fact under a key, an expired one too.
	Fact(persona, key string) (fact Fact, ok bool, err error)
	// PutFact stores a fact and gives it its version. If it has one already, there may be a fact under its key, which it replaces.
	PutFact(fact *Fact) error
	// DeleteFact deletes the fact under a key and what it was before; false: there was nothing of either.
	DeleteFact(persona, key string) (gone bool, err error)
	// ExpireFacts marks facts that have expired by then and were not marked, the earliest
	// first, at most limit, and returns them without their values.
	ExpireFacts(by time.Time, limit int) ([]Fact, error)
	// DropFacts deletes facts that are marked and expired by then, at most limit, and returns
	// them without their values.
	DropFacts(by time.Time, limit int) ([]Fact, error)
	// ClearFacts deletes facts, at most limit, and returns them without their values.
	ClearFacts(clearing Clearing, limit int) ([]Fact, error)
	// AddEvents appends to the event log.
	AddEvents(events ...eventlog.Event) error
}

// Clearing is which facts ClearFacts deletes.
type Clearing struct {
	Persona  string
	Category string // empty: all
	UpTo     int64  // only those of this version or a lesser one
}

// ID names a fact in one text. No persona's name has a slash.
func ID(persona, key string) string { return persona + "/" + key }

// The types of the events of facts. Their Data is a Event.
const (
	eventPrefix = "fact."

	EventStored  = "fact.stored"  // new, or in an expired one's place
	EventUpdated = "fact.updated" // replaced or changed
	EventDeleted = "fact.deleted"
	EventExpired = "fact.expired" // once for each version; whoever handles it has the probe to verify it by
)

// Event is the Data of a fact's events. It holds no value.
type Event struct {
	Persona   string     `json:"persona"`
	Key       string     `json:"key"`
	Category  string     `json:"category"`
	Version   int64      `json:"version"`
	TTL       int64      `json:"ttl"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	Probe     string     `json:"probe,omitempty"`
}
