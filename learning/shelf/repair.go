package shelf

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/tfidf"
)

// The steps of a repair.
const (
	RepairWords     = "words"    // the words as they are, and what stood in for them
	RepairFilter    = "filter"   // without a filter
	RepairSpelling  = "spelling" // words that begin alike, or are further away in spelling
	RepairElsewhere = "else"     // another kind of memory
)

// NoticeRelaxed is the notice of an answer that a repair found.
const NoticeRelaxed = "nothing matches these words: showing results for similar words"

// Elsewhere tells what other kinds of memory have for words. It counts as nobody's question.
type Elsewhere interface {
	Elsewhere(ctx context.Context, kind, text string) []learning.Repair
}

// searchFilter is a filter of a search, and how to drop it.
type searchFilter struct {
	name, value string
	drop        func(*tfidf.Query)
}

// filtersOf lists what a request to the engine is narrowed by. category is what
// the kind calls the engine's category, project the engine's project. Tags that
// begin with hidden, which may be empty, are none of the caller's.
func filtersOf(request tfidf.Query, category, project string, hidden ...string) []searchFilter {
	var filters []searchFilter
	add := func(name, value string, drop func(*tfidf.Query)) {
		if value != "" && name != "" {
			filters = append(filters, searchFilter{name, value, drop})
		}
	}
	add(category, request.Category, func(q *tfidf.Query) { q.Category = "" })
	add(project, request.Project, func(q *tfidf.Query) { q.Project = "" })
	for _, tag := range request.Tags {
		if slices.Contains(hidden, tag) {
			continue
		}
		name, value := "tag", tag
		if author, is := strings.CutPrefix(tag, authorTag); is {
			name, value = "agent_id", author
		} else if kind, rest, is := strings.Cut(tag, ":"); is && category == "event_type" { // see episode.tags
			name, value = kind, rest
		}
		add(name, value, func(q *tfidf.Query) {
			q.Tags = slices.DeleteFunc(slices.Clone(q.Tags), func(other string) bool { return other == tag })
		})
	}
	if request.From != 0 || request.To != 0 {
		add("the time", "given", func(q *tfidf.Query) { q.From, q.To = 0, 0 })
	}
	return filters
}

// repair tries again what found nothing: without each filter, which is told of
// and not answered, and with words like those that nobody wrote, which is
// answered. Its work is a few searches.
func repair(index *tfidf.Index, request tfidf.Query, found *tfidf.Result, filters []searchFilter) (done []learning.Repair, notice string) {
	done = append(done, WordsRepair(found.Terms, found.Corrected, found.Unknown))
	count := func(q tfidf.Query) int {
		q.Limit, q.Explain, q.Corpus = learning.MaxLimit, false, nil
		return len(index.Search(q).Hits)
	}
	every := request
	for _, filter := range filters[:min(len(filters), maxRepairFilters)] {
		without := request
		filter.drop(&without)
		filter.drop(&every)
		done = append(done, learning.Repair{Step: RepairFilter, Detail: "without " + filter.name + "=" + filter.value, Found: count(without)})
	}
	if len(filters) > 1 {
		done = append(done, learning.Repair{Step: RepairFilter, Detail: "without any filter", Found: count(every)})
	}
	instead := index.Relax(request.Text)
	if len(instead) == 0 {
		return done, ""
	}
	again := request
	again.Text = withWords(request.Text, instead)
	better := index.Search(again)
	done = append(done, SpellingRepair(instead, len(better.Hits)))
	if len(better.Hits) == 0 {
		return done, ""
	}
	better.Corrected = instead
	*found = better
	return done, NoticeRelaxed
}

// maxTriedFilters bounds how many filters are left out one by one.
const maxRepairFilters = 8

// withWords returns a query that has further words, which come first because a long query is cut.
func withWords(text string, instead map[string]string) string {
	return strings.Join(slices.Sorted(maps.Values(instead)), " ") + " " + text
}

// WordsRepair tells of the search itself.
func WordsRepair(terms []string, corrected map[string]string, unknown []string) learning.Repair {
	var said []string
	if len(terms) > 0 {
		said = append(said, "looked for "+quotedList(terms))
	}
	if len(corrected) > 0 {
		said = append(said, "took "+pairs(corrected))
	}
	if len(unknown) > 0 {
		said = append(said, "nobody wrote "+quotedList(unknown))
	}
	if len(said) == 0 {
		said = []string{"the query has no word to look for"}
	}
	return learning.Repair{Step: RepairWords, Detail: strings.Join(said, "; "), Found: 0}
}

// SpellingRepair tells of a search for words like those of the query.
func SpellingRepair(instead map[string]string, found int) learning.Repair {
	return learning.Repair{Step: RepairSpelling, Detail: "took " + pairs(instead), Found: found}
}

// maxTriedWords bounds how many words a detail names.
const maxRepairWords = 8

func quotedList(words []string) string {
	quoted := make([]string, 0, maxRepairWords)
	for _, w := range words[:min(len(words), maxRepairWords)] {
		quoted = append(quoted, fmt.Sprintf("%q", w))
	}
	if len(words) > maxRepairWords {
		quoted = append(quoted, fmt.Sprintf("%d more", len(words)-maxRepairWords))
	}
	return strings.Join(quoted, ", ")
}

func pairs(instead map[string]string) string {
	list := make([]string, 0, len(instead))
	for word, other := range instead {
		list = append(list, fmt.Sprintf("%q as %q", word, other))
	}
	slices.Sort(list)
	return strings.Join(list[:min(len(list), maxRepairWords)], ", ")
}

// repairs is what a service tries where a search found nothing.
type repairs struct {
	kind      string
	elsewhere atomic.Pointer[Elsewhere] // nil: nobody is asked
}

// Tell sets who knows what other kinds have. kind is what that one calls this one.
func (r *repairs) Tell(kind string, other Elsewhere) {
	r.kind = kind
	r.elsewhere.Store(&other)
}

// try is repair, and asks the other kinds if that found nothing. notice is what the search said of itself.
func (r *repairs) try(ctx context.Context, index *tfidf.Index, request tfidf.Query, found *tfidf.Result, filters []searchFilter, notice string) ([]learning.Repair, string) {
	if !learning.IsAsked(ctx) { // whoever searches as a part of its work puts its own answer together
		return nil, notice
	}
	untold := learning.IsHitsAlone(ctx)
	if untold {
		filters = nil
	}
	done, relaxed := repair(index, request, found, filters)
	if relaxed != "" {
		return done, strings.TrimPrefix(notice+"; "+relaxed, "; ")
	}
	if other := r.elsewhere.Load(); other != nil && !untold {
		done = append(done, (*other).Elsewhere(ctx, r.kind, request.Text)...)
	}
	return done, notice
}
