package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"skillrouter"
	"skillrouter/learning"
	"skillrouter/learning/episode"
	"skillrouter/learning/fact"
	"skillrouter/learning/feedback"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	"skillrouter/learning/procedure"
	"skillrouter/operational"
	"skillrouter/router"
	"skillrouter/tfidf"
)

// Sources are what a Searcher asks. A nil one's kind is left out.
type Sources struct {
	Knowledge interface {
		feedback.KnowledgeFinder
		vocabulary
	}
	Episodes interface {
		feedback.EpisodeFinder
		vocabulary
	}
	Lessons interface {
		feedback.LessonFinder
		vocabulary
	}
	Facts interface {
		FactFinder
		vocabulary
	}
	Procedures interface {
		ProcedureFinder
		vocabulary
	}
	Words *Words
}

// FactFinder finds facts by their words.
type FactFinder interface {
	Find(ctx context.Context, query fact.Search) (fact.FactsFound, error)
}

// ProcedureFinder finds procedures by their words.
type ProcedureFinder interface {
	Search(ctx context.Context, query procedure.Query) (procedure.Results, error)
}

// searchKind is one kind that a Searcher asks.
type searchKind struct {
	kind        string
	frequencies vocabulary
	// The filters that it can have; those on category and time every kind has.
	project, tags, author bool
	// private is set where not everybody may know of every document.
	private bool
	// categories are the categories that there can be; nil: any.
	categories []string
	search     func(ctx context.Context, r *request) (kindFound, error)
}

// kindFound is what one kind has for a search.
type kindFound struct {
	SearchedKind
	hits      []Hit
	corrected map[string]string
}

// add takes in a hit that has Evidence.
func (f *kindFound) add(hit Hit, evidence tfidf.Evidence, why []learning.Reason) {
	hit.Kind, hit.Why, hit.Relevance = f.Kind, why, relevance(evidence)
	hit.words = bagOf(hit.Title, hit.Snippet)
	hit.Title, hit.Snippet = skillrouter.Head(hit.Title, snippetBytes), snippetOf(hit.Snippet)
	f.hits = append(f.hits, hit)
}

// snippetOf is the head of a text, as much as is shown of a hit.
func snippetOf(text string) string {
	if len(text) <= snippetBytes {
		return text
	}
	return strings.TrimSpace(skillrouter.Head(text, snippetBytes)) + "…"
}

// ask puts the question to every kind at the same time.
func (s *Searcher) ask(ctx context.Context, r *request) ([]kindFound, error) {
	found := make([]kindFound, len(s.kinds))
	searching, part := errgroup.WithContext(ctx)
	for i, kind := range s.kinds {
		found[i].Kind = kind.kind
		found[i].unasked = len(r.Kinds) > 0 && !slices.Contains(r.Kinds, kind.kind)
		if found[i].LeftOut = kind.leftOut(r); found[i].unasked || found[i].LeftOut != "" {
			continue
		}
		searching.Go(func() error {
			one, err := kind.search(part, r)
			if err != nil {
				return err
			}
			one.Kind = kind.kind
			for j := range one.hits {
				one.hits[j].Kind = kind.kind
			}
			found[i] = one
			return nil
		})
	}
	return found, searching.Wait()
}

// leftOut says why a kind is not asked; empty: it is.
func (k *searchKind) leftOut(r *request) string {
	switch {
	case k.private && !r.caller.Has(skillrouter.ScopeAgent):
		return "this token may read nobody's " + plurals[k.kind]
	case k.private && !r.caller.Has(skillrouter.ScopeCaptain) && r.caller.AgentID == "":
		return "this token is no agent's, and may read nobody's " + plurals[k.kind]
	case r.Project != "" && !k.project:
		return plurals[k.kind] + " are of no project"
	case len(r.Tags) > 0 && !k.tags:
		return plurals[k.kind] + " have no tags"
	case r.AgentID != "" && !k.author:
		return plurals[k.kind] + " are of no agent"
	case r.Category != "" && k.categories != nil && !slices.Contains(k.categories, r.Category):
		return plurals[k.kind] + " have no such category; there are " + strings.Join(k.categories, ", ")
	}
	return ""
}

var plurals = map[string]string{
	router.KindLesson: "lessons", router.KindKnowledge: "knowledge entries", router.KindProcedure: "procedures", router.KindFact: "facts", router.KindTask: "tasks",
	router.KindFinding: "findings", router.KindEpisode: "episodes", router.KindMessage: "messages",
}

// kinds lists what can be asked, in the order of Kinds.
func (s Sources) kinds() []searchKind {
	var list []searchKind
	if s.Knowledge != nil {
		list = append(list, searchKind{kind: router.KindKnowledge, author: true, frequencies: s.Knowledge, project: true, tags: true, search: s.knowledge})
	}
	if s.Episodes != nil {
		types := []string{episode.EventAction, episode.EventError, episode.EventDecision, episode.EventOutcome}
		list = append(list, searchKind{kind: router.KindEpisode, author: true, frequencies: s.Episodes, project: true, categories: types, search: s.episodes})
	}
	if s.Lessons != nil {
		list = append(list, searchKind{kind: router.KindLesson, author: true, frequencies: s.Lessons, project: true, tags: true, search: s.lessons})
	}
	if s.Facts != nil {
		list = append(list, searchKind{kind: router.KindFact, author: true, frequencies: s.Facts, search: s.facts})
	}
	if s.Procedures != nil {
		list = append(list, searchKind{kind: router.KindProcedure, author: true, frequencies: s.Procedures, search: s.procedures})
	}
	if w := s.Words; w != nil {
		var severities, statuses []string
		for _, severity := range operational.Severities() {
			severities = append(severities, string(severity))
		}
		for _, status := range operational.TaskStatuses() {
			statuses = append(statuses, string(status))
		}
		list = append(list,
			searchKind{kind: router.KindMessage, author: true, frequencies: w.messages.index, private: true, search: w.searchMessages},
			searchKind{kind: router.KindFinding, frequencies: w.findings.index, project: true, categories: severities, search: w.searchFindings},
			searchKind{kind: router.KindTask, author: true, frequencies: w.tasks.index, project: true, categories: statuses, search: w.searchTasks})
	}
	order := Kinds()
	slices.SortFunc(list, func(a, b searchKind) int {
		return cmp.Compare(slices.Index(order, a.kind), slices.Index(order, b.kind))
	})
	return list
}

func (s Sources) knowledge(ctx context.Context, r *request) (kindFound, error) {
	results, err := s.Knowledge.Find(ctx, knowledge.Query{
		Query: r.Query.Query, Category: r.Category, Project: r.Project, Tags: r.Tags, AgentID: r.AgentID, Since: r.span.From, Until: r.span.To,
		Limit: r.Limit, Explain: r.Explain, Corpus: r.corpus,
	})
	f := kindFound{SearchedKind: SearchedKind{Notice: results.Notice}, corrected: results.Corrected}
	for _, h := range results.Results {
		f.add(Hit{
			ID: h.ID, Title: h.Title, Snippet: h.Content, Category: h.Category, Author: h.Author, Trust: string(h.Trust), Project: h.Project, At: h.UpdatedAt, RelevanceScore: h.RelevanceScore,
		}, h.Evidence, h.Why)
	}
	return f, err
}

func (s Sources) episodes(ctx context.Context, r *request) (kindFound, error) {
	results, err := s.Episodes.Search(ctx, episode.Query{
		Query: r.Query.Query, EventType: r.Category, Project: r.Project, AgentID: r.AgentID, Since: r.span.From, Until: r.span.To,
		Limit: r.Limit, Explain: r.Explain, Corpus: r.corpus,
	})
	f := kindFound{SearchedKind: SearchedKind{Notice: results.Notice}, corrected: results.Corrected}
	for _, h := range results.Results {
		f.add(Hit{
			ID: h.ID, Title: h.Title, Snippet: h.Content, Category: h.EventType, Author: h.AgentID, Trust: router.TrustAgent, Project: h.Project, At: h.CreatedAt, RelevanceScore: h.RelevanceScore,
		}, h.Evidence, h.Why)
	}
	return f, err
}

func (s Sources) lessons(ctx context.Context, r *request) (kindFound, error) {
	results, err := s.Lessons.Relevant(ctx, lesson.Query{
		Context: r.Query.Query, Domain: r.Category, Project: r.Project, Tags: r.Tags, Agent: r.AgentID, Since: r.span.From, Until: r.span.To, Narrow: true,
		Limit: r.Limit, Explain: r.Explain, Corpus: r.corpus,
	})
	f := kindFound{SearchedKind: SearchedKind{Notice: results.Notice}, corrected: results.Corrected}
	for _, h := range results.Results {
		f.add(Hit{
			ID: h.ID, Title: h.Title, Snippet: paragraphs(h.Context, h.Action, h.Outcome, h.Solution), Category: h.Domain, Author: h.SourceAgent, Trust: string(h.Trust),
			Project: h.Project, At: h.LastOccurred, RelevanceScore: h.Score,
		}, h.Evidence, h.Why)
	}
	return f, err
}

func (s Sources) facts(ctx context.Context, r *request) (kindFound, error) {
	results, err := s.Facts.Find(ctx, fact.Search{
		Query: r.Query.Query, Category: r.Category, AgentID: r.AgentID, Since: r.span.From, Until: r.span.To, Limit: r.Limit, Explain: r.Explain, Corpus: r.corpus,
	})
	f := kindFound{corrected: results.Corrected}
	if results.Reading {
		f.Notice = reading(router.KindFact)
	}
	for i, h := range results.Facts {
		score := results.Scores[i]
		f.add(Hit{
			ID: h.Key, Title: h.Key, Snippet: string(h.Value), Category: h.Category, Author: h.Author, Trust: string(h.Trust), At: h.CachedAt, RelevanceScore: score.Score,
		}, score.Evidence, score.Why)
	}
	return f, err
}

// reading is the notice of a kind whose index is being filled.
func reading(kind string) string { return "the " + plurals[kind] + " are still being read in" }

func (s Sources) procedures(ctx context.Context, r *request) (kindFound, error) {
	results, err := s.Procedures.Search(ctx, procedure.Query{
		Query: r.Query.Query, Category: r.Category, AgentID: r.AgentID, Since: r.span.From, Until: r.span.To, Limit: r.Limit, Explain: r.Explain, Corpus: r.corpus,
	})
	f := kindFound{corrected: results.Corrected}
	for _, h := range results.Results {
		f.add(Hit{
			ID: h.Name, Title: h.Name, Snippet: h.Description, Category: h.Category, Author: h.Author, Trust: string(h.Trust), At: h.UpdatedAt, RelevanceScore: h.RelevanceScore,
		}, h.Evidence, h.Why)
	}
	return f, err
}
