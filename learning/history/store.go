package history

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/eventlog"
)

// Store keeps incidents. learning/store is one.
type Store interface {
	// Incidents returns those of these ids that are there.
	Incidents(ctx context.Context, ids []int64) (map[int64]Incident, error)
	// ListIncidents lists a project's incidents behind one (nil: from the first), those of the most sessions first and of these
	// the latest seen. Where words are given it may leave out what has none of them in any text.
	// Of Waiting ones it leaves out those that are accepted.
	ListIncidents(ctx context.Context, filter Filter, after *Incident, words []string) ([]Incident, error)
	// CountIncidents counts the sessions of a filter's project, or of every one, its incidents of two sessions and more, and
	// how often those were seen.
	CountIncidents(ctx context.Context, filter Filter) (sessions, recurring, times int, err error)
	// Uses returns how commands were used that failed more than once, and the last time.
	Uses(ctx context.Context) ([]Use, error)
	// IncidentSources lists the files that were read: these, or where no ids are given all.
	IncidentSources(ctx context.Context, ids []string) ([]Source, error)
	// ChangeIncidents changes all that decide changes, or nothing. decide may run twice.
	ChangeIncidents(ctx context.Context, decide func(tx Tx) error) error
}

// Tx is one change.
type Tx interface {
	// LearnedSteps returns those of these steps that were learned.
	LearnedSteps(chains []int64) (map[int64]LearnedStep, error)
	// AddSteps keeps steps, in place of those with the same chain.
	AddSteps(steps []LearnedStep) error
	// SeenIn tells whether the incident was seen in the session.
	SeenIn(incident, session int64) (bool, error)
	Incidents(ids []int64) (map[int64]Incident, error)
	// IncidentsOf returns the ids of a project's incidents of at least so many sessions.
	IncidentsOf(project string, sessions int) ([]int64, error)
	PutIncidents(list []Incident) error
	// AddUses adds to how features were used.
	AddUses(uses []Use) error
	PutSource(source Source) error
	// Forget deletes all of a project.
	Forget(project string) (incidents, steps int, err error)
}

// LearnedStep is a step that was learned.
type LearnedStep struct {
	Chain    int64
	Project  string
	Incident int64 // 0: it is of none
	Session  int64 // a hash of its session
	Fixed    bool  // it is known what made it go through
}

// Use is how a feature of commands was used.
type Use struct {
	Feature  int64
	Project  string
	Uses     int
	Failures int
	Since    int   // times that it went through since it failed last
	Incident int64 // that it failed with last
}

// hot tells whether a feature failed so often, and the last time too, that a use of it is warned of.
func (u Use) hot() bool {
	return u.Failures >= warnUses && u.Since == 0 && float64(u.Failures) >= warnShare*float64(u.Uses)
}

// ProposalStore keeps transcripts' traces and what they propose.
// learning/store implements it on learning.db.
type ProposalStore interface {
	// ChangeProposals makes a change in a durable transaction. decide may be called twice.
	ChangeProposals(ctx context.Context, decide func(tx ProposalTx) error) error
	// Transcript returns what is kept of a transcript.
	Transcript(ctx context.Context, id string) (record TranscriptRecord, ok bool, err error)
	// Proposal returns one.
	Proposal(ctx context.Context, id string) (proposal StoredProposal, ok bool, err error)
	// Proposals returns those that fit the filter, whose Limit is set, the latest first.
	Proposals(ctx context.Context, filter ProposalFilter) ([]StoredProposal, error)
	// ProposalsOf returns all of a transcript, in the order of their making.
	ProposalsOf(ctx context.Context, transcript string) ([]StoredProposal, error)
}

// ProposalTx is one transaction on proposals. It is used by its change alone and ends with it.
type ProposalTx interface {
	// AddTranscript stores a transcript with its proposals, those whose mark is there apart, and says how
	// many it stored; added is false, and nothing is stored, if the transcript is there.
	AddTranscript(record TranscriptRecord, proposals []StoredProposal) (stored int, added bool, err error)
	// Decide stores where a proposal stands: its status, what goes with that, and nothing else.
	Decide(proposal StoredProposal) error
	// AddEvents appends to the event log.
	AddEvents(events ...eventlog.Event) error
}

// TranscriptRecord is what is kept of a transcript: not what was said in it.
type TranscriptRecord struct {
	ID, Persona, AgentID, SessionID, Project string
	Turns, Bytes                             int
	Extractor, Notice                        string
	CreatedAt                                time.Time
}

// StoredProposal is a proposal as it is stored.
type StoredProposal struct {
	Proposal
	Project string // the transcript's
	// Mark is the same for what says the same: it is proposed once. 0: it may be proposed again.
	Mark int64
}

// The types of the events of consolidation.
const (
	EventTranscriptConsolidated = "transcript.consolidated" // Data: TranscriptEvent
	EventProposalAccepted       = "proposal.accepted"       // Data: ProposalEvent
	EventProposalRejected       = "proposal.rejected"       // Data: ProposalEvent
)

// TranscriptEvent is the Data of EventTranscriptConsolidated.
type TranscriptEvent struct {
	Persona   string `json:"persona"`
	SessionID string `json:"session_id,omitempty"`
	Extractor string `json:"extractor"`
	Proposals int    `json:"proposals"`
}

// ProposalEvent is the Data of a proposal's events.
type ProposalEvent struct {
	TranscriptID string       `json:"transcript_id"`
	Kind         ProposalKind `json:"kind"`
	StoredAs     string       `json:"stored_as,omitempty"`
	DecidedBy    string       `json:"decided_by"`
}
