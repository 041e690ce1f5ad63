// Package router holds what its rooms share: questions and answers, what the classifier is taught, and what needs both
// databases at once. It knows neither SQL nor any transport.
package router

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/classify"
)

// Query is a question in plain words.
type Query struct {
	Query   string `json:"query"`
	AgentID string `json:"agent_id,omitempty" actor:"true"`
	Project string `json:"project,omitempty" doc:"Project that is meant"`
	// PreferProject is the project that the caller works in, where Project names none: what was learned and what
	// happened there goes before what fits about as well.
	PreferProject string         `json:"prefer_project,omitempty"`
	Limit         int            `json:"limit,omitempty" doc:"How many items at most"`                // 1 to MaxLimit; 0 means DefaultLimit
	Type          classify.Class `json:"type,omitempty" doc:"Ask this store, whatever the words say"` // asks this class's source, whatever the words say
}

// Item is one thing in an answer, from any store.
type Item struct {
	Kind  string  `json:"kind"` // of a memory, or agent, task, lease, approval, check, rule, escalation, …
	ID    string  `json:"id"`
	Title string  `json:"title"`
	Text  string  `json:"text"`
	Score float64 `json:"score"` // orders the items; only within one answer
	// Relevance is how probably it is what was meant, from 0 to 1. It is 1 of what was asked for by its state.
	Relevance float64        `json:"relevance"`
	Project   string         `json:"project,omitempty"`
	AgentID   string         `json:"agent_id,omitempty"`
	At        time.Time      `json:"at,omitzero"`
	Fields    map[string]any `json:"fields,omitempty"` // what else the kind has: status, severity, progress, …
}

// Says is what the item says, to be compared with what others say.
func (i *Item) Says() learning.Saying {
	return learning.Saying{ID: i.ID, Kind: i.Kind, Where: i.Project, Trust: learning.Trust(fmt.Sprint(i.Fields["trust"])), Text: i.Title + "\n" + i.Text}
}

// Answer is what the router found.
type Answer struct {
	QueryType  classify.Class `json:"query_type"` // the class that was chosen; it orders the items and hides none
	Confidence float64        `json:"confidence"`
	Reasons    []string       `json:"reasons"`
	Query      string         `json:"query"`
	Summary    string         `json:"summary,omitempty"` // one sentence that answers a question about state
	Items      []Item         `json:"items"`
	Count      int            `json:"count"`
	Source     string         `json:"source"` // where the first item is kept: learning.db or operational.db
	Miss       *Miss          `json:"miss,omitempty"`
}

// Miss says that what fits best is not of the chosen class, or that nothing fits, and what was asked.
type Miss struct {
	Reason string   `json:"reason"`
	Asked  []string `json:"tried"`
}

// Service answers questions. question.Asker implements it beside the stores,
// router/client over HTTP.
type Service interface {
	// Ask answers the question from every memory, and from the state of the team.
	Ask(ctx context.Context, query Query) (Answer, error)
}

// The sources of answers.
const (
	SourceLearning    = "learning.db"
	SourceOperational = "operational.db"
)

// Bounds of a query.
const (
	DefaultLimit = 10
	MaxLimit     = 100
	// MaxQuery bounds a question's text, in bytes; more than this is a document.
	MaxQuery = 16 << 10
)

// Check refuses what cannot be asked, and returns how many items are wanted.
func (q Query) Check() (int, error) {
	if err := cmp.Or(
		check.Required("query", q.Query, MaxQuery),
		check.OptionalAgent("agent_id", q.AgentID),
		check.Name("project", q.Project),
	); err != nil {
		return 0, err
	}
	if q.Type != "" && !slices.Contains(classify.Classes(), q.Type) {
		return 0, errs.InvalidField("type", "is not one of %v", classify.Classes())
	}
	return check.Limit(q.Limit, DefaultLimit, MaxLimit)
}

// Agents lists agents, as the presence does.
type Agents interface {
	Agents(ctx context.Context, filter operational.AgentFilter) ([]operational.Agent, error)
}

// Amount says "no task", "1 task" and "3 tasks".
func Amount(n int, one, many string) string {
	if n == 0 {
		return "no " + one
	}
	return safetext.Counted(n, one, many)
}

// FindingPhrase names a finding with its severity and where it is.
func FindingPhrase(f operational.Finding) string {
	s := f.Title
	if f.CVE != "" && !strings.Contains(f.Title, f.CVE) {
		s = f.CVE + " " + s
	}
	s += " [" + string(f.Severity)
	if f.Status != operational.FindingOpen {
		s += ", " + strings.ReplaceAll(string(f.Status), "_", " ")
	}
	s += "]"
	if f.Location != "" {
		s += " at " + f.Location
	}
	return s
}
