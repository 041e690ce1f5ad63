package search

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/learning/subject"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/tfidf/text"
)

// repair tries again what found nothing: without each filter and in the kinds
// that were not asked, which is told of and not answered, and with words like
// those that nobody wrote, which is answered. Its work is a few searches, each
// as the same caller.
func (s *Searcher) repair(ctx context.Context, r *request, results *Answer) error {
	typed := map[string]string{} // by stem: what is told of are the words as they were typed
	for _, word := range strings.Fields(spaced(r.Query.Query)) {
		typed[text.Stem(word)] = word
	}
	var looked, unknown []string
	for _, stem := range r.words {
		word, is := typed[stem]
		if !is {
			continue
		}
		if looked = append(looked, word); r.corpus.Holding[stem] == 0 {
			unknown = append(unknown, word)
		}
	}
	results.Repairs = []learning.Repair{shelf.WordsRepair(looked, results.Corrected, unknown)}
	if len(r.words) == 0 {
		return nil
	}
	every := *r
	for _, filter := range r.filters() {
		without := *r
		filter.drop(&without)
		filter.drop(&every)
		if err := s.tryWithout(ctx, &without, "without "+filter.said, results); err != nil {
			return err
		}
	}
	if len(r.filters()) > 1 {
		if err := s.tryWithout(ctx, &every, "without any filter", results); err != nil {
			return err
		}
	}
	if len(r.Kinds) > 0 {
		elsewhere := *r
		elsewhere.Kinds = nil
		found, err := s.search(ctx, &elsewhere)
		if err != nil {
			return err
		}
		results.Repairs = append(results.Repairs, inKinds(found.Kinds, r.Kinds)...)
	}
	return s.trySpelling(ctx, r, results)
}

// bySubject answers a question that found nothing by what it is about: who asks for the package manager means the entry that says pnpm. What is
// found so names a subject of the question, and says it.
func (s *Searcher) bySubject(ctx context.Context, r *request, nothing Answer) (Answer, error) {
	about := subject.Of(r.Query.Query)
	if len(about) == 0 {
		return nothing, nil
	}
	again := *r
	again.Limit, again.MinRelevance, again.Query.Shown = MaxFound, 0, false
	again.ask(about.Ask(r.Query.Query))
	found, err := s.search(ctx, &again)
	if err != nil {
		return nothing, err
	}
	found.Results = subject.Among(about, found.Results, r.MinRelevance, func(h *Hit) (string, *float64) { return h.Title, &h.Relevance })
	if len(found.Results) == 0 {
		return nothing, nil
	}
	found.Results = found.Results[:min(len(found.Results), r.Limit)]
	found.Count, found.Searched = len(found.Results), nothing.Searched
	found.Notice = about.Notice()
	return found, nil
}

func (s *Searcher) tryWithout(ctx context.Context, r *request, said string, results *Answer) error {
	r.Limit, r.Explain = MaxFound, false
	found, err := s.search(ctx, r)
	results.Repairs = append(results.Repairs, learning.Repair{Step: shelf.RepairFilter, Detail: said, Found: found.Count})
	return err
}

// inKinds tells how many of each kind fit that was not asked for.
func inKinds(kinds []SearchedKind, asked []string) []learning.Repair {
	var repairs []learning.Repair
	for _, k := range kinds {
		if k.Found > 0 && !slices.Contains(asked, k.Kind) {
			repairs = append(repairs, learning.Repair{Step: shelf.RepairElsewhere, Detail: "among the " + kind.Named(k.Kind).Plural, Found: k.Found})
		}
	}
	return repairs
}

// trySpelling answers with words like those of the query, if there are any. The
// words of what the caller may see a part of alone are nobody's to be told.
func (s *Searcher) trySpelling(ctx context.Context, r *request, results *Answer) error {
	instead := map[string]string{}
	for _, memory := range s.kinds {
		words, err := memory.WordsFor(ctx, r.caller)
		if err != nil {
			return err
		}
		if words == nil {
			continue
		}
		for word, other := range words.Relax(r.Query.Query) {
			if instead[word] == "" && r.corpus.Holding[text.Stem(word)] == 0 {
				instead[word] = other
			}
		}
	}
	if len(instead) == 0 {
		return nil
	}
	again := *r
	meant := slices.Sorted(maps.Values(instead))
	again.ask(strings.Join(meant, " ") + " " + r.Query.Query)
	found, err := s.search(ctx, &again)
	if err != nil {
		return err
	}
	results.Repairs = append(results.Repairs, shelf.SpellingRepair(instead, found.Count))
	if found.Count > 0 && (!r.Query.Shown || found.Results[0].Relevance >= 2*learning.ShownRelevance) { // people are not shown what is merely spelt alike
		results.Results, results.Count, results.Kinds, results.Corrected = found.Results, found.Count, found.Kinds, instead
		results.Notice = strings.TrimPrefix(results.Notice+"; "+shelf.NoticeRelaxed, "; ")
	}
	return nil
}

// requestFilter is a filter of a request, as it is told of, and how to drop it.
type requestFilter struct {
	said string
	drop func(*request)
}

func (r *request) filters() []requestFilter {
	var list []requestFilter
	add := func(there bool, said string, drop func(*request)) {
		if there {
			list = append(list, requestFilter{said, drop})
		}
	}
	add(r.Project != "", "project="+r.Project, func(r *request) { r.Project = "" })
	add(r.Category != "", "category="+r.Category, func(r *request) { r.Category = "" })
	add(len(r.Tags) > 0, fmt.Sprintf("tags=%s", strings.Join(r.Tags, ",")), func(r *request) { r.Tags = nil })
	add(r.AgentID != "", "agent_id="+r.AgentID, func(r *request) { r.AgentID = "" })
	add(r.span != (learning.TimeRange{}), "the time", func(r *request) { r.span = learning.TimeRange{} })
	return list
}

// Elsewhere implements shelf.Elsewhere: how many of each other kind fit the words.
func (s *Searcher) Elsewhere(ctx context.Context, of, text string) []learning.Repair {
	r, err := s.check(ctx, Query{Query: text})
	if err != nil {
		return nil
	}
	found, err := s.search(ctx, r)
	if err != nil { // an aid, which is left out of the answer that it was to help
		return nil
	}
	return inKinds(found.Kinds, []string{of})
}
