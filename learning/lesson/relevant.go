package lesson

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/tfidf"
)

// RelevanceWeights say how much each part of a lesson's relevance counts. Their sum need not be 1.
type RelevanceWeights struct {
	Similarity float64 // how well the words fit
	Recency    float64 // how lately it occurred
}

// DefaultRelevance is MNEMOSYNE's order: similarity · 0.7 + recency · 0.3.
func DefaultRelevance() RelevanceWeights { return RelevanceWeights{Similarity: 0.7, Recency: 0.3} }

func (w RelevanceWeights) withDefaults() RelevanceWeights {
	if sum := w.Similarity + w.Recency; sum > 0 && w.Similarity >= 0 && w.Recency >= 0 {
		return RelevanceWeights{w.Similarity / sum, w.Recency / sum}
	}
	return DefaultRelevance()
}

// Bounds and figures of Relevant.
const (
	// relevantDepth is how many lessons whose words fit are weighed by recency and
	// domain: more of them change nothing in the ten that are read.
	relevantDepth = 64
	// The parts of a foreign lesson's similarity that count in a domain other than its
	// own: of one that holds only where it was learned (transferability 1) 0.55, of one
	// that holds everywhere (5) 0.95, so that of two that fit as well the own comes first.
	foreignBase, foreignStep = 0.45, 0.1
	// foreignProject is the part that counts in a project other than its own.
	foreignProject = 0.9
)

// Relevant implements Service. It needs ScopeRead. Retired lessons are
// never answered.
//
// Similarity is the share of the best fit's score, and so 1 for the lesson whose
// words fit best (with vectors, whose words and meaning together do); of a lesson of another domain or project a part of it. Recency
// is e^(−0.01·days since it last occurred), the decay of the experience server.
func (l *Lessons) Relevant(ctx context.Context, query Query) (Results, error) {
	results, err := l.relevant(ctx, query)
	if err == nil && results.NoMatch && !results.Shown() && query.unfiltered() {
		l.Missed(ctx, learning.Miss{Question: query.Context, Project: query.Project, AgentID: query.Agent})
	}
	return results, err
}

// Shown tells whether a person is shown any of it.
func (r *Results) Shown() bool {
	return slices.ContainsFunc(r.Results, func(h Hit) bool { return h.Relevance >= learning.ShownRelevance })
}

func (l *Lessons) relevant(ctx context.Context, query Query) (Results, error) {
	if err := cmp.Or(
		principal.Of(ctx).Keeping().Need(principal.ScopeRead),
		check.Required("context", query.Context, learning.MaxQuery),
		check.Names("domain", query.Domain, "agent", query.Agent, "project", query.Project, "prefer_project", query.PreferProject),
		learning.CheckRelevance(query.MinRelevance),
	); err != nil {
		return Results{}, err
	}
	limit, err := check.Limit(query.Limit, DefaultLimit, learning.MaxLimit)
	if err != nil {
		return Results{}, &errs.Error{Code: errs.CodeOf(err), Field: "max_results", Message: errs.MessageOf(err)} // as its caller spelt it
	}
	if query.Domain == "" && !query.Narrow && query.Agent != "" && l.domainOf != nil {
		if query.Domain, err = l.domainOf(ctx, query.Agent); err != nil {
			return Results{}, err
		}
	}
	search := tfidf.Query{
		Text: query.Context, Tags: learning.FoldTags(query.Tags), From: shelf.Moment(query.Since), To: shelf.Moment(query.Until),
		Limit: max(relevantDepth, 2*limit), Explain: query.Explain, Corpus: query.Corpus,
	}
	if query.Narrow {
		search.Category, search.Project, search.Tags = query.Domain, query.Project, shelf.Written(search.Tags, query.Agent)
	}
	if query.CrossDomain != nil && !*query.CrossDomain {
		search.Category = query.Domain
	}
	found, err := l.Ask(ctx, shelf.ShelfQuery{Query: search, Category: "domain", Project: "project"})
	if err != nil {
		return Results{}, err
	}
	results := Results{Results: []Hit{}, Corrected: found.Corrected, Notice: found.Notice, Repairs: found.Repairs}
	if len(found.Hits) == 0 {
		results.NoMatch = found.NoMatch(0)
		return results, nil
	}
	// All that fit are weighed by where and when they hold; only those that are answered are read.
	places, err := l.store.LessonPlaces(ctx, shelf.HitIDs(found.Hits))
	if err != nil {
		return Results{}, err
	}
	if search.Category != "" && found.ByMeaning {
		places = slices.DeleteFunc(places, func(lesson Lesson) bool { return lesson.Domain != search.Category })
	}
	weighed := l.weigh(places, found.Hits, query)
	weighed = learning.Relevant(weighed, query.MinRelevance, query.Shown, func(h Hit) float64 { return h.Relevance })
	weighed = weighed[:min(len(weighed), limit)]
	byID, at := make(map[string]Hit, len(weighed)), l.now.Stamp()
	found.Hits = make([]tfidf.Hit, len(weighed))
	for i, hit := range weighed {
		found.Hits[i], byID[hit.ID] = tfidf.Hit{ID: hit.ID}, hit
	}
	results.LeftOut, err = l.Fetch(ctx, found, func(lesson *Lesson, hit tfidf.Hit) {
		answered := byID[hit.ID]
		answered.Lesson = present(*lesson, at)
		results.Results = append(results.Results, answered)
	})
	if err != nil {
		return Results{}, err
	}
	results.Count = len(results.Results)
	results.NoMatch = found.NoMatch(results.Count)
	return results, nil
}

// weigh scores lessons that were found, best first.
func (l *Lessons) weigh(lessons []Lesson, found []tfidf.Hit, query Query) []Hit {
	byID := make(map[string]*tfidf.Hit, len(found))
	for i := range found {
		byID[found[i].ID] = &found[i]
	}
	at := l.now.Stamp()
	best := found[0].Score
	prefer := query.PreferProject
	if query.Project != "" {
		prefer = ""
	}
	hits := make([]Hit, 0, len(lessons))
	for _, lesson := range lessons {
		hit := byID[lesson.ID]
		part := nearness(&lesson, query)
		h := Hit{Lesson: lesson, Evidence: hit.Evidence, Relevance: shelf.Relevance(hit.Evidence), Similarity: min(hit.Score/best, 1) * part, Recency: recency(lesson.LastOccurred, at)}
		h.Score = l.weights.Similarity*h.Similarity + l.weights.Recency*h.Recency
		factor, preferred := learning.Prefer(prefer, lesson.Project, lesson.Trust)
		if query.Explain {
			scale := l.weights.Similarity * part / best
			for _, r := range hit.Why {
				h.Why = append(h.Why, learning.Reason{Lane: r.Lane, Term: r.Term, Weight: r.Weight * scale})
			}
			h.Why = append(h.Why, learning.Reason{Lane: LaneRecency, Weight: l.weights.Recency * h.Recency})
			for _, r := range preferred {
				r.Weight *= h.Score
				h.Why = append(h.Why, r)
			}
		}
		h.Score *= factor
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(b.Number, a.Number))
	})
	return hits
}

// LaneRecency is the part of a lesson's relevance that comes from how lately it occurred.
const LaneRecency = "recency"

// nearness is the part of a lesson's similarity that counts where it is asked for.
func nearness(lesson *Lesson, query Query) float64 {
	part := 1.0
	if query.Domain != "" && learning.Fold(lesson.Domain) != learning.Fold(query.Domain) {
		part *= foreignBase + foreignStep*float64(lesson.Transferability)
	}
	if query.Project != "" && lesson.Project != "" && lesson.Project != query.Project {
		part *= foreignProject
	}
	return part
}

// recency is how lately something happened, from 1, now, down to 0.
func recency(last, at time.Time) float64 {
	return math.Exp(-DecayConstant * max(0, at.Sub(last).Hours()/24))
}

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
