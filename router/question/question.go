// Package question answers questions in plain words. Each is put to every memory at once by the one search, and where it asks how
// things stand, to the rows that know. Its class orders and explains the answer, and hides nothing.
package question

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/classify"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/router/search"
)

// queryClassifier tells what kind of question a query is.
type queryClassifier interface {
	Classify(query string, mentions []classify.Mention) classify.Classification
}

// Asker is the router.Service beside the stores.
type Asker struct {
	classifier queryClassifier
	search     search.Service
	sources    Sources
	tables     []table
	kinds      []kind.Memory
	names      *names // nil without a Namer
	now        clock.Clock
	misses     learning.MissObserver
}

var _ router.Service = (*Asker)(nil)

// Options are the settings of an Asker. The zero value is usable.
type Options struct {
	// Now tells the time, in the zone that "yesterday" is meant in; time.Now if nil.
	Now clock.Clock
	// Names are what questions may name. May be nil.
	Names Namer
	// Kinds count their rows.
	Kinds []kind.Memory
	// Misses is told of questions that nothing answers. May be nil.
	Misses learning.MissObserver
}

// New makes an Asker.
func New(classifier queryClassifier, find search.Service, sources Sources, options Options) *Asker {
	a := &Asker{classifier: classifier, search: find, sources: sources, kinds: options.Kinds, now: options.Now.Given(), misses: options.Misses}
	a.tables = a.sources.tables()
	if options.Names != nil {
		a.names = &names{source: options.Names, now: a.now}
	}
	return a
}

// question is one question with what is known of who asks it.
type question struct {
	text    string
	agent   string // who asks, or for whom
	project string // only of this project; empty: of all
	prefer  string
	limit   int
	class   classify.Class // the one class that is to answer; empty: any
	names   []named
	now     time.Time
	caller  principal.Principal
	reading reading
}

// Ask implements router.Service. It needs ScopeRead.
func (a *Asker) Ask(ctx context.Context, query router.Query) (router.Answer, error) {
	caller := principal.Of(ctx).Keeping()
	if err := caller.Need(principal.ScopeRead); err != nil {
		return router.Answer{}, err
	}
	limit, err := query.Check()
	if err != nil {
		return router.Answer{}, err
	}
	q := question{
		text: query.Query, agent: cmp.Or(query.AgentID, caller.AgentID), project: query.Project, prefer: query.PreferProject, limit: limit, class: query.Type,
		now: a.now(), caller: caller,
	}
	if a.names != nil && !caller.Walled() { // they are of every project
		if q.names, err = a.names.in(ctx, query.Query); err != nil {
			return router.Answer{}, err
		}
	}
	return a.answer(ctx, q)
}

func mentionsOf(names []named) (mentions []classify.Mention) {
	for _, n := range names {
		mentions = append(mentions, n.Mention)
	}
	return mentions
}

// answer answers one question.
func (a *Asker) answer(ctx context.Context, q question) (router.Answer, error) {
	decided := classify.Classification{Class: q.class, Confidence: 1, Margin: 1, Reasons: []string{"the caller asked for this type"}}
	if q.class == "" {
		decided = a.classifier.Classify(q.text, mentionsOf(q.names))
	}
	q.reading = read(q.text, q.names, q.now)
	if part := a.agentPart(&q); len(part) > 0 { // "what is lark working on"
		q.names = append(slices.Clone(q.names), part...)
		q.reading = read(q.text, q.names, q.now)
	}
	if r := &q.reading; q.class == "" && r.noun && !instructs(q.text) && (len(r.stems) == 0 || r.kind == router.KindLesson) { // it says itself what it asks for
		if class := classOf(r.kind); class != decided.Class {
			decided.Class = class
			decided.Reasons = append(slices.Clone(decided.Reasons), "it names the "+r.kind)
		}
	}
	answer := router.Answer{
		QueryType: decided.Class, Confidence: decided.Confidence, Reasons: defaults.List(slices.Clone(decided.Reasons)), Query: q.text, Source: sourceOf(decided.Class), Items: []router.Item{},
	}
	var s state
	var hits, other []router.Item
	var found search.Answer
	asked := q                                                   // state guesses further than what was read, beside the searches
	asking, part := errgroup.WithContext(learning.NotAsked(ctx)) // whether the whole question is a gap is seen below
	asking.Go(func() (err error) {
		if !instructs(q.text) {
			s, err = a.state(part, &q)
		}
		return err
	})
	asking.Go(func() (err error) {
		hits, found, err = a.hits(part, &asked, decided)
		return err
	})
	asking.Go(func() (err error) {
		other, err = a.unsearched(part, &asked)
		return err
	})
	if err := asking.Wait(); err != nil {
		return answer, err
	}
	hits = append(hits, other...)
	slices.SortStableFunc(hits, func(x, y router.Item) int { return cmp.Compare(y.Score, x.Score) })
	if s.note != "" {
		answer.Reasons = append(answer.Reasons, s.note)
	}
	if found.Notice != "" {
		answer.Reasons = append(answer.Reasons, found.Notice)
	}
	switch {
	case s.settled && len(q.reading.stems) == 0:
		hits = nil
		answer.Items, answer.Summary = s.items, s.summary
	case s.settled && a.leads(&q, &s, hits, decided.Class):
		answer.Items, answer.Summary = join(s.items, hits), s.summary
	default:
		answer.Items = join(hits, s.items)
		if s.missing {
			answer.Reasons = append(answer.Reasons, "the search answers")
		}
	}
	answer.Items = defaults.List(answer.Items[:min(len(answer.Items), q.limit)])
	for i := range answer.Items {
		item := &answer.Items[i]
		if item.Relevance == 0 { // rows that were asked for by what they are
			item.Relevance, item.Score = 1, 1/float64(i+1)
		}
	}
	answer.Count = len(answer.Items)
	a.explain(&answer, &q, &s, &found)
	if nothing := len(answer.Items) == 0 && !s.settled || len(found.Repairs) > 0 && len(s.items) == 0 && len(other) == 0; nothing && a.misses != nil && q.class == "" {
		a.misses.Missed(ctx, learning.Miss{Question: q.text, Project: q.project, AgentID: q.agent})
	}
	return answer, nil
}

// agentPart are the agents that a question names by a part of their name.
func (a *Asker) agentPart(q *question) (found []named) {
	r := &q.reading
	selects := r.kind == "agent" && len(r.members) > 0 // "which builder is idle"
	if a.names == nil || len(r.agents) > 0 || selects || q.caller.Walled() || !(r.who || r.mine || len(r.stems) <= 2) {
		return nil
	}
	words := classify.Phrase(q.text)
	for _, w := range r.rest {
		ids := a.names.agentsBy(w)
		if len(ids) == 0 || len(ids) > 3 || classify.FunctionWords()[w] {
			continue
		}
		at := slices.Index(words, w)
		if r.noun && !(at > 0 && beforeAgent[words[at-1]] || at >= 0 && at+1 < len(words) && afterAgent[words[at+1]]) {
			continue // "lessons about docker" are not those of the agent docker-bot
		}
		for _, id := range ids {
			found = append(found, named{classify.Mention{Kind: classify.MentionAgent, Name: w}, id})
		}
		return found
	}
	return nil
}

// A word that stands behind, or before, one of these beside the noun of a kind may be an agent's name.
var (
	beforeAgent = classify.WordSet("of by from did does is has have do can should")
	afterAgent  = classify.WordSet("reported wrote made added recorded has have had holds hold held owns took asked did is was")
)

// explain says where the answer comes from, and what was tried where nothing fits.
func (a *Asker) explain(answer *router.Answer, q *question, s *state, found *search.Answer) {
	var why []string
	switch {
	case len(answer.Items) > 0:
		first := classOf(answer.Items[0].Kind)
		answer.Source = sourceOf(first)
		if s.settled && len(s.items) > 0 && answer.Items[0].ID == s.items[0].ID {
			answer.Source = s.source
		} else if first != answer.QueryType {
			why = append(why, fmt.Sprintf("nothing in %s fits as well as this %s", answer.QueryType, answer.Items[0].Kind))
		}
	case s.settled:
		answer.Source = s.source
	default:
		why = append(why, fmt.Sprintf("nothing in %s fits, nor in any other memory", answer.QueryType))
	}
	if found.Outside != "" && len(answer.Items) > 0 && !s.settled {
		why = append(why, found.Outside)
	}
	if len(why) == 0 {
		return
	}
	answer.Miss = &router.Miss{Reason: strings.Join(why, "; "), Asked: []string{string(answer.QueryType)}}
	for _, class := range classify.Classes() {
		if class != answer.QueryType && q.class == "" {
			answer.Miss.Asked = append(answer.Miss.Asked, string(class))
		}
	}
}

// instructs tells whether a question asks how something is done, or why it is: then what it says of states is its matter.
func instructs(text string) bool {
	words := classify.Phrase(text)
	if len(words) < 2 {
		return false
	}
	switch words[0] {
	case "how":
		return classify.WordSet("do does can could to should would did")[words[1]]
	case "why", "explain":
		return true
	}
	return false
}

// leads tells whether what the rows say goes before what the search found.
func (a *Asker) leads(q *question, s *state, hits []router.Item, class classify.Class) bool {
	if s.sure || len(hits) == 0 {
		return true
	}
	best := 0.0
	for _, hit := range hits[:min(len(hits), 3)] {
		best = max(best, overlapOf(q.reading.stems, hit))
	}
	if best != s.overlap && !(q.reading.named && s.overlap >= leastHeld) {
		return s.overlap > best
	}
	return q.reading.noun || class == classify.ClassOperational || class == classify.ClassRecon
}

// join puts one list behind the other, each thing once.
func join(first, second []router.Item) []router.Item {
	list := slices.Clone(first)
	for _, item := range second {
		if !slices.ContainsFunc(first, func(o router.Item) bool { return o.Kind == item.Kind && o.ID == item.ID }) {
			list = append(list, item)
		}
	}
	return list
}

const (
	// lean is how much the likelihood of a question's class moves the kinds of that class forward, and named how much it
	// does if the question names the kind.
	lean, namedKind = 0.25, 0.3
	// routersOwn is what a message of the router itself counts for.
	routersOwn = 0.5
	// likeWords is how relevant must be what only has words like those of the question.
	likeWords = 0.2
	// likely is the relevance of a row that has all words of the question, where the search has no index.
	likely = 0.8
)

// hits asks the one search.
func (a *Asker) hits(ctx context.Context, q *question, decided classify.Classification) ([]router.Item, search.Answer, error) {
	query := search.Query{Query: q.text, Project: q.project, PreferProject: q.prefer, Limit: min(q.limit, search.MaxFound)}
	if q.class != "" {
		for _, k := range search.Kinds() {
			if classOf(k) == q.class {
				query.Kinds = append(query.Kinds, k)
			}
		}
	}
	found, err := a.search.Search(ctx, query)
	if len(found.Repairs) > 0 && found.Count > 0 && found.Results[0].Relevance < likeWords { // words that are merely alike
		found.Results, found.Count, found.Notice = nil, 0, ""
	}
	if err == nil && found.Count == 0 && q.project != "" {
		query.Project, query.PreferProject = "", q.project
		if found, err = a.search.Search(ctx, query); found.Count > 0 {
			found.Outside = strings.TrimPrefix(found.Outside+"; it was found in another project, or in none", "; ")
		}
	}
	var items []router.Item
	for _, hit := range found.Results {
		item := itemOf(hit)
		item.Score = hit.Relevance * (1 + lean*decided.Probabilities[classOf(hit.Kind)])
		if hit.Kind == router.KindMessage && hit.Author == router.MailAgent { // it tells of what is found itself
			item.Score *= routersOwn
		}
		if q.reading.noun && q.reading.kind == hit.Kind {
			item.Score *= 1 + namedKind
		}
		items = append(items, item)
	}
	return items, found, err
}

// itemOf is what the search found as an item.
func itemOf(hit search.Hit) router.Item {
	item := router.Item{
		Kind: hit.Kind, ID: hit.ID, Title: hit.Title, Text: hit.Text, Relevance: hit.Relevance, Project: hit.Project, AgentID: hit.Author, At: hit.At,
		Fields: map[string]any{"trust": hit.Trust},
	}
	if hit.Category != "" {
		item.Fields["category"] = hit.Category
	}
	return item
}

// mostScanned bounds how many rows of a kind without an index are compared with a question: the latest.
const mostScanned = 200

// unsearched compares the question with the rows of kinds that the search has no index of.
func (a *Asker) unsearched(ctx context.Context, q *question) (items []router.Item, err error) {
	said, stems := classify.Content(classify.Phrase(q.text), known().empty)
	look := needlesOf(said, stems)
	if len(look) == 0 || q.caller.Walled() {
		return nil, nil
	}
	for i := range a.tables {
		t := &a.tables[i]
		if !t.searched || q.class != "" && classOf(t.kind) != q.class {
			continue
		}
		rows, _, err := t.list(ctx, &wanted{reading: reading{members: map[string][]string{}}, project: q.project, now: q.now, few: mostScanned, needles: look})
		if err != nil {
			return nil, err
		}
		fit, _ := holding(stems, rows[:min(len(rows), mostScanned)])
		for _, item := range fit {
			has := overlapOf(stems, item)
			item.Relevance = likely * has * has * (1 + 2*covered(stems, item.Title)) / 3
			item.Score = item.Relevance
			items = append(items, item)
		}
	}
	return items, nil
}

// covered is how much of a title the stems are: a question that is a small part of it means something else more often.
func covered(stems []string, title string) float64 {
	_, own := classify.Content(classify.Phrase(title), known().empty)
	return classify.Overlap(own, strings.Join(stems, " "))
}

// classOf is the class of questions that a kind answers.
func classOf(kind string) classify.Class {
	switch kind {
	case router.KindFinding, "scan", "environment":
		return classify.ClassRecon
	case router.KindEpisode:
		return classify.ClassEpisode
	case router.KindLesson, router.KindPattern, router.KindKnowledge, router.KindFact, router.KindProcedure, router.KindIncident, "rule", "memory":
		return classify.ClassKnowledge
	}
	return classify.ClassOperational
}

func sourceOf(class classify.Class) string {
	if class == classify.ClassKnowledge || class == classify.ClassEpisode {
		return router.SourceLearning
	}
	return router.SourceOperational
}
