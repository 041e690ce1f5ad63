// Package verdict keeps what was said of answers: that an item helped with a question, or did not, and that nothing was
// found. Questions that found nothing are the gaps of the memory; questions that an item answered find it again. It
// knows no kind of memory. What came of a guard's check is kept with the check, because it moves the confidence of its rules.
package verdict

import (
	"context"
	"time"
)

// Service is what can be done with verdicts. Verdicts implements it beside the database, router/client over HTTP.
type Service interface {
	// Answered says that an entry answered a question, or did not. The same and like
	// questions find it from the next search on. It needs ScopeAgent. An agent has one
	// voice on a question to an entry: its last.
	Answered(ctx context.Context, id string, draft Draft) (Learned, error)
	// Questions lists what an entry answered, the latest first. It needs ScopeRead.
	Questions(ctx context.Context, id string) (List, error)
	// Unlearn takes back what was learned of an entry: the caller's own voices, or with
	// ScopeCaptain all. It needs ScopeAgent.
	Unlearn(ctx context.Context, id string) (Gone, error)
	// Gaps lists questions that found nothing and still find nothing. It needs ScopeRead.
	Gaps(ctx context.Context, query GapQuery) (GapPage, error)
	// Dismiss forgets a gap until its question is asked again. It needs ScopeAgent.
	Dismiss(ctx context.Context, id string) error
}

// Verdict is what one agent said of one item and one question.
type Verdict struct {
	Key     string    `json:"-"`        // the same for questions of the same words
	Subject string    `json:"question"` // without secrets, at most learning.MaxGapQuestion bytes
	Project string    `json:"-"`        // where nothing was found
	Item    string    `json:"-"`        // KIND/ID; empty: nothing was found
	Agent   string    `json:"agent_id,omitempty"`
	Helped  bool      `json:"helpful"`
	Times   int64     `json:"-"` // how often it was said
	First   time.Time `json:"-"`
	At      time.Time `json:"at"`
}

// Draft is what a client says of an entry that it was shown.
type Draft struct {
	Query   string `json:"query,omitempty"`    // the question; without one only a use is counted
	Helpful *bool  `json:"helpful,omitempty"`  // whether it answered it; nil: it did
	AgentID string `json:"agent_id,omitempty"` // whose voice it is; empty: the token's
}

// Learned says what became of a draft.
type Learned struct {
	ID        string `json:"id"`
	Learned   bool   `json:"learned"`   // false: it had no question to learn from
	Questions int    `json:"questions"` // voices that are kept of the entry now
}

// List is what an entry answered.
type List struct {
	Answers []Verdict `json:"answers"`
	Count   int       `json:"count"`
}

// Gone says how many voices were taken back.
type Gone struct {
	Deleted int64 `json:"deleted"`
}

// Gap is a question that found nothing, however its words were ordered and bent.
type Gap struct {
	ID       string `json:"id"`
	Question string `json:"question"` // as it was last asked
	Project  string `json:"project,omitempty"`
	// Agents are the last MaxGapAgents who asked, the latest first. Who asked without a
	// token and without a name is not among them.
	Agents     []string  `json:"agents"`
	Count      int64     `json:"count"` // how often it was asked
	FirstAsked time.Time `json:"first_asked"`
	LastAsked  time.Time `json:"last_asked"`
}

// GapOrder is how gaps are listed.
type GapOrder string

// The orders of a listing.
const (
	GapsRecent GapOrder = "recent" // the last asked first
	GapsOften  GapOrder = "count"  // the most often asked first
)

// GapQuery selects gaps; empty fields select everything.
type GapQuery struct {
	Project string   `json:"project,omitempty" help:"Only of this project"`
	Order   GapOrder `json:"order,omitempty" doc:"recent or count; default: recent" among:"recent,count"`
	Limit   int      `json:"limit,omitempty" doc:"1 to 200; 0: 50"`
}

// GapPage is the beginning of a listing.
type GapPage struct {
	Gaps  []Gap `json:"gaps"`
	Count int   `json:"count"` // how many are in this answer
	Total int64 `json:"total"` // how many the query selects
}

// The bounds say together what one agent can do: for MaxByAgent questions, and those like
// them, it lifts an entry by at most laneMost/2 of the best score.
const (
	// MaxOfItem is how many voices are kept of an item, the last.
	MaxOfItem = 40
	// MaxByAgent is how many of them may be one agent's, its last.
	MaxByAgent = 5
	// MaxOfAgent is how many voices of one agent are kept on all items, and how many of its questions that found nothing, its last.
	MaxOfAgent = 500
	// MaxVoices is how many are kept of everybody, the last.
	MaxVoices = 50_000
	// MaxMisses is how many questions that found nothing are kept, by asker, the last.
	MaxMisses = 10_000
	// MaxGapAgents bounds who is named as having asked.
	MaxGapAgents = 8
)

// Store keeps verdicts. learning/store implements it on learning.db, and deletes those on an entry with the entry.
type Store interface {
	// AddVerdict stores a voice on an entry in place of the same agent's on the same question,
	// drops the oldest beyond the bounds, and returns the items whose voices changed. An entry
	// that does not exist is a NotFound error.
	AddVerdict(ctx context.Context, v Verdict) (changed []string, err error)
	// NeedEntry returns a NotFound error unless an entry of the knowledge exists.
	NeedEntry(ctx context.Context, id string) error
	// Verdicts returns the voices on items, of all items where items is nil, the oldest first.
	Verdicts(ctx context.Context, items []string) ([]Verdict, error)
	// DeleteVerdicts deletes an agent's voices on an item, or everybody's, and counts them.
	DeleteVerdicts(ctx context.Context, item, agent string, everybody bool) (int64, error)
	// AddMisses adds to what each agent asked and did not find, and drops the oldest beyond the bounds.
	AddMisses(ctx context.Context, misses []Verdict) error
	// Misses returns all of them, the latest first.
	Misses(ctx context.Context) ([]Verdict, error)
	// DeleteMisses deletes those with a key.
	DeleteMisses(ctx context.Context, key string) error
}
