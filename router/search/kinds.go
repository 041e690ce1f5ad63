package search

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/router/kind"
)

// kindFound is what one kind has for a search.
type kindFound struct {
	SearchedKind
	hits      []Hit
	corrected map[string]string
}

// found is what a kind has, as it is answered.
func found(memory kind.Memory, has kind.Found) kindFound {
	f := kindFound{SearchedKind: SearchedKind{Kind: memory.Name, Notice: has.Notice}, corrected: has.Corrected}
	for _, h := range has.Hits {
		f.hits = append(f.hits, Hit{
			Kind: memory.Name, ID: h.ID, Title: check.Head(h.Title, snippetBytes), Snippet: check.Clip(h.Text, snippetBytes), Text: h.Text, Category: h.Category, Project: h.Project, Author: h.Author,
			Trust: h.Trust, At: h.At, Relevance: shelf.Relevance(h.Evidence), RelevanceScore: h.Score, Why: h.Why, words: bagOf(h.Title, h.Text),
			SupersededBy: h.SupersededBy,
		})
	}
	return f
}

// ask puts the question to every kind at the same time.
func (s *Searcher) ask(ctx context.Context, r *request) ([]kindFound, error) {
	all := make([]kindFound, len(s.kinds))
	searching, part := errgroup.WithContext(ctx)
	for i, memory := range s.kinds {
		all[i].Kind = memory.Name
		all[i].unasked = len(r.Kinds) > 0 && !slices.Contains(r.Kinds, memory.Name)
		if all[i].LeftOut = leftOut(memory.Kind, r); all[i].unasked || all[i].LeftOut != "" {
			continue
		}
		searching.Go(func() error {
			has, err := memory.Search(part, kind.Question{
				Text: r.Query.Query, Project: r.Project, Prefer: r.PreferProject, Category: r.Category, Tags: r.Tags, AgentID: r.AgentID, Span: r.span,
				Limit: r.Limit, Explain: r.Explain, Corpus: r.corpus, Caller: r.caller, Now: r.now,
			})
			if err == nil {
				all[i] = found(memory, has)
			}
			return err
		})
	}
	return all, searching.Wait()
}

// leftOut says why a kind is not asked; empty: it is.
func leftOut(k kind.Kind, r *request) string {
	switch {
	case k.Private && !r.caller.Has(principal.ScopeAgent):
		return "this token may read nobody's " + k.Plural
	case k.Private && !r.caller.Has(principal.ScopeCaptain) && r.caller.AgentID == "":
		return "this token is no agent's, and may read nobody's " + k.Plural
	case r.caller.Walled() && !k.Walled:
		return k.Plural + " do not keep to the projects of a token"
	case r.Project != "" && !k.OfProject:
		return k.Plural + " are of no project"
	case len(r.Tags) > 0 && !k.HasTags:
		return k.Plural + " have no tags"
	case r.AgentID != "" && !k.HasAuthor:
		return k.Plural + " are of no agent"
	case r.Category != "" && k.Categories != nil && !slices.Contains(k.Categories, r.Category):
		return k.Plural + " have no such category; there are " + strings.Join(k.Categories, ", ")
	}
	return ""
}
