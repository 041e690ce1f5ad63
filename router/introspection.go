package router

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/tally"
)

// IntrospectionService tells what is stored for a persona, and clears it. Introspection
// implements it beside the stores, router/client over HTTP.
type IntrospectionService interface {
	// Categories lists the categories that a persona's memories and the team's are in. It needs ScopeRead.
	Categories(ctx context.Context, persona string) (MemoryCategories, error)
	// Stats counts what is remembered; an empty persona counts everybody's. It needs ScopeRead.
	Stats(ctx context.Context, persona string) (MemoryStats, error)
	// Clear deletes what a persona remembers. Without Confirm nothing changes, and the answer
	// says what would; that needs ScopeRead. With it, it needs ScopeCaptain: no agent may wipe
	// what the others of its persona work with. Clearing again what is cleared changes nothing.
	Clear(ctx context.Context, request ClearRequest) (Cleared, error)
	// IDs returns the ids of a type of things, such as knowledge or escalations, that begin or
	// end with a part of one, the newest first. It needs ScopeRead, and for messages ScopeCaptain.
	IDs(ctx context.Context, query IDQuery) (MemoryIDs, error)
}

// IDQuery asks for the ids of a type of things that a part of one fits.
type IDQuery struct {
	Type string `query:"type" required:"true" doc:"knowledge, lessons, patterns, episodes, proposals, gaps, incidents, escalations, runs or checks"`
	Part string `query:"part" required:"true" doc:"The beginning or end of an id, four digits or more"`
}

// MemoryIDs are the ids that a part of one fits, at most MaxMemoryIDs.
type MemoryIDs struct {
	IDs []string `json:"ids"`
}

// MemoryType is a type of memory as clients name it, such as semantic or episodic.
type MemoryType string

// The types of memory. The first four are a persona's, and can be cleared.
// Working memory is the sessions, whose records others took over from;
// knowledge and lessons are the whole team's, and guard it: they are deleted or
// retired one at a time, by who answers for it.
const (
	SemanticMemory    MemoryType = "semantic"    // facts
	EpisodicMemory    MemoryType = "episodic"    // episodes
	ProceduralMemory  MemoryType = "procedural"  // procedures
	ProspectiveMemory MemoryType = "prospective" // reminders
	WorkingMemory     MemoryType = "working"     // sessions
	TeamKnowledge     MemoryType = "knowledge"
	TeamLessons       MemoryType = "lessons"
)

// MemoryCategories is the answer to Categories.
type MemoryCategories struct {
	Persona    string           `json:"persona"`
	Categories []string         `json:"categories"` // each name once, in order (the persona's memory)
	Count      int              `json:"count"`
	Held       []MemoryCategory `json:"held"` // what is in each, by type and name
}

// MemoryCategory is a category of one type of memory. Episodes have their
// events for categories, reminders the types of their triggers, lessons their domains.
type MemoryCategory struct {
	Type     MemoryType `json:"type"`
	Category string     `json:"category"`
	Count    int64      `json:"count"`
	Bytes    int64      `json:"bytes"`
}

// MemoryCount is how much there is.
type MemoryCount struct {
	Count   int64 `json:"count"`
	Expired int64 `json:"expired,omitempty"` // besides: facts that have expired and are kept for a day
	Bytes   int64 `json:"bytes"`             // of what was written, without the databases' own share
}

func (c *MemoryCount) add(h tally.Tally) {
	c.Count += h.Count
	c.Expired += h.Expired
	c.Bytes += h.Bytes
}

// MemoryStats is the answer to Stats.
type MemoryStats struct {
	Persona      string                     `json:"persona,omitempty"`
	Count        int64                      `json:"count"`
	Bytes        int64                      `json:"bytes"`
	Types        map[MemoryType]MemoryCount `json:"types"`
	Personas     []PersonaMemory            `json:"personas"` // the fullest first, at most MaxStatsPersonas
	PersonaCount int                        `json:"persona_count"`
	Databases    []DatabaseSize             `json:"databases"`
}

// PersonaMemory is what a persona remembers.
type PersonaMemory struct {
	Persona string                     `json:"persona"`
	Count   int64                      `json:"count"`
	Bytes   int64                      `json:"bytes"`
	Types   map[MemoryType]MemoryCount `json:"types"`
}

// DatabaseSize is how large a database is on the disk.
type DatabaseSize struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"` // with its write-ahead log
}

// ClearRequest says what to clear.
type ClearRequest struct {
	Persona string `json:"persona,omitempty"` // empty: default
	// Type is one of semantic, episodic, procedural and prospective, or facts, episodes,
	// procedures and reminders, which mean the same; empty: all four.
	Type     string `json:"type,omitempty"`
	Category string `json:"category,omitempty"` // empty: all
	Confirm  bool   `json:"confirm,omitempty" doc:"Delete, and do not only say what would be"`
}

// Cleared says what Clear deleted, or would.
type Cleared struct {
	Persona   string         `json:"persona"`
	Type      MemoryType     `json:"type,omitempty"`
	Category  string         `json:"category,omitempty"`
	Confirmed bool           `json:"confirmed"`
	Count     int64          `json:"count"`     // that were deleted; or would be, while Confirmed is false
	Types     []ClearedCount `json:"types"`     // the same, by type
	Remaining int64          `json:"remaining"` // of what was asked for, after this call; clear again if Confirmed and more than 0
	// NotCleared is what is in the category and is not cleared, by type: knowledge and lessons.
	NotCleared []ClearedCount `json:"kept,omitempty"`
	Notice     string         `json:"notice,omitempty"`
}

// ClearedCount is how many of one type.
type ClearedCount struct {
	Type  MemoryType `json:"type"`
	Count int64      `json:"count"`
}

// Bounds of introspection.
const (
	// MaxStatsPersonas bounds the personas of one answer of Stats.
	MaxStatsPersonas = 100
	// MaxMemoryIDs bounds the ids of one answer: who gets several asks again with more of the id.
	MaxMemoryIDs = 10
	// MaxCategories bounds the categories that one answer holds.
	MaxCategories = 1000
	// MaxCleared bounds what one call of Clear deletes of each type: a few seconds' work.
	MaxCleared = 50_000
)
