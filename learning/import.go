package learning

import "time"

// Import is one import, whose additions can be taken back by its id.
type Import struct {
	Number   int64      `json:"-"`
	ID       string     `json:"id"`
	Source   string     `json:"source,omitempty"` // what was read, in the caller's words
	AgentID  string     `json:"agent_id,omitempty"`
	At       time.Time  `json:"at"`
	Stored   int64      `json:"stored"` // how many memories it added
	Left     int64      `json:"left"`   // how many of them were not taken back
	UndoneAt *time.Time `json:"undone_at,omitempty"`
}

// Addition is a memory that an import added.
type Addition struct {
	Number int64
	Kind   string
	Ref    string // what it is known by among its kind
	Mark   string // a hash of how it was stored: one that was changed or used since has another
}
