// Package search searches all kinds of memory at once. It asks each kind, compares the hits by the
// same weights of words, joins hits that say the same, and says what else it tried if nothing was
// found. Tasks, findings and messages have no index in their own package, so this package keeps one in
// step with their event log.
package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/trace"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/tfidf"
	"github.com/skillrouter/skillrouter/tfidf/text"
)

// Service searches every memory at once. Searcher implements it beside
// the stores, router/client over HTTP.
type Service interface {
	// Search finds what fits the words best, of whatever kind, the likeliest first. It
	// needs ScopeRead. Messages are found by whom they concern alone: their sender, their
	// recipient, of a broadcast every agent, and by a captain all of them.
	Search(ctx context.Context, query Query) (Answer, error)
}

// Kinds lists the kinds that can be searched. Of what says the same in
// two kinds the one named first is shown.
func Kinds() []string { return kind.Names(kind.Searched) }

// Query asks for what fits some words. A filter that a kind cannot have
// leaves the kind out, and the answer says so.
type Query struct {
	Query   string   `json:"query"`
	Kinds   []string `json:"kinds,omitempty"` // of Kinds; none: all
	Project string   `json:"project,omitempty" doc:"Only this project"`
	// PreferProject is the project that the caller works in, where Project names none: what belongs to it goes
	// before what fits about as well, what was imported later, and Why says so.
	PreferProject string   `json:"prefer_project,omitempty"`
	Category      string   `json:"category,omitempty" doc:"Only this category"`                       // a lesson's domain, an episode's event type, a message's signal, a finding's severity, a task's status
	Tags          []string `json:"tags,omitempty" help:"Only entries with this tag; may be repeated"` // each must be on it
	AgentID       string   `json:"agent_id,omitempty" doc:"Only what this agent wrote"`               // who wrote it; of a task, who made or has it
	// Since, Until and TimeRange bound when it was written or last changed; of a lesson, when it was first reported.
	Since     time.Time `json:"since,omitzero"`
	Until     time.Time `json:"until,omitzero"`
	TimeRange string    `json:"time_range,omitempty" doc:"Only what was written or changed then, such as 7d, yesterday or 2026-01"` // as learning.ParseTimeRange reads it; within Since and Until
	Limit     int       `json:"limit,omitempty" doc:"How many results at most"`                                                     // 1 to MaxFound; 0 means DefaultFound
	Explain   bool      `json:"explain,omitempty"`                                                                                  // fill Why
	// MinRelevance keeps out what is less relevant, from 0 to 1.
	MinRelevance float64 `json:"min_relevance,omitempty"`
	// Shown keeps out what people are not shown: see learning.Relevant.
	Shown bool `json:"shown,omitempty"`
}

// Bounds of a search's answer.
const (
	DefaultFound = 10
	MaxFound     = 50
	// snippetBytes is how much of a text is shown: a paragraph.
	snippetBytes = 400
)

// Hit is one thing that fits.
type Hit struct {
	Kind     string    `json:"kind"`
	ID       string    `json:"id"` // of a fact its key, of a procedure its name
	Title    string    `json:"title"`
	Snippet  string    `json:"snippet"`
	Text     string    `json:"-"`                  // all of it
	Category string    `json:"category,omitempty"` // as Query.Category names it
	Project  string    `json:"project,omitempty"`
	Author   string    `json:"author,omitempty"`
	Trust    string    `json:"trust,omitempty"`
	At       time.Time `json:"at"`
	// Relevance is how probably it is what was meant, from 0 to 1, and orders the answer.
	// It compares between kinds and between queries.
	Relevance float64 `json:"relevance"`
	// RelevanceScore is its score among those of its kind, as a search of that kind alone gives it.
	RelevanceScore float64           `json:"relevance_score"`
	Why            []learning.Reason `json:"why,omitempty"` // the parts of RelevanceScore; they add up to it
	// SupersededBy is what stands in its place, and goes before it.
	SupersededBy string `json:"superseded_by,omitempty"`
	// Also are hits of other kinds that say the same, and are not listed themselves.
	Also []Ref `json:"also,omitempty"`

	words []uint32 // see fold
	place float64  // Relevance as the caller's project and the hit's trust have it: the order of the answer
}

// Says is what the hit says, to be compared with what others say.
func (h *Hit) Says() learning.Saying {
	return learning.Saying{ID: h.ID, Kind: h.Kind, Where: h.Project, Trust: learning.Trust(h.Trust), Text: h.Title + "\n" + h.Snippet}
}

// Ref names something that was found.
type Ref struct {
	Kind  string `json:"kind"`
	ID    string `json:"id"`
	Title string `json:"title"`
}

// SearchedKind says what became of one kind in a search.
type SearchedKind struct {
	Kind string `json:"kind"`
	// Found is how many of it fit, up to the limit of the search.
	Found   int    `json:"found"`
	LeftOut string `json:"left_out,omitempty"` // why it was not searched
	Notice  string `json:"notice,omitempty"`   // what should be known of how it was searched
	unasked bool   // it was not among the kinds asked for
}

// Answer is the answer to a Query, the likeliest first.
type Answer struct {
	Results   []Hit             `json:"results"`
	Count     int               `json:"count"`
	Kinds     []SearchedKind    `json:"kinds"`               // of those asked for
	Searched  []string          `json:"searched"`            // the words that were looked for, by their stems
	Corrected map[string]string `json:"corrected,omitempty"` // words that nobody wrote, and what was searched instead
	Notice    string            `json:"notice,omitempty"`
	// Repairs say, where nothing was found, what was tried instead.
	Repairs []learning.Repair `json:"tried,omitempty"`
	// Outside says that nothing is of the time that the words name.
	Outside string `json:"-"`
}

// Searcher is the Service beside the stores.
type Searcher struct {
	kinds  []kind.Memory
	now    clock.Clock
	misses learning.MissObserver
}

var _ Service = (*Searcher)(nil)

// SearcherOptions are the settings of a Searcher.
type SearcherOptions struct {
	Now    clock.Clock           // time.Now if nil
	Misses learning.MissObserver // is told of questions that no memory answers; may be nil
}

// NewSearcher makes a Searcher over those of the memories that can be searched.
func NewSearcher(memories []kind.Memory, options SearcherOptions) *Searcher {
	options.Now = options.Now.Given()
	return &Searcher{kinds: kind.Placed(memories, func(m kind.Memory) int { return m.Searched }), now: options.Now, misses: options.Misses}
}

// Search implements Service.
func (s *Searcher) Search(ctx context.Context, query Query) (answer Answer, err error) {
	ctx, span := trace.StartSpan(ctx, "search_memory")
	defer func() {
		span.Set("gen_ai.operation.name", "search_memory")
		span.Set("skillrouter.results", len(answer.Results))
		span.Finish(err)
	}()
	request, err := s.check(ctx, query)
	if err != nil {
		return Answer{}, err
	}
	results, err := s.inTime(ctx, request)
	if err != nil {
		return Answer{}, err
	}
	if results.Count == 0 {
		if results, err = s.bySubject(ctx, request, results); err == nil && results.Count == 0 {
			err = s.repair(ctx, request, &results)
		}
		if err != nil {
			return Answer{}, err
		}
	}
	if noMatch := len(results.Repairs) > 0; noMatch && s.misses != nil && request.unfiltered() {
		s.misses.Missed(ctx, learning.Miss{Question: query.Query, Project: query.Project})
	}
	return results, nil
}

// request is a checked Query.
type request struct {
	Query
	span   learning.TimeRange
	now    time.Time
	caller principal.Principal
	phrase string   // the question as it was typed, if it may be a quotation
	words  []string // see text.QueryTerms
	joined []string // what may stand for several of them at once
	corpus *tfidf.Corpus
}

// prefers is the project whose hits go first; empty: none is preferred.
func (r *request) prefers() string {
	if r.Project != "" {
		return ""
	}
	return r.PreferProject
}

// unfiltered tells whether a query asks all that is known of a project: see knowledge.Query.
func (r *request) unfiltered() bool {
	return len(r.Kinds) == 0 && r.Category == "" && len(r.Tags) == 0 && r.AgentID == "" && r.span == (learning.TimeRange{})
}

func (s *Searcher) check(ctx context.Context, query Query) (*request, error) {
	r := &request{Query: query, now: s.now(), caller: principal.Of(ctx).Keeping()}
	if err := cmp.Or(
		r.caller.Need(principal.ScopeRead), check.Required("query", query.Query, learning.MaxQuery), learning.CheckRelevance(query.MinRelevance),
		check.Each("kinds", query.Kinds, Kinds()),
		check.Names("project", query.Project, "prefer_project", query.PreferProject, "category", query.Category, "agent_id", query.AgentID),
	); err != nil {
		return nil, err
	}
	if len(query.Tags) > learning.MaxTags {
		return nil, errs.InvalidField("tags", "are more than %d", learning.MaxTags)
	}
	for _, tag := range query.Tags {
		if err := cmp.Or(check.Required("tags", tag, learning.MaxTitle), check.Name("tags", tag)); err != nil {
			return nil, err
		}
	}
	var err error
	if r.Limit, err = check.Limit(query.Limit, DefaultFound, MaxFound); err != nil {
		return nil, err
	}
	if r.span, err = learning.ParseTimeRange("time_range", query.TimeRange, r.now); err != nil {
		return nil, err
	}
	r.span = r.span.Meet(learning.TimeRange{From: query.Since, To: query.Until})
	r.ask(query.Query)
	return r, nil
}

// ask has the request ask for a text.
func (r *request) ask(asked string) {
	r.Query.Query, r.phrase = asked, ""
	if typed := spaced(asked[:min(len(asked), snippetBytes)]); strings.Count(typed, " ")+1 >= quotedWords {
		r.phrase = typed
	}
	r.words, r.joined = text.QueryTerms(asked)
	r.words, r.joined = r.words[:min(len(r.words), tfidf.MaxQueryTerms)], r.joined[:min(len(r.joined), tfidf.MaxQueryTerms)]
}

// search asks every kind at the same time, and ranks what they have.
func (s *Searcher) search(ctx context.Context, r *request) (Answer, error) {
	if err := s.weigh(ctx, r); err != nil {
		return Answer{}, err
	}
	found, err := s.ask(learning.NotAsked(ctx), r)
	if err != nil {
		return Answer{}, err
	}
	results := Answer{Results: []Hit{}, Kinds: []SearchedKind{}, Searched: append([]string{}, r.words...)}
	var hits []Hit
	for _, f := range found {
		if f.unasked {
			continue
		}
		f.Found = len(f.hits)
		results.Kinds = append(results.Kinds, f.SearchedKind)
		for _, h := range f.hits {
			factor, why := learning.Prefer(r.prefers(), h.Project, learning.Trust(h.Trust))
			if r.quotes(&h) {
				h.Relevance = max(h.Relevance, quoted)
			}
			h.place = h.Relevance * factor
			if known := slices.ContainsFunc(h.Why, func(w learning.Reason) bool { return len(why) > 0 && w.Lane == why[0].Lane }); r.Explain && !known {
				for _, w := range why {
					w.Weight = 0 // it moves the place, and not this kind's own score
					h.Why = append(h.Why, w)
				}
			}
			hits = append(hits, h)
		}
		for word, instead := range f.corrected {
			if r.corpus.Holding[text.Stem(word)] > 0 {
				continue // another kind knows it
			}
			if results.Corrected == nil {
				results.Corrected = map[string]string{}
			}
			results.Corrected[word] = instead
		}
		if f.Notice != "" && !strings.Contains(results.Notice, f.Notice) {
			results.Notice = strings.TrimPrefix(results.Notice+"; "+f.Notice, "; ")
		}
	}
	rankHits(hits)
	learning.SuccessorsFirst(hits, func(h *Hit) string { return h.ID }, func(h *Hit) string { return h.SupersededBy }, func(next, old *Hit) {
		next.Relevance, next.place = max(next.Relevance, old.Relevance), max(next.place, old.place)
	})
	hits = worthShowing(hits, r)
	hits = foldAlike(hits, r.Limit)
	results.Results = append(results.Results, hits[:min(len(hits), r.Limit)]...)
	results.Count = len(results.Results)
	return results, nil
}

// quoted is the relevance of what holds the whole question as a phrase, and quotedWords how many words that has at least:
// also words that say nothing say something together.
const (
	quoted      = 0.9
	quotedWords = 3
)

// quotes tells whether a hit holds the whole question as it was typed.
func (r *request) quotes(h *Hit) bool {
	if r.phrase == "" {
		return false
	}
	return strings.Contains(" "+spaced(h.Title+" "+h.Text)+" ", " "+r.phrase+" ")
}

// spaced is the words of a text in lower case, with one space between them.
func spaced(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }), " ")
}

// smallStore is up to how many documents a store is small: there no word is rare, and so no hit is relevant for one.
const smallStore = 100

// worthShowing leaves out what the request does not want. In a small store a hit with every word that anything has may be
// shown, unless more words of the question are unknown.
func worthShowing(hits []Hit, r *request) []Hit {
	var known []string
	for _, stem := range r.words {
		if r.corpus.Holding[stem] > 0 {
			known = append(known, stem)
		}
	}
	for i := range hits {
		h := &hits[i]
		if r.corpus.Docs > smallStore || len(known) == 0 || 2*len(known) < len(r.words) || h.Relevance >= learning.ShownRelevance {
			break // the first is the likeliest
		}
		if terms := text.Terms(h.Title + "\n" + h.Text); !slices.ContainsFunc(known, func(stem string) bool { return !slices.Contains(terms, stem) }) {
			h.Relevance = learning.ShownRelevance
		}
	}
	return learning.Relevant(hits, r.MinRelevance, r.Query.Shown, func(h Hit) float64 { return h.Relevance })
}

// inTime searches in the time that the words name, such as "yesterday". What fits much better at another time goes before
// that, and what fits at no other time is the answer too.
func (s *Searcher) inTime(ctx context.Context, r *request) (Answer, error) {
	if r.span != (learning.TimeRange{}) {
		return s.search(ctx, r)
	}
	fields := strings.Fields(r.Query.Query)
	words := make([]string, len(fields))
	for i, f := range fields {
		words[i] = strings.Trim(strings.ToLower(f), `.,;:!?"'()`)
	}
	span, from, to := learning.Timespan(words[:min(len(words), maxTimeWords)], r.now)
	rest := strings.Join(slices.Concat(fields[:from], fields[to:]), " ")
	if stems, _ := text.QueryTerms(rest); to == 0 || len(stems) == 0 {
		return s.search(ctx, r)
	}
	r.ask(rest)
	always, err := s.search(ctx, r)
	if err != nil || always.Count == 0 {
		return always, err
	}
	timed := *r
	timed.span = span
	then, err := s.search(ctx, &timed)
	if err == nil && then.Count > 0 && then.Results[0].Relevance >= always.Results[0].Relevance/2 {
		return then, nil
	}
	if then.Count == 0 {
		always.Outside = fmt.Sprintf("nothing of the time “%s” fits: these are from other times", strings.Join(words[from:to], " "))
	}
	return always, err
}

// maxTimeWords bounds how far a time is looked for: a question is not longer.
const maxTimeWords = 64

// weigh counts in how many documents of all kinds that the caller may know of
// the query's words occur.
func (s *Searcher) weigh(ctx context.Context, r *request) error {
	r.corpus = &tfidf.Corpus{}
	stems := slices.Concat(r.words, r.joined)
	for _, memory := range s.kinds {
		words, err := memory.WordsFor(ctx, r.caller)
		if err != nil {
			return err
		}
		if words != nil {
			frequencies, documents := words.Frequencies(stems)
			r.corpus.Add(stems, frequencies, documents)
		}
	}
	return nil
}

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("search", "/api/search",
	operation.Post("", "Find what fits a question in every memory, the likeliest first", Service.Search).Needs("read").Keeps())
