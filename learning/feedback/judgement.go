package feedback

import (
	"context"
	"time"
)

// JudgementService keeps people's own judged questions, and measures the search
// of knowledge by them. Judgements implements it beside the database, router/client over HTTP.
type JudgementService interface {
	// Judge says which entries are right and which are wrong for a question. A question that the
	// caller judged before is judged further: what is said now stands. It needs ScopeAgent.
	Judge(ctx context.Context, draft JudgementDraft) (Judgement, error)
	// Judgements lists them, the newest first. It needs ScopeRead.
	Judgements(ctx context.Context, query JudgementQuery) (JudgementPage, error)
	// Judgement returns one. It needs ScopeRead.
	Judgement(ctx context.Context, id string) (Judgement, error)
	// Remove deletes one. It needs its author or ScopeCaptain.
	Remove(ctx context.Context, id string) error
	// Measure asks every judged question, says where the right entries were found and
	// what is worse than when it was measured last, and keeps the result for the next time.
	// It needs ScopeAgent.
	Measure(ctx context.Context) (JudgementReport, error)
}

// JudgementDraft is what a person says of a question.
type JudgementDraft struct {
	Question string   `json:"question"`
	Project  string   `json:"project,omitempty"` // asked with this filter; empty: none
	Good     []string `json:"good,omitempty"`    // ids of knowledge entries that answer it
	Bad      []string `json:"bad,omitempty"`     // ids of those that do not
}

// Judgement is a question and what somebody holds to be right for it.
type Judgement struct {
	ID        string        `json:"id"`
	Number    int64         `json:"-"`        // the order of judging
	Question  string        `json:"question"` // without secrets
	Project   string        `json:"project,omitempty"`
	Good      []string      `json:"good"`
	Bad       []string      `json:"bad"`
	Author    string        `json:"agent_id,omitempty"`
	CreatedAt time.Time     `json:"created_at"`
	UpdatedAt time.Time     `json:"updated_at"`
	Last      *JudgementRun `json:"last,omitempty"` // nil: it was never measured
}

// JudgementRun is what was found for a judged question.
type JudgementRun struct {
	At time.Time `json:"at"`
	// Ranks are the places of the judged entries among the first JudgedDepth hits, from 1; 0: not among them.
	Ranks map[string]int `json:"ranks"`
}

// JudgementQuery selects judgements; empty fields select everything.
type JudgementQuery struct {
	Project string `json:"project,omitempty"`
	Cursor  string `json:"cursor,omitempty" doc:"next of the page before"`
	Limit   int    `json:"limit,omitempty" doc:"1 to 200; 0: 50"` // 1 to MaxLimit; 0 means DefaultListing
}

// JudgementPage is a page of a listing.
type JudgementPage struct {
	Judgements []Judgement `json:"judgements"`
	Count      int         `json:"count"` // how many are in this answer
	Total      int64       `json:"total"` // how many the query selects, on all pages
	Next       string      `json:"next,omitempty"`
}

// JudgedQuestion is a judged question as it was measured.
type JudgedQuestion struct {
	ID       string         `json:"id"`
	Question string         `json:"question"`
	Project  string         `json:"project,omitempty"`
	Ranks    map[string]int `json:"ranks"` // as JudgementRun's, of entries that are there
	Best     int            `json:"best"`  // the first right entry's rank; 0: none was found
	NDCG     float64        `json:"ndcg"`  // nDCG@10 of the right entries that are there
	// Gone are judged entries that were deleted since. They count neither way; a question
	// that has no other right ones is in no mean.
	Gone []string `json:"gone,omitempty"`
	// Worse and Better say in words what moved since it was measured last.
	Worse  []string `json:"worse,omitempty"`
	Better []string `json:"better,omitempty"`
}

// JudgementReport is how well a memory's own judged questions are answered.
type JudgementReport struct {
	At        time.Time        `json:"at"`
	Since     *time.Time       `json:"since,omitempty"` // the latest measuring before; nil: this is the first
	Questions []JudgedQuestion `json:"questions"`       // the newest first
	Measured  int              `json:"measured"`        // how many are in the means
	Found     int              `json:"found"`           // of those, how many have a right entry among the first ten
	NDCG      float64          `json:"ndcg_at_10"`
	MRR       float64          `json:"mrr_at_10"`
	Worse     int              `json:"worse"` // how many questions are worse than they were
	Notice    string           `json:"notice,omitempty"`
}

// Bounds of judgements.
const (
	// MaxJudgements bounds how many are kept: a measuring asks them all while somebody waits.
	MaxJudgements = 1000
	// MaxJudgedEntries bounds the entries that one judgement names, of each kind.
	MaxJudgedEntries = 50
	// MaxJudgedQuestion bounds a question, in bytes: a pasted stack trace is known by its head.
	MaxJudgedQuestion = 4000
	// JudgedDepth is how far down judged entries are looked for, and judgedTop how much of it is measured.
	JudgedDepth = 50
	judgedTop   = 10
)
