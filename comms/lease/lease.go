// Package lease lets agents say which files they work on, and tells others before they change one. It owns what
// a lease is worth: how patterns overlap, how long a lease holds, who may end it, and who is told. What it knows of
// agents comes from presence, and what it says goes to their mailboxes. It knows neither SQL nor HTTP nor any disk.
package lease

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/operational"
)

// Service is what agents and their Captain can do with leases. Leases implements it beside the
// database, router/client over HTTP.
type Service interface {
	// Take takes a lease, or takes one again that the agent holds. It is refused as a Conflict where another
	// agent holds one that overlaps, unless both are shared. An exclusive lease on everything is a captain's.
	Take(ctx context.Context, draft operational.LeaseDraft) (operational.Lease, error)
	// Leases lists what is held, the latest first.
	Leases(ctx context.Context, filter operational.LeaseFilter) ([]operational.Lease, error)
	// Release gives leases back and returns them. One that has ended already changes nothing.
	Release(ctx context.Context, release operational.LeaseRelease) ([]operational.Lease, error)
	// Ask sends a message to the holder of a lease.
	Ask(ctx context.Context, question operational.LeaseQuestion) (comms.Sent, error)
	// Check says what speaks against changes of files, and remembers who changes them.
	Check(ctx context.Context, edits Changes) (Judged, error)
}

// ChangedFile is a file, or with Recursive a folder, that is changed.
type ChangedFile struct {
	Folder    string   `json:"folder,omitempty"`    // the working folder of the repository that it lies in; empty: not known
	Projects  []string `json:"projects"`            // the names that the repository goes by
	Path      string   `json:"path"`                // relative to the working folder
	Recursive bool     `json:"recursive,omitempty"` // with all that lies below it
	Pattern   bool     `json:"pattern,omitempty"`   // the path is a pattern
}

// Changes are files that an agent is about to change.
type Changes struct {
	AgentID string        `json:"agent_id,omitempty" actor:"true"` // empty: the caller's own, or a person
	Files   []ChangedFile `json:"files"`
}

// Judged is what speaks against changes: what blocks first.
type Judged struct {
	Blocked bool    `json:"blocked"`
	Claims  []Claim `json:"claims"`
}

// Claim is somebody else's claim to a file.
type Claim struct {
	LeaseID int64     `json:"lease_id,omitempty"` // 0: there is no lease, the agent edits the file now
	AgentID string    `json:"agent_id"`
	Path    string    `json:"path"`
	Pattern string    `json:"pattern,omitempty"`
	Why     string    `json:"why,omitempty"`
	Until   time.Time `json:"until,omitzero"` // when the lease lapses if its holder stays silent, or when it ended
	Blocks  bool      `json:"blocks"`
	Case    Case      `json:"case"`
}

// Case says what a finding is about, and so why it blocks or warns.
type Case string

// The cases.
const (
	CaseExclusive Case = "exclusive" // an exclusive lease of a live agent in the same folder: it blocks
	CaseShared    Case = "shared"
	CaseSilent    Case = "silent"   // its holder is not there, and the lease has not lapsed
	CaseWorktree  Case = "worktree" // it is held in another working folder of the repository: it will conflict at the merge
	CaseEnded     Case = "ended"    // it lapsed a moment ago
	CaseEditing   Case = "editing"  // no lease: the agent changed the same file a moment ago
)

// Store keeps leases. The callbacks run after the commit and in commit order.
type Store interface {
	// HeldLeases returns the leases that have not ended, or that ended after a time, the first ended first and those
	// that are held last.
	HeldLeases(ctx context.Context, since time.Time) ([]operational.Lease, error)
	// TakeLease stores a lease and gives it its id, or with an id stores that it was taken again, with its event.
	TakeLease(ctx context.Context, lease operational.Lease, taken func(operational.Lease)) (operational.Lease, error)
	// EndLeases ends leases, with an event for each.
	EndLeases(ctx context.Context, ended []operational.Lease, after func()) error
	// SweepLeases deletes leases that ended before a time, and returns how many.
	SweepLeases(ctx context.Context, before time.Time, limit int) (int64, error)
}

// Holders knows the agents that hold leases; comms.Presence does.
type Holders interface {
	Standing(agentID string) comms.Standing
}

// Mail carries what is said to agents; comms.Mailbox does.
type Mail interface {
	Send(ctx context.Context, draft operational.MessageDraft) (comms.Sent, error)
	Tell(ctx context.Context, draft operational.MessageDraft) error
}

// Bounds.
const (
	DefaultTTL = 30 * time.Minute
	MinTTL     = time.Minute
	// MaxTTL bounds the silence that a lease outlives: a working day.
	MaxTTL = 8 * time.Hour
	// MaxHold bounds how long a lease is held by heartbeats alone: who works longer takes it again.
	MaxHold = 12 * time.Hour
	// MaxPatterns bounds one lease, and MaxOfAgent and MaxLeases how many are held, by one agent and by all:
	// they are kept in memory, some 2 KB each, and a check looks at all of them: some milliseconds at most.
	MaxPatterns = 32
	MaxOfAgent  = 200
	MaxLeases   = 10_000
	MaxWhy      = 1 << 10 // bytes
	MaxQuestion = 8 << 10 // bytes
	// MaxFiles bounds one check.
	MaxFiles = 2000
	// maxClaims bounds the answer to a check: a commit of a thousand files need not list each.
	maxClaims = 50
	// momentAgo is how long one that ended is remembered, and warned of if it lapsed, and editingNow how long a change counts as made now.
	momentAgo  = 10 * time.Minute
	editingNow = 5 * time.Minute
	// maxEdits bounds the latest changes that are remembered, some 200 bytes each, and maxOfFile what is remembered of one file.
	maxEdits  = 20_000
	maxOfFile = 300
	maxPast   = 5_000 // how many that ended are remembered
	// retention is how long ended leases are kept for whoever asks what happened, and sweepStep how many
	// are deleted at once.
	retention = 30 * 24 * time.Hour
	sweepStep = 500
)

// Options are the settings of Leases.
type Options struct {
	Now clock.Clock // time.Now if nil
	// Files lists the files of a project's working folder on this machine, relative to it; nil: nobody knows them.
	Files func(folder string) []string
}

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("leases", "/api/leases",
	operation.Post("", "Take a lease of files, or take one again that the agent holds", Service.Take),
	operation.Get("", "The leases that are held, the latest first", Service.Leases).Holds("leases"),
	operation.Post("/release", "Give leases back: those with lease_ids, or all of the agent's", Service.Release).Holds("leases"),
	operation.Post("/ask", "Send a message to the holder of a lease", Service.Ask),
	operation.Post("/check", "Say what speaks against changes of files", Service.Check),
)
