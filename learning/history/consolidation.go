package history

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

// ConsolidationService makes memory of what was said: from the transcript of a
// session it proposes facts, episodes and procedures, and stores what is
// accepted. Consolidation implements it beside the database, router/client over HTTP.
type ConsolidationService interface {
	// Consolidate extracts proposals from a transcript, and accepts those whose confidence
	// the settings call enough. The same transcript again changes nothing and returns what
	// became of it. It needs ScopeAgent.
	Consolidate(ctx context.Context, transcript TranscriptDraft) (Consolidated, error)
	// Proposals lists proposals, the latest first. It needs ScopeRead.
	Proposals(ctx context.Context, filter ProposalFilter) ([]Proposal, error)
	// Proposal returns one. It needs ScopeRead.
	Proposal(ctx context.Context, id string) (Proposal, error)
	// Accept stores what is proposed. Accepting it again changes nothing. It needs ScopeAgent.
	Accept(ctx context.Context, id string) (Proposal, error)
	// Reject says that it is not worth remembering. It needs ScopeAgent.
	Reject(ctx context.Context, id, reason string) (Proposal, error)
}

// Extractor finds in a transcript what is worth remembering. The rules in this
// package are one; router/llm has another, which asks a model.
type Extractor interface {
	// Name says who extracted: "rules", or the model's name.
	Name() string
	// Extract returns drafts of proposals. It may take as long as a model takes; ctx bounds it.
	Extract(ctx context.Context, transcript Transcript) ([]ProposalDraft, error)
}

// Turn is one message of a transcript.
type Turn struct {
	Role    string     `json:"role"` // user, assistant, tool, system
	Content string     `json:"content"`
	At      *time.Time `json:"at,omitempty"`
}

// TranscriptDraft is what a client may say of a transcript: its turns, or a
// text from which turns are read.
type TranscriptDraft struct {
	Persona   string `json:"persona,omitempty"`
	AgentID   string `json:"agent_id,omitempty" actor:"true"`
	SessionID string `json:"session_id,omitempty" doc:"The session's id"`
	Project   string `json:"project,omitempty" here:"project"`
	learning.Place
	Turns []Turn `json:"turns,omitempty"`
	Text  string `json:"text,omitempty"`
	// Ended says that the session is over: how it went is kept as an episode, which the
	// next session in the project begins with.
	Ended bool `json:"ended,omitempty"`
	// Compacted says that the agent is about to forget what was said so far: how the session
	// went until now is kept as an episode, with which it goes on. Nothing is proposed of it: the
	// whole transcript comes at the session's end.
	Compacted bool `json:"compacted,omitempty"`
}

// Transcript is a transcript with its secrets cut out.
type Transcript struct {
	Persona, AgentID, SessionID, Project string
	learning.Place
	Turns []Turn
}

// ProposalKind is what a proposal becomes.
type ProposalKind string

// The kinds of proposals.
const (
	ProposalFact      ProposalKind = "fact"
	ProposalEpisode   ProposalKind = "episode"
	ProposalProcedure ProposalKind = "procedure"
	// ProposalRule is a rule of the guard that a text proposes by forbidding something: a lesson, whose id is the proposal's.
	ProposalRule ProposalKind = "rule"
)

// ProposalKinds lists every kind of proposal.
func ProposalKinds() []ProposalKind {
	return []ProposalKind{ProposalFact, ProposalEpisode, ProposalProcedure, ProposalRule}
}

// Choices are the values as texts, for whoever asks for one.
func (ProposalKind) Choices() []string { return safetext.Strings(ProposalKinds()) }

// ProposalDraft is what an Extractor proposes. One of Fact, Episode and Procedure is set.
type ProposalDraft struct {
	Kind       ProposalKind
	Fact       *fact.Draft
	Episode    *episode.Draft
	Procedure  *procedure.Draft
	Confidence float64  // 0 to 1
	Evidence   []string // quotations of the transcript
	Turns      []int    // where they stand, from 0
}

// ProposalStatus is where a proposal stands.
type ProposalStatus string

// The statuses of a proposal.
const (
	ProposalPending  ProposalStatus = "pending"
	ProposalAccepted ProposalStatus = "accepted"
	ProposalRejected ProposalStatus = "rejected"
)

// Proposal is something to remember, and why.
type Proposal struct {
	ID           string          `json:"id"`
	TranscriptID string          `json:"transcript_id"`
	SessionID    string          `json:"session_id,omitempty"`
	Persona      string          `json:"persona"`
	AgentID      string          `json:"agent_id,omitempty"`
	Kind         ProposalKind    `json:"kind"`
	Content      json.RawMessage `json:"content"` // the draft, as its own endpoint takes it
	Confidence   float64         `json:"confidence"`
	Evidence     []string        `json:"evidence"`
	Turns        []int           `json:"turns,omitempty"`
	Extractor    string          `json:"extractor"` // rules, or a model's name
	Status       ProposalStatus  `json:"status"`
	DecidedBy    string          `json:"decided_by,omitempty"` // an agent, or "threshold"
	Reason       string          `json:"reason,omitempty"`
	StoredAs     string          `json:"stored_as,omitempty"` // the fact's key, the episode's id, the procedure's name
	CreatedAt    time.Time       `json:"created_at"`
	DecidedAt    *time.Time      `json:"decided_at,omitempty"`
}

// ProposalFilter selects proposals; empty fields select everything.
type ProposalFilter struct {
	Persona      string         `query:"persona" doc:"Only this persona's"`
	TranscriptID string         `query:"transcript_id"`
	SessionID    string         `query:"session_id" doc:"Only of this session"`
	Kind         ProposalKind   `query:"kind" doc:"fact, episode, procedure or rule"`
	Status       ProposalStatus `query:"status" doc:"pending, accepted or rejected" among:"pending,accepted,rejected"`
	Limit        int            `query:"limit" doc:"1 to 1000; 0: 100" usual:"100,1000"`
}

// Consolidated says what became of a transcript.
type Consolidated struct {
	TranscriptID string     `json:"transcript_id"`
	Duplicate    bool       `json:"duplicate"` // it was consolidated before
	Extractor    string     `json:"extractor"`
	Proposals    []Proposal `json:"proposals"`
	Accepted     int        `json:"accepted"` // at once, by the threshold
	// Notice says what did not go as configured: that the model could not be asked, and the rules were.
	Notice string `json:"notice,omitempty"`
}

// RulesExtractor is the name of the extractor in this package.
const RulesExtractor = "rules"

// ThresholdDecided is who decided what a confidence decided.
const ThresholdDecided = "threshold"

// Bounds of consolidation.
const (
	// MaxTranscript bounds a transcript, in bytes of text or of its turns' contents: a
	// day's session of an agent, with the outputs of its tools.
	MaxTranscript = 8 << 20
	// MaxTurns bounds the turns of a transcript.
	MaxTurns = 20_000
	// MaxProposals bounds what one transcript may propose: somebody is to read it.
	MaxProposals = 100
	// MaxProposalContent bounds what one proposal would store, in bytes of JSON.
	MaxProposalContent = 64 << 10
	// MaxQuotes bounds the quotations of a proposal, and MaxQuote each of them, in bytes.
	MaxQuotes = 8
	MaxQuote  = 400

	// UnfoundedConfidence is the most that a proposal is worth of whose evidence no
	// quotation stands in the transcript: a model may have made it up.
	UnfoundedConfidence = 0.3
	// DefaultProposalLimit and MaxProposalLimit bound a listing.
	DefaultProposalLimit = 100
	MaxProposalLimit     = 1000
	// ExtractTimeout is how long an Extractor may take, if nobody says otherwise. The
	// answer has to be made within httpapi.WriteTimeout.
	ExtractTimeout = 45 * time.Second
)

// Says is what the proposal would store, on one line.
func (p Proposal) Says() string {
	var content struct {
		Key   string          `json:"key"`
		Value json.RawMessage `json:"value"`
		Title string          `json:"title"`
		Name  string          `json:"name"`
	}
	if json.Unmarshal(p.Content, &content) != nil {
		return ""
	}
	switch p.Kind {
	case ProposalFact:
		return content.Key + " = " + string(content.Value)
	case ProposalEpisode, ProposalRule:
		return content.Title
	}
	return content.Name
}
