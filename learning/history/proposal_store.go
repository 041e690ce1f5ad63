package history

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/eventlog"
)

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
