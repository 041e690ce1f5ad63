package lesson

import (
	"time"

	"github.com/skillrouter/skillrouter/tfidf"
)

func (q *Query) unfiltered() bool { return q.CrossDomain == nil || *q.CrossDomain || q.Domain == "" }

// Query asks for the lessons that fit a situation (MNEMOSYNE's ContextQuery).
type Query struct {
	Context string `json:"context"`
	Domain  string `json:"domain,omitempty" doc:"The domain that it is about"`
	Agent   string `json:"agent,omitempty" actor:"true"` // its domain counts if Domain is empty
	Project string `json:"project,omitempty" doc:"Only this project"`
	// PreferProject is the project that the caller works in, where Project names none: as knowledge.Query's.
	PreferProject string `json:"prefer_project,omitempty"`
	CrossDomain   *bool  `json:"include_cross_domain,omitempty"` // nil: true
	Limit         int    `json:"max_results,omitempty"`          // 1 to MaxLimit; 0 means DefaultLimit
	Explain       bool   `json:"explain,omitempty"`
	// MinRelevance keeps out what is less relevant, from 0 to 1.
	MinRelevance float64 `json:"min_relevance,omitempty"`
	// Shown keeps out what people are not shown: see learning.Relevant.
	Shown bool `json:"shown,omitempty"`

	// Narrow keeps what is not of Domain, Agent and Project out, where they else only say
	// what comes first; and Agent is then who learned it.
	Narrow bool     `json:"-"`
	Tags   []string `json:"-"` // each must be on the lesson
	// Since and Until bound when it was first reported.
	Since  time.Time     `json:"-"`
	Until  time.Time     `json:"-"`
	Corpus *tfidf.Corpus `json:"-"` // as knowledge.Query's
}

// PatternRecord is a pattern as it is carried: its episodes by their ids,
// because their numbers are another router's.
type PatternRecord struct {
	Pattern
	Episodes []string `json:"episodes,omitempty"`
}
