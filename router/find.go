package router

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"skillrouter"
	"skillrouter/learning"
)

// Finder searches every memory at once, for a person who wants to see what
// each has and why. Unlike a Router it decides nothing: the kinds stay apart,
// because their scores compare with each other as little as their texts do.
type Finder struct {
	sources FindSources
	misses  learning.MissObserver
}

// FindSources are what a Finder asks. A nil one's kind is left out.
type FindSources struct {
	Knowledge  learning.KnowledgeFinder
	Episodes   learning.EpisodeFinder
	Lessons    learning.LessonFinder
	Facts      FactFinder
	Procedures ProcedureFinder
}

// FactFinder finds facts by their words.
type FactFinder interface {
	Find(ctx context.Context, query learning.FactSearch) (learning.FactsFound, error)
}

// ProcedureFinder finds procedures by their words.
type ProcedureFinder interface {
	Search(ctx context.Context, query learning.ProcedureQuery) (learning.ProcedureResults, error)
}

// NewFinder makes a Finder. misses, which may be nil, is told of questions that no memory answers.
func NewFinder(sources FindSources, misses learning.MissObserver) *Finder {
	return &Finder{sources: sources, misses: misses}
}

// FindKinds lists the kinds that can be searched.
func FindKinds() []string {
	return []string{KindLesson, KindKnowledge, KindEpisode, KindFact, KindProcedure}
}

// FindQuery asks for what fits some words.
type FindQuery struct {
	Query   string
	Kind    string // one of FindKinds; empty: all
	Project string // of knowledge, episodes and lessons; facts and procedures have none
	Limit   int    // of each kind, 1 to MaxFound; 0 means DefaultFound
}

// Bounds of a Finder's answer.
const (
	DefaultFound = 10
	MaxFound     = 50
)

// Found is what was found of one kind.
type Found struct {
	Kind      string
	Hits      []FoundHit        // best first
	Corrected map[string]string // words that nobody wrote, and what was searched instead
	Notice    string
	vain      bool
}

// FoundHit is one thing that fits, and why.
type FoundHit struct {
	Kind, ID      string
	Title, Text   string
	Detail        string // the category, level or type
	Author, Trust string
	Project       string
	At            time.Time
	Score         float64 // orders the hits of one kind; see learning.KnowledgeHit
	Share         float64 // of the best hit's score of this kind, 0 to 1
	Parts         []ScorePart
}

// ScorePart is what one lane gives to a hit's score.
type ScorePart struct {
	Lane   string
	Weight float64
	Share  float64  // of the hit's score, 0 to 1
	Terms  []string // what fitted, the weightiest first
}

// maxPartTerms bounds the terms that a part names.
const maxPartTerms = 8

// Find searches. It needs ScopeRead, and counts no use of what it finds.
func (f *Finder) Find(ctx context.Context, query FindQuery) ([]Found, error) {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead); err != nil {
		return nil, err
	}
	if err := skillrouter.CheckRequired("query", query.Query, learning.MaxQuery); err != nil {
		return nil, err
	}
	if query.Kind != "" && !slices.Contains(FindKinds(), query.Kind) {
		return nil, skillrouter.InvalidField("kind", "is not one of %s", strings.Join(FindKinds(), ", "))
	}
	if err := skillrouter.CheckName("project", query.Project); err != nil {
		return nil, err
	}
	var err error
	if query.Limit, err = skillrouter.Limit(query.Limit, DefaultFound, MaxFound); err != nil {
		return nil, err
	}
	kinds := FindKinds()
	if query.Kind != "" {
		kinds = []string{query.Kind}
	}
	found := make([]Found, len(kinds))
	searching, part := errgroup.WithContext(learning.NotAsked(ctx))
	for i, kind := range kinds {
		searching.Go(func() (err error) {
			found[i], err = f.search(part, kind, query)
			found[i].Kind = kind
			return err
		})
	}
	if err := searching.Wait(); err != nil {
		return nil, err
	}
	if f.misses != nil && query.Kind == "" && !slices.ContainsFunc(found, func(one Found) bool { return !one.vain }) {
		f.misses.Missed(ctx, learning.Miss{Question: query.Query, Project: query.Project, In: learning.GapInSearch})
	}
	return found, nil
}

func (f *Finder) search(ctx context.Context, kind string, q FindQuery) (found Found, err error) {
	s := f.sources
	found.vain = true
	var why [][]learning.Reason
	add := func(hit FoundHit, reasons []learning.Reason) {
		hit.Kind = kind
		found.Hits, why = append(found.Hits, hit), append(why, reasons)
	}
	switch {
	case kind == KindKnowledge && s.Knowledge != nil:
		r, err := s.Knowledge.Find(ctx, learning.KnowledgeQuery{Query: q.Query, Project: q.Project, Limit: q.Limit, Explain: true})
		if err != nil {
			return found, err
		}
		found.Corrected, found.Notice, found.vain = r.Corrected, r.Notice, r.Vain
		for _, h := range r.Results {
			add(FoundHit{
				ID: h.ID, Title: h.Title, Text: h.Content, Detail: h.Category, Author: h.Author, Trust: string(h.Trust), Project: h.Project, At: h.UpdatedAt, Score: h.RelevanceScore,
			}, h.Why)
		}
	case kind == KindEpisode && s.Episodes != nil:
		r, err := s.Episodes.Search(ctx, learning.EpisodeQuery{Query: q.Query, Project: q.Project, Limit: q.Limit, Explain: true})
		if err != nil {
			return found, err
		}
		found.Corrected, found.Notice, found.vain = r.Corrected, r.Notice, r.Vain
		for _, h := range r.Results {
			add(FoundHit{
				ID: h.ID, Title: h.Title, Text: h.Content, Detail: h.EventType, Author: h.AgentID, Project: h.Project, At: h.CreatedAt, Score: h.RelevanceScore,
			}, h.Why)
		}
	case kind == KindLesson && s.Lessons != nil:
		r, err := s.Lessons.Relevant(ctx, learning.LessonQuery{Context: q.Query, Project: q.Project, Limit: q.Limit, Explain: true})
		if err != nil {
			return found, err
		}
		found.Corrected, found.Notice, found.vain = r.Corrected, r.Notice, r.Vain
		for _, h := range r.Results {
			add(FoundHit{
				ID: h.ID, Title: h.Title, Text: lines("", h.Context, "Done: ", h.Action, "Outcome: ", h.Outcome, "Solution: ", h.Solution),
				Detail: string(h.Level), Author: h.SourceAgent, Trust: string(h.Trust), Project: h.Project, At: h.LastOccurred, Score: h.Score,
			}, h.Why)
		}
	case kind == KindFact && s.Facts != nil:
		r, err := s.Facts.Find(ctx, learning.FactSearch{Query: q.Query, Limit: q.Limit, Explain: true})
		if err != nil {
			return found, err
		}
		found.Corrected, found.vain = r.Corrected, len(r.Facts) == 0
		if r.Reading {
			found.Notice = "the facts are still being read in"
		}
		for i, h := range r.Facts {
			add(FoundHit{
				ID: h.Key, Title: h.Key, Text: string(h.Value), Detail: h.Category, Author: h.Author, Trust: string(h.Trust), At: h.CachedAt, Score: r.Scores[i].Score,
			}, r.Scores[i].Why)
		}
	case kind == KindProcedure && s.Procedures != nil:
		r, err := s.Procedures.Search(ctx, learning.ProcedureQuery{Query: q.Query, Limit: q.Limit, Explain: true})
		if err != nil {
			return found, err
		}
		found.Corrected, found.vain = r.Corrected, len(r.Results) == 0
		for _, h := range r.Results {
			add(FoundHit{
				ID: h.Name, Title: h.Name, Text: h.Description, Detail: h.Category, Author: h.Author, Trust: string(h.Trust), At: h.UpdatedAt, Score: h.RelevanceScore,
			}, h.Why)
		}
	}
	for i := range found.Hits {
		hit := &found.Hits[i]
		hit.Parts = scoreParts(why[i], hit.Score)
		if best := found.Hits[0].Score; best > 0 {
			hit.Share = min(1, hit.Score/best)
		}
	}
	return found, nil
}

// scoreParts gathers the reasons of a score by their lanes, the weightiest first.
func scoreParts(why []learning.Reason, score float64) []ScorePart {
	slices.SortStableFunc(why, func(a, b learning.Reason) int { return cmp.Compare(b.Weight, a.Weight) })
	var parts []ScorePart
	for _, r := range why {
		i := slices.IndexFunc(parts, func(p ScorePart) bool { return p.Lane == r.Lane })
		if i < 0 {
			i = len(parts)
			parts = append(parts, ScorePart{Lane: r.Lane})
		}
		p := &parts[i]
		p.Weight += r.Weight
		if r.Term != "" && len(p.Terms) < maxPartTerms && !slices.Contains(p.Terms, r.Term) {
			p.Terms = append(p.Terms, r.Term)
		}
	}
	for i := range parts {
		if score > 0 {
			parts[i].Share = min(max(parts[i].Weight/score, 0), 1)
		}
	}
	slices.SortStableFunc(parts, func(a, b ScorePart) int { return cmp.Compare(b.Weight, a.Weight) })
	return parts
}
