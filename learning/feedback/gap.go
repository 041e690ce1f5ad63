package feedback

import (
	"context"
	"time"

	"skillrouter/learning"
)

// GapService is what can be done with knowledge gaps: questions that were asked
// and found nothing. Gaps implements it beside the database, router/client over HTTP.
type GapService interface {
	// List returns a page of gaps. It needs ScopeRead.
	List(ctx context.Context, query GapQuery) (GapPage, error)
	// Gap returns one. It needs ScopeRead.
	Gap(ctx context.Context, id string) (Gap, error)
	// Check asks a gap's question again, where it was asked; if something answers it now,
	// the gap is answered. It needs ScopeAgent.
	Check(ctx context.Context, id string) (Gap, error)
	// Dismiss says that a gap need not be filled. It stays so however often the question
	// is asked again. Dismissing it again changes nothing. It needs ScopeAgent.
	Dismiss(ctx context.Context, id, reason string) (Gap, error)
	// Reopen takes a dismissal back. It needs ScopeAgent.
	Reopen(ctx context.Context, id string) (Gap, error)
}

// GapStatus is where a gap stands.
type GapStatus string

// The statuses of a gap.
const (
	GapOpen      GapStatus = "open"
	GapAnswered  GapStatus = "answered" // the question has found something since
	GapDismissed GapStatus = "dismissed"
)

// GapStatuses lists every status.
func GapStatuses() []GapStatus { return []GapStatus{GapOpen, GapAnswered, GapDismissed} }

// Gap is a question that found nothing, however its words were ordered and bent.
type Gap struct {
	ID       string              `json:"id"`
	Question string              `json:"question"` // as it was last asked, at most MaxGapQuestion bytes, without secrets
	Project  string              `json:"project,omitempty"`
	AskedIn  []learning.GapPlace `json:"asked_in"`
	// Agents are the last MaxGapAgents who asked, the latest first. Who asked without a
	// token and without a name is not among them.
	Agents     []string   `json:"agents"`
	Count      int64      `json:"count"` // how often it was asked and not found
	FirstAsked time.Time  `json:"first_asked"`
	LastAsked  time.Time  `json:"last_asked"`
	Status     GapStatus  `json:"status"`
	AnsweredBy string     `json:"answered_by,omitempty"` // kind/id of the first that was found
	SettledBy  string     `json:"settled_by,omitempty"`  // who dismissed it
	Reason     string     `json:"reason,omitempty"`
	SettledAt  *time.Time `json:"settled_at,omitempty"`
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
	Status  GapStatus         `json:"status,omitempty" doc:"open, answered or dismissed; default: open"`
	Project string            `json:"project,omitempty"`
	Within  []string          `json:"-"` // only those of these projects; nil: of any
	AskedIn learning.GapPlace `json:"asked_in,omitempty" doc:"knowledge, episodes, lessons, query or search"`
	Order   GapOrder          `json:"order,omitempty" doc:"recent or count; default: recent"`
	Cursor  string            `json:"cursor,omitempty" doc:"next of the page before"`
	Limit   int               `json:"limit,omitempty" doc:"1 to 200; 0: 50"` // 1 to MaxLimit; 0 means DefaultListing
}

// GapPage is a page of a listing.
type GapPage struct {
	Gaps  []Gap  `json:"gaps"`
	Count int    `json:"count"` // how many are in this answer
	Total int64  `json:"total"` // how many the query selects, on all pages
	Next  string `json:"next,omitempty"`
}

// Bounds of gaps.
const (
	// MaxGaps bounds how many are kept; beyond it those go whose question was asked
	// longest ago. Nobody reads as many, and a scan over them takes milliseconds.
	MaxGaps = 10_000

	// MaxGapAgents bounds who is named as having asked.
	MaxGapAgents = 8
)
