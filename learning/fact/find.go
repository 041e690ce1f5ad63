package fact

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/tfidf"
)

// IndexKind is the kind of the index of facts. No snapshot of it is kept: facts
// fall away without an event that a later start could read.
const IndexKind shelf.IndexKind = "facts"

// indexed is how much of a value is searched, in bytes: a larger one is a
// table, and what it is about stands in its key and at its head.
const indexed = 2 << 10

// document is what is searched of a fact. The engine's project holds the persona.
func document(fact *Fact) tfidf.Document {
	value := fact.Value[:min(len(fact.Value), indexed)]
	return tfidf.Document{
		ID: ID(fact.Persona, fact.Key), Title: fact.Key, Body: string(value) + "\n" + fact.Category, Category: fact.Category, Project: fact.Persona, Order: fact.Version,
		Tags: shelf.Written(nil, fact.Author), At: shelf.Moment(fact.CachedAt),
	}
}

// readAgain is how long a failed reading waits before it is tried again.
const readAgain = time.Second

// RunIndex fills the index from the database, tidies it until ctx ends, and
// returns nil then. Facts are found as they are read.
func (f *Facts) RunIndex(ctx context.Context) error {
	for err := f.Load(ctx); err != nil && ctx.Err() == nil; err = f.Load(ctx) {
		f.log.WarnContext(ctx, "the facts could not be read in: those that were stored before the start are not found by their words", "error", err)
		_ = committer.Pause(ctx, readAgain)
	}
	return f.Shelf.RunIndex(ctx)
}

// rows returns the facts with these ids that there are.
func (f *Facts) rows(ctx context.Context, ids []string) ([]Fact, error) {
	keys := map[string][]string{}
	for _, id := range ids {
		persona, key, _ := strings.Cut(id, "/")
		keys[persona] = append(keys[persona], key)
	}
	var facts []Fact
	for persona, of := range keys {
		for len(of) > 0 { // a store answers what learning.MaxAnswer has room for, in the order of keys
			found, all, err := f.store.FactsUnder(ctx, persona, of)
			if err != nil {
				return nil, err
			}
			facts = append(facts, found...)
			if all || len(found) == 0 {
				break
			}
			last := found[len(found)-1].Key
			of = slices.DeleteFunc(of, func(key string) bool { return key <= last })
		}
	}
	return facts, nil
}

// Search asks for the facts that fit some words.
type Search struct {
	Persona string
	Query   string
	Limit   int // 1 to MaxLimit; 0 means DefaultKnowledgeLimit
	Explain bool

	Category string
	AgentID  string    // who stored it
	Since    time.Time // when the value was stored
	Until    time.Time
	Corpus   *tfidf.Corpus // as knowledge.Query's
}

// FactsFound is the answer to a Search, the best first.
type FactsFound struct {
	Facts     []Fact
	Corrected map[string]string
	Notice    string            // as knowledge.Results'
	Repairs   []learning.Repair // as knowledge.Results'
	Reading   bool              // not all facts have been read in since the start
	// Scores are those of Facts, one for each, as knowledge.Hit's.
	Scores []Score
}

// Score is how well a fact fits, and why.
type Score struct {
	Score    float64
	Why      []learning.Reason
	Evidence tfidf.Evidence // as knowledge.Hit's
}

// Find returns the live facts of a persona whose keys and values fit words
// best, best first. It counts no access: see Used. It needs ScopeRead.
func (f *Facts) Find(ctx context.Context, query Search) (FactsFound, error) {
	persona, wrongPersona := check.Persona(query.Persona)
	limit, wrongLimit := check.Limit(query.Limit, learning.DefaultKnowledgeLimit, learning.MaxLimit)
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), wrongPersona, learning.CheckQuery(query.Query), wrongLimit); err != nil {
		return FactsFound{}, err
	}
	found, err := f.Ask(ctx, shelf.ShelfQuery{
		Query: tfidf.Query{
			Text: query.Query, Project: persona, Category: query.Category, Tags: shelf.Written(nil, query.AgentID),
			From: shelf.Moment(query.Since), To: shelf.Moment(query.Until), Explain: query.Explain, Corpus: query.Corpus,
			Limit: min(2*limit, tfidf.MaxLimit), // some of those that are found may have expired and not been swept
		},
		Category: "category",
	})
	if err != nil {
		return FactsFound{}, err
	}
	answer := FactsFound{Reading: !f.Keeper.Complete(), Repairs: found.Repairs, Notice: found.Notice, Corrected: found.Corrected}
	if found.Partial {
		answer.Notice = "" // Reading says so
	}
	_, err = f.Fetch(ctx, found, func(fact *Fact, hit tfidf.Hit) {
		if len(answer.Facts) < limit {
			f.show(fact)
			answer.Facts = append(answer.Facts, *fact)
			answer.Scores = append(answer.Scores, Score{hit.Score, shelf.Reasons(hit.Why), hit.Evidence})
		}
	})
	return answer, err
}

// Used counts an access of each fact: somebody was shown it.
func (f *Facts) Used(persona string, keys ...string) {
	ids := make([]string, len(keys))
	for i, key := range keys {
		ids[i] = ID(persona, key)
	}
	f.uses.Count(f.now.Stamp(), ids...)
}

// factsAtOnce is how many facts a search reads with one query.
const factsAtOnce = 100

// Search implements Service. It counts no accesses: a listing is no use.
func (f *Facts) Search(ctx context.Context, query Query) (Page, error) {
	persona, wrongPersona := check.Persona(query.Persona)
	limit, wrongLimit := check.Limit(query.Limit, DefaultPage, MaxPage)
	pattern, wrongPattern := compileGlob(query.Pattern)
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), wrongPersona, wrongLimit, wrongPattern); err != nil {
		return Page{}, err
	}
	span := Span{Persona: persona, After: query.Cursor}
	if query.Category != "" {
		var err error
		if span.Category, err = learning.CheckFactCategory(query.Category); err != nil {
			return Page{}, err
		}
	}
	if query.Cursor != "" {
		if err := checkKey(query.Cursor); err != nil {
			return Page{}, errs.InvalidField("cursor", "is none that this search answered")
		}
	}
	if query.Pattern != "" {
		span.Prefix = pattern.prefix
	}
	at := f.now()
	page := Page{Facts: []Fact{}}
	var keys []string
	looked, last := 0, ""
	if err := f.store.FactKeys(ctx, span, at, func(key string) bool {
		if len(keys) == limit || looked == MaxScan {
			page.Next = last
			return false
		}
		looked, last = looked+1, key
		if query.Pattern == "" || pattern.MatchString(key) {
			keys = append(keys, key)
		}
		return true
	}); err != nil {
		return Page{}, err
	}
	size := 0
	for part := range slices.Chunk(keys, factsAtOnce) {
		found, all, err := f.store.FactsUnder(ctx, persona, part)
		if err != nil {
			return Page{}, err
		}
		for _, fact := range found {
			if size += len(fact.Value); size > learning.MaxAnswer && len(page.Facts) > 0 {
				all = false
				break
			}
			if !fact.Live(at) || query.Category != "" && fact.Category != span.Category {
				continue // it changed between the two readings
			}
			f.show(&fact)
			page.Facts = append(page.Facts, fact)
		}
		if !all && len(page.Facts) > 0 {
			page.Next = page.Facts[len(page.Facts)-1].Key
			break
		}
	}
	page.Count = len(page.Facts)
	return page, nil
}

// Categories implements Service.
func (f *Facts) Categories(ctx context.Context, persona string) ([]Category, error) {
	persona, err := check.Persona(persona)
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), err); err != nil {
		return nil, err
	}
	return f.store.FactCategories(ctx, persona, f.now())
}

// Personas lists the personas that have facts, by name. It needs ScopeRead.
func (f *Facts) Personas(ctx context.Context) ([]string, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return nil, err
	}
	return f.store.FactPersonas(ctx)
}

// Stats implements Service.
func (f *Facts) Stats(ctx context.Context) (Stats, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return Stats{}, err
	}
	personas, err := f.store.CountFacts(ctx, f.now())
	cache := CacheStats{Hits: f.hits.Load(), Stale: f.stale.Load(), Misses: f.misses.Load()}
	return Stats{Personas: personas, Cache: cache}, err
}
