package operational

import (
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/eventlog"
)

// Lease says that an agent works on files of a project. Others are told before they change one.
type Lease struct {
	ID       int64    `json:"lease_id"` // grows with each lease
	AgentID  string   `json:"agent_id"`
	Project  string   `json:"project"`
	Patterns []string `json:"patterns"`       // relative to the repository's root
	Glob     bool     `json:"glob,omitempty"` // a [ in a pattern begins a class; false: it is a character of a name
	Shared   bool     `json:"shared"`         // others may take shared ones of the same files; false: it is exclusive
	Why      string   `json:"why,omitempty"`
	// Folder is the working folder of the repository that the holder works in; empty: nobody said.
	Folder     string     `json:"folder,omitempty"`
	TTLSeconds int64      `json:"ttl_seconds"` // it lapses when its holder has been silent for so long
	TakenAt    time.Time  `json:"taken_at"`
	RenewedAt  time.Time  `json:"renewed_at"` // when it was taken again last, or first
	ExpiresAt  time.Time  `json:"expires_at"` // if nothing more is heard of its holder
	EndedAt    *time.Time `json:"ended_at,omitempty"`
	Ended      LeaseEnd   `json:"ended,omitempty"`    // how
	EndedBy    string     `json:"ended_by,omitempty"` // who released it, if not its holder
	Redacted   []string   `json:"redacted,omitempty"` // kinds of secret that were cut out of why
	Told       bool       `json:"-"`                  // the holder was told of an end that it did not ask for
}

// LeaseEnd says how a lease ended.
type LeaseEnd string

// The ends of a lease.
const (
	LeaseReleased LeaseEnd = "released"
	LeaseLapsed   LeaseEnd = "lapsed"  // nothing was heard of its holder for its time to live
	LeaseExpired  LeaseEnd = "expired" // it was held as long as a lease may be without being taken again
	LeaseLeft     LeaseEnd = "left"    // its holder's session ended
)

// LeaseDraft is what an agent says to take a lease.
type LeaseDraft struct {
	AgentID    string   `json:"agent_id,omitempty" actor:"true"` // empty: the caller's own
	Project    string   `json:"project" here:"project"`
	Patterns   []string `json:"patterns" doc:"Paths or patterns from the repository's root: src/cart, src/[id]/page.tsx, docs/**/*.md"`
	Glob       bool     `json:"glob,omitempty" doc:"[a-c] in a pattern is one of these characters; default: brackets are part of a name"` // [a-c] in a pattern is a class; false: brackets are characters of names
	Shared     bool     `json:"shared,omitempty" doc:"Others may take shared ones of the same files"`
	Why        string   `json:"why,omitempty" doc:"What others are told"`
	Folder     string   `json:"folder,omitempty" doc:"The worktree that you work in"`
	TTLSeconds int64    `json:"ttl_seconds,omitempty" doc:"Silence after which it lapses; default 1800" range:"60,28800"` // 60 to 28800; 0: 1800
}

// LeaseFilter selects leases; empty fields select everything that is held.
type LeaseFilter struct {
	Project string `json:"project,omitempty" query:"project" doc:"Only those of this project"`
	AgentID string `json:"agent_id,omitempty" query:"agent_id" doc:"Held by this agent"`
	Path    string `json:"path,omitempty" query:"path" doc:"Only those that a path or pattern overlaps with"`
	Limit   int    `json:"limit,omitempty" query:"limit" minimum:"0" maximum:"1000" doc:"0: 100" usual:"100,1000"`
}

// LeaseRelease gives leases back. Without ids it gives back all that the agent holds, of the
// project if one is named.
type LeaseRelease struct {
	IDs     []int64 `json:"lease_ids,omitempty"`
	AgentID string  `json:"agent_id,omitempty" actor:"true"` // empty: the caller's own
	Project string  `json:"project,omitempty"`
}

// LeaseQuestion is a message to the holder of a lease.
type LeaseQuestion struct {
	ID      int64  `json:"lease_id"`
	AgentID string `json:"agent_id,omitempty" actor:"true"` // who asks; empty: the caller's own
	Text    string `json:"text"`
}

// The types of the events of leases.
const (
	EventLeaseTaken = "lease.taken"
	EventLeaseEnded = "lease.ended"
)

// LeaseEvent is the data of a lease's event.
type LeaseEvent struct {
	ID       int64     `json:"lease_id"`
	Patterns []string  `json:"patterns"`
	Shared   bool      `json:"shared"`
	Why      string    `json:"why,omitempty"`
	Expires  time.Time `json:"expires_at,omitzero"`
	Ended    LeaseEnd  `json:"ended,omitempty"`
	EndedBy  string    `json:"ended_by,omitempty"`
}

// EventOf tells that the lease was taken, or that it has ended.
func (l Lease) EventOf(at time.Time) eventlog.Event {
	data := LeaseEvent{ID: l.ID, Patterns: l.Patterns, Shared: l.Shared, Why: check.Head(l.Why, maxEventText), Ended: l.Ended, EndedBy: l.EndedBy}
	kind := EventLeaseTaken
	if l.Ended != "" {
		kind = EventLeaseEnded
	} else {
		data.Expires = l.ExpiresAt
	}
	return eventOf(kind, l.AgentID, l.AgentID, l.Project, at, data)
}
