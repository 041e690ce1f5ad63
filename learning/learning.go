// Package learning is the domain of learning.db: what agents chose to write
// down (knowledge), what happened to them (episodes), and how both are found
// again. It owns the rules on what may be stored, what counts as the same
// entry, and how results are ranked; it keeps the search index in step with
// the database. It must not know SQL, HTTP, agents' presence or messages.
package learning

import (
	"context"
	"encoding/json"
	"time"

	"skillrouter/tfidf"
)

// Trust says how far an entry's text may be believed when it is put before an
// agent. It follows from who wrote it and is never taken from the entry.
type Trust string

// The levels of trust.
const (
	// TrustAgent is for what an identified agent or person of this installation wrote.
	TrustAgent Trust = "agent"
	// TrustImported is for what came in from a file or another system.
	TrustImported Trust = "imported"
)

// KnowledgeService is what can be done with knowledge. KnowledgeBase
// implements it beside the database, router/client over HTTP.
type KnowledgeService interface {
	// Store stores one entry. What is the same entry depends on who named it:
	//   - A draft without an ID is known by what it says. If an entry of the same project has
	//     the same title and content (compared without case and spacing), nothing is stored
	//     and the answer names that entry, with Duplicate.
	//   - A draft with an ID is known by its ID. If an entry has the ID, it is updated, or
	//     left alone (Duplicate) if the draft says what it says already. If none has, the
	//     draft is stored, even if another entry says the same: a client that gives ids
	//     must find each of its entries under its own.
	Store(ctx context.Context, draft KnowledgeDraft) (Stored, error)
	// Entry returns the entry with the id.
	Entry(ctx context.Context, id string) (Knowledge, error)
	// Update changes the fields that the patch sets.
	Update(ctx context.Context, id string, patch KnowledgePatch) (Knowledge, error)
	// Delete removes the entry from the database and the index.
	Delete(ctx context.Context, id string) error
	// Search finds the entries that fit the query best, best first, and counts their use.
	Search(ctx context.Context, query KnowledgeQuery) (KnowledgeResults, error)
}

// EpisodeService is what can be done with episodes. Episodes implements it
// beside the database, router/client over HTTP.
type EpisodeService interface {
	// Record stores what happened.
	Record(ctx context.Context, draft EpisodeDraft) (Episode, error)
	// Recent returns the latest episodes, newest first, up to MaxAnswer bytes of them.
	Recent(ctx context.Context, filter EpisodeFilter) ([]Episode, error)
	// Search finds the episodes that fit the query best, best first.
	Search(ctx context.Context, query EpisodeQuery) (EpisodeResults, error)
}

// Categories of knowledge that seed 004 names. Others are allowed: a category
// is any name.
const (
	CategoryErrorSolution = "error_solution"
	CategoryPattern       = "pattern"
	CategoryBestPractice  = "best_practice"
	CategoryGotcha        = "gotcha"
)

// Knowledge is one entry that an agent chose to write down.
type Knowledge struct {
	ID        string     `json:"id"`
	Number    int64      `json:"-"` // the order of first storing, by which the search knows what was written in one go
	Category  string     `json:"category"`
	Title     string     `json:"title"`
	Content   string     `json:"content"`
	Tags      []string   `json:"tags"`
	Source    string     `json:"source,omitempty"`   // where it comes from, in the writer's words
	Author    string     `json:"agent_id,omitempty"` // who wrote it: the token's agent, or who the writer said it is while the router is open
	Project   string     `json:"project,omitempty"`
	Trust     Trust      `json:"trust"`
	UseCount  int64      `json:"use_count"`
	LastUsed  *time.Time `json:"last_used,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
	// Redacted lists the kinds of secret that were cut out of what the call said that this answers. It is not stored.
	Redacted []string `json:"redacted,omitempty"`
}

// KnowledgeDraft is what a client may say of a new entry.
type KnowledgeDraft struct {
	ID       string   `json:"id,omitempty"` // the client's own id, at most MaxID bytes; empty: one is given
	Category string   `json:"category"`
	Title    string   `json:"title"`
	Content  string   `json:"content"`
	Tags     []string `json:"tags,omitempty"`
	Source   string   `json:"source,omitempty"`
	AgentID  string   `json:"agent_id,omitempty"`
	Project  string   `json:"project,omitempty"`
}

// KnowledgePatch is what a client may change of an entry; nil leaves a field as it is.
type KnowledgePatch struct {
	Category *string   `json:"category,omitempty"`
	Title    *string   `json:"title,omitempty"`
	Content  *string   `json:"content,omitempty"`
	Tags     *[]string `json:"tags,omitempty"`
	Source   *string   `json:"source,omitempty"`
	Project  *string   `json:"project,omitempty"`
}

// Stored says what became of a draft.
type Stored struct {
	ID        string `json:"knowledge_id"`
	Duplicate bool   `json:"duplicate"` // the same content was there already, under this ID; nothing was stored
	Updated   bool   `json:"updated"`   // an entry with the client's ID was there and was changed
	// Redacted lists the kinds of secret that were cut out of the draft before it was stored.
	Redacted []string `json:"redacted,omitempty"`
}

// Refusal names a record of a bulk call that was not stored, and why.
type Refusal struct {
	Index int    `json:"index"` // position among the request's records, from 0
	Field string `json:"field,omitempty"`
	Error string `json:"error"`
}

// BulkResult says what became of a bulk call's records.
type BulkResult struct {
	Stored       int       `json:"stored"`
	Updated      int       `json:"updated"`
	Duplicates   int       `json:"duplicates"`
	Refused      []Refusal `json:"refused"`       // the first MaxRefusals of them
	RefusedCount int       `json:"refused_count"` // all of them
	Redacted     int       `json:"redacted"`      // records that held a secret, which was cut out before they were stored
}

// KnowledgeQuery asks for knowledge.
type KnowledgeQuery struct {
	Query    string   `json:"query"`
	Category string   `json:"category,omitempty"`
	Project  string   `json:"project,omitempty"`
	Tags     []string `json:"tags,omitempty"`     // each must be on the entry
	AgentID  string   `json:"agent_id,omitempty"` // its author
	// Since, Until and TimeRange bound when the entry was last changed, as an EpisodeFilter's do.
	Since     time.Time `json:"since,omitzero"`
	Until     time.Time `json:"until,omitzero"`
	TimeRange string    `json:"time_range,omitempty"`
	Limit     int       `json:"limit,omitempty"`   // 1 to MaxLimit; 0 means DefaultKnowledgeLimit
	Explain   bool      `json:"explain,omitempty"` // fill Why
	// Corpus, if not nil, has each hit tell its Evidence: it is one of several searches whose hits are compared.
	Corpus *tfidf.Corpus `json:"-"`
}

// Reason is one part of a score: what matched, and what it gave.
type Reason struct {
	Lane   string  `json:"lane"`
	Term   string  `json:"term,omitempty"`
	Weight float64 `json:"weight"`
}

// KnowledgeHit is an entry that was found. Its use count and time of last use
// are those from before this search.
type KnowledgeHit struct {
	Knowledge
	// RelevanceScore orders one answer, and compares with no other's: of words alone it is
	// as large as the words that fit are rare; fused with vectors it is from 0 to 1, which is
	// the first by words and by meaning.
	RelevanceScore float64        `json:"relevance_score"`
	Why            []Reason       `json:"why,omitempty"` // the parts of the score; they add up to it
	Evidence       tfidf.Evidence `json:"-"`             // see KnowledgeQuery.Corpus
}

// KnowledgeResults is the answer to a KnowledgeQuery.
type KnowledgeResults struct {
	Results   []KnowledgeHit    `json:"results"`
	Count     int               `json:"count"`
	LeftOut   int               `json:"left_out,omitempty"`  // how many more would have made the answer larger than MaxAnswer
	Corrected map[string]string `json:"corrected,omitempty"` // words nobody wrote, and what was searched instead
	Notice    string            `json:"notice,omitempty"`    // what the caller should know of how it was searched: that it went by words alone though vectors are configured
	// Tried says, where nothing was found as it was asked for, what was tried. If that found
	// something, Notice says so.
	Tried []Tried `json:"tried,omitempty"`
	// Vain says that what was found, if anything, cannot be what was meant: see GapService. Beside the database alone.
	Vain bool `json:"-"`
}

// The event types of seed 004's episodes. Others are refused.
const (
	EventAction   = "action"
	EventError    = "error"
	EventDecision = "decision"
	EventOutcome  = "outcome"
)

// Episode is something that happened.
type Episode struct {
	ID         string          `json:"id"`
	Number     int64           `json:"number"` // grows with each episode, without gaps in meaning: order of recording
	SessionID  string          `json:"session_id"`
	AgentID    string          `json:"agent_id"`
	Persona    string          `json:"persona"` // whose memory it is, in the words of seed 002
	EventType  string          `json:"event_type"`
	Event      string          `json:"event,omitempty"` // seed 002's free name, such as mrr-drop-investigation
	Title      string          `json:"title"`
	Content    string          `json:"content"`
	Context    json.RawMessage `json:"context,omitempty"` // an object
	Learned    string          `json:"learned,omitempty"`
	Project    string          `json:"project,omitempty"`
	Importance float64         `json:"importance"` // 0 to 1
	CreatedAt  time.Time       `json:"created_at"`
}

// EpisodeDraft is what a client may say of a new episode. It needs an
// EventType, a Title and a Content (seed 004), or an Event (seed 002), of
// which the others then follow.
type EpisodeDraft struct {
	SessionID  string          `json:"session_id,omitempty"` // empty: the agent's current session
	AgentID    string          `json:"agent_id,omitempty"`
	Persona    string          `json:"persona,omitempty"` // empty: DefaultPersona
	EventType  string          `json:"event_type,omitempty"`
	Event      string          `json:"event,omitempty"`
	Title      string          `json:"title,omitempty"`
	Content    string          `json:"content,omitempty"`
	Context    json.RawMessage `json:"context,omitempty"` // an object, at most MaxEpisodeContext bytes
	Learned    string          `json:"learned,omitempty"`
	Project    string          `json:"project,omitempty"`
	Importance *float64        `json:"importance,omitempty"` // nil means DefaultImportance
}

// CurrentSession stands, as a session id, for the session that an agent is in:
// the one that it began and has not ended or, if it began none, the one of its
// last episode, unless that is longer ago than SessionIdle.
const CurrentSession = "current"

// EpisodeFilter selects recent episodes; empty fields select everything.
type EpisodeFilter struct {
	SessionID string    `json:"session_id,omitempty" doc:"current: the session that agent_id, or the token's agent, is in"` // CurrentSession: that of AgentID or, if that is empty, of the caller
	AgentID   string    `json:"agent_id,omitempty"`
	Persona   string    `json:"persona,omitempty" doc:"Whose memory; empty or *: everybody's"` // empty and EveryPersona: of all
	Project   string    `json:"project,omitempty"`
	EventType string    `json:"event_type,omitempty" doc:"action, error, decision or outcome"`
	Event     string    `json:"event,omitempty" doc:"An event's whole name, such as mrr-drop-investigation"`
	Since     time.Time `json:"since,omitzero" doc:"Not before this time"`
	Until     time.Time `json:"until,omitzero" doc:"Before this time"`
	TimeRange string    `json:"time_range,omitempty" doc:"7d, 24h, 2w, 3mo, 1y, today, yesterday, last week, 2026-01-15 or 2026-01-01..2026-02-01; days are UTC's"` // as ParseTimeRange reads it; within Since and Until
	Limit     int       `json:"limit,omitempty" doc:"1 to 200; 0: 10"`                                                                                              // 1 to MaxLimit; 0 means DefaultEpisodeLimit
}

// EpisodeQuery asks for past episodes.
type EpisodeQuery struct {
	Query     string    `json:"query"`
	SessionID string    `json:"session_id,omitempty"` // this and the others select as those of an EpisodeFilter do
	AgentID   string    `json:"agent_id,omitempty"`
	Persona   string    `json:"persona,omitempty"`
	Project   string    `json:"project,omitempty"`
	EventType string    `json:"event_type,omitempty"`
	Event     string    `json:"event,omitempty"`
	Since     time.Time `json:"since,omitzero"`
	Until     time.Time `json:"until,omitzero"`
	TimeRange string    `json:"time_range,omitempty"`
	Limit     int       `json:"limit,omitempty"` // 1 to MaxLimit; 0 means DefaultEpisodeLimit
	Explain   bool      `json:"explain,omitempty"`

	Corpus *tfidf.Corpus `json:"-"` // as KnowledgeQuery's
}

// EpisodeHit is an episode that was found.
type EpisodeHit struct {
	Episode
	RelevanceScore float64        `json:"relevance_score"` // as KnowledgeHit's
	Why            []Reason       `json:"why,omitempty"`
	Evidence       tfidf.Evidence `json:"-"` // as KnowledgeHit's
}

// EpisodeResults is the answer to an EpisodeQuery.
type EpisodeResults struct {
	Results   []EpisodeHit      `json:"results"`
	Count     int               `json:"count"`
	LeftOut   int               `json:"left_out,omitempty"` // how many more would have made the answer larger than MaxAnswer
	Corrected map[string]string `json:"corrected,omitempty"`
	Notice    string            `json:"notice,omitempty"` // as KnowledgeResults'
	Tried     []Tried           `json:"tried,omitempty"`  // as KnowledgeResults'
	Vain      bool              `json:"-"`                // as KnowledgeResults'
}

// Defaults and bounds.
const (
	// SessionIdle is how long after its last episode an agent's session is still the
	// current one: longer than a night's break is another piece of work.
	SessionIdle = 8 * time.Hour

	DefaultKnowledgeLimit = 5    // seed 004
	DefaultEpisodeLimit   = 10   // seed 004
	DefaultImportance     = 0.5  // seed 004
	MaxLimit              = 200  // an answer of more is a listing, not a search
	MaxID                 = 200  // bytes of a client's own id
	MaxTitle              = 4096 // bytes; a title is a line
	// MaxContent bounds an entry's text, in bytes. Larger texts are documents
	// and belong in a file that the entry points to.
	MaxContent = 1 << 20
	// MaxAnswer bounds the contents in one answer, in bytes. An answer ends with the
	// entry that reaches it: MaxLimit entries of MaxContent are nobody's context.
	MaxAnswer = 4 << 20
	MaxTags   = 32   // tags on an entry
	MaxSource = 2000 // bytes; a path, an address or a short sentence
	// MaxQuery bounds a query's text, in bytes: a pasted stack trace fits.
	MaxQuery = 16 << 10
	// MaxRefusals bounds how many refused records a bulk call's answer lists: who has
	// more of them has one mistake many times.
	MaxRefusals = 100
)
