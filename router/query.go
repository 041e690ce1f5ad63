// Package router answers questions in plain words. It decides which store can answer a question, asks
// that store, and returns one answer that says where it asked and why. It also owns what needs both
// databases at once. It knows neither SQL nor any transport.
package router

import (
	"context"
	"fmt"
	"time"

	"skillrouter/learning"
	"skillrouter/router/classify"
)

// Query is a question in plain words.
type Query struct {
	Query   string `json:"query"`
	AgentID string `json:"agent_id,omitempty"`
	Project string `json:"project,omitempty"`
	// PreferProject is the project that the caller works in, where Project names none: what was learned and what
	// happened there goes before what fits about as well.
	PreferProject string         `json:"prefer_project,omitempty"`
	Limit         int            `json:"limit,omitempty"` // 1 to MaxLimit; 0 means DefaultLimit
	Type          classify.Class `json:"type,omitempty"`  // asks this class's source, whatever the words say
}

// Item is one thing in an answer, from any store.
type Item struct {
	Kind    string  `json:"kind"` // knowledge, episode, agent, task, finding, scan, environment, message
	ID      string  `json:"id"`
	Title   string  `json:"title"`
	Content string  `json:"content,omitempty"`
	Score   float64 `json:"score"`
	// Relevance is how probably it is what was meant, from 0 to 1, where the question's words found it.
	Relevance float64        `json:"relevance,omitempty"`
	Project   string         `json:"project,omitempty"`
	AgentID   string         `json:"agent_id,omitempty"`
	At        time.Time      `json:"at,omitzero"`
	Fields    map[string]any `json:"fields,omitempty"` // what else the kind has: status, severity, progress, …
}

// Says is what the item says, to be compared with what others say.
func (i *Item) Says() learning.Saying {
	return learning.Saying{ID: i.ID, Kind: i.Kind, Where: i.Project, Trust: learning.Trust(fmt.Sprint(i.Fields["trust"])), Text: i.Title + "\n" + i.Content}
}

// Answer is what the router found.
type Answer struct {
	Section
	// Sections are the answers to each of several questions in one query, in its order,
	// at most MaxSections. The first is also this answer; a query with one question has none.
	Sections []Section `json:"sections,omitempty"`
}

// Section is the answer to one question: the whole query, or its part of one with several.
type Section struct {
	QueryType  classify.Class   `json:"query_type"` // the class that was chosen, also if another source answered
	Confidence float64          `json:"confidence"`
	Reasons    []string         `json:"reasons"`
	Query      string           `json:"query"`
	Summary    string           `json:"summary,omitempty"` // one sentence that answers a question about state
	Items      []Item           `json:"items"`
	Count      int              `json:"count"`
	Source     string           `json:"source"`         // learning.db or operational.db
	Also       []classify.Class `json:"also,omitempty"` // further classes whose sources were asked, after a near tie
	Miss       *Miss            `json:"miss,omitempty"`
}

// Miss says that the store that was asked first had nothing, and which stores were asked
// then.
type Miss struct {
	Reason string   `json:"reason"`
	Asked  []string `json:"tried"`
}

// Service answers questions. Router implements it beside the stores,
// router/client over HTTP.
type Service interface {
	// Ask routes the question and answers it.
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
