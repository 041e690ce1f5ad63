package learning

import (
	"context"
	"sync"
	"time"

	"skillrouter"
	"skillrouter/tfidf"
)

// factIndex finds facts by the words of their keys and values. It is filled in
// the background after the start, so that neither the start nor the first
// readers wait for it, and kept in step with each commit from the first on.
type factIndex struct {
	index *tfidf.Index

	mu      sync.Mutex
	changed map[string]bool // ids that changed before the index was filled; nil when it is
}

// factIndexed is how much of a value is searched, in bytes: a larger one is a
// table, and what it is about stands in its key and at its head.
const factIndexed = 2 << 10

func newFactIndex() *factIndex {
	return &factIndex{index: tfidf.New(tfidf.Options{}), changed: map[string]bool{}}
}

// factDocument is what is searched of a fact. The engine's project holds the persona.
func factDocument(fact *Fact) tfidf.Document {
	value := fact.Value[:min(len(fact.Value), factIndexed)]
	return tfidf.Document{
		ID: FactID(fact.Persona, fact.Key), Title: fact.Key, Body: string(value) + "\n" + fact.Category, Category: fact.Category, Project: fact.Persona, Order: fact.Version,
		Tags: written(nil, fact.Author), At: moment(fact.CachedAt),
	}
}

func (x *factIndex) put(fact *Fact) {
	doc := factDocument(fact)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.changed != nil {
		x.changed[doc.ID] = true
	}
	x.index.Put(doc)
}

func (x *factIndex) remove(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.changed != nil {
		x.changed[id] = true
	}
	x.index.Delete(id)
}

// filled tells whether what was stored before the start has been read.
func (x *factIndex) filled() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.changed == nil
}

// RunIndex fills the index from the database, tidies it until ctx ends, and
// returns nil then. Facts are found as they are read.
func (f *Facts) RunIndex(ctx context.Context) error {
	if err := f.fillIndex(ctx); err != nil && ctx.Err() == nil {
		f.log.WarnContext(ctx, "the facts could not be read in: those that were stored before the start are not found by their words", "error", err)
	}
	return f.found.index.Run(ctx)
}

func (f *Facts) fillIndex(ctx context.Context) error {
	personas, err := f.store.CountFacts(ctx, f.now())
	if err != nil {
		return err
	}
	for _, p := range personas {
		for after, more := "", true; more && ctx.Err() == nil; {
			var keys []string
			more = false
			err := f.store.FactKeys(ctx, FactSpan{Persona: p.Persona, After: after}, f.now(), func(key string) bool {
				if more = len(keys) == factsAtOnce; !more {
					keys = append(keys, key)
				}
				return !more
			})
			if err != nil {
				return err
			}
			if len(keys) == 0 {
				break
			}
			facts, all, err := f.store.FactsUnder(ctx, p.Persona, keys)
			if err != nil {
				return err
			}
			after = keys[len(keys)-1]
			if !all { // what did not fit into the answer is read next
				after, more = facts[len(facts)-1].Key, true
			}
			docs := make([]tfidf.Document, len(facts))
			for i := range facts {
				docs[i] = factDocument(&facts[i])
			}
			f.found.mu.Lock()
			f.found.index.Put(unchanged(docs, f.found.changed)...)
			f.found.mu.Unlock()
		}
	}
	if ctx.Err() == nil {
		f.found.mu.Lock()
		f.found.changed = nil
		f.found.mu.Unlock()
	}
	return nil
}

// FactSearch asks for the facts that fit some words.
type FactSearch struct {
	Persona string
	Query   string
	Limit   int // 1 to MaxLimit; 0 means DefaultKnowledgeLimit
	Explain bool

	Category string
	AgentID  string    // who stored it
	Since    time.Time // when the value was stored
	Until    time.Time
	Corpus   *tfidf.Corpus // as KnowledgeQuery's
}

// FactsFound is the answer to a FactSearch, the best first.
type FactsFound struct {
	Facts     []Fact
	Corrected map[string]string
	Notice    string  // as KnowledgeResults'
	Tried     []Tried // as KnowledgeResults'
	Reading   bool    // not all facts have been read in since the start
	// Scores are those of Facts, one for each, as KnowledgeHit's.
	Scores []FactScore
}

// FactScore is how well a fact fits, and why.
type FactScore struct {
	Score    float64
	Why      []Reason
	Evidence tfidf.Evidence // as KnowledgeHit's
}

// Find returns the live facts of a persona whose keys and values fit words
// best, best first. It counts no access: see Used. It needs ScopeRead.
func (f *Facts) Find(ctx context.Context, query FactSearch) (FactsFound, error) {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead); err != nil {
		return FactsFound{}, err
	}
	persona, err := skillrouter.CheckPersona(query.Persona)
	if err != nil {
		return FactsFound{}, err
	}
	if err := checkQuery(query.Query); err != nil {
		return FactsFound{}, err
	}
	limit, err := skillrouter.Limit(query.Limit, DefaultKnowledgeLimit, MaxLimit)
	if err != nil {
		return FactsFound{}, err
	}
	// Some of those that are found may have expired and not been swept.
	request := tfidf.Query{
		Text: query.Query, Project: persona, Limit: min(2*limit, tfidf.MaxLimit), Explain: query.Explain,
		Category: query.Category, Tags: written(nil, query.AgentID), From: moment(query.Since), To: moment(query.Until), Corpus: query.Corpus,
	}
	found := f.found.index.Search(request)
	answer := FactsFound{Reading: !f.found.filled()}
	if len(found.Hits) == 0 {
		answer.Tried, answer.Notice = f.repairs.try(ctx, f.found.index, request, &found, filtersOf(request, "category", ""), "")
	}
	answer.Corrected = found.Corrected
	if len(found.Hits) == 0 {
		return answer, nil
	}
	keys := hitIDs(found.Hits)
	for i, id := range keys {
		keys[i] = id[len(persona)+1:]
	}
	facts, _, err := f.store.FactsUnder(ctx, persona, keys)
	if err != nil {
		return FactsFound{}, err
	}
	byKey := make(map[string]int, len(facts))
	for i := range facts {
		byKey[facts[i].Key] = i
	}
	at := f.now()
	for n, key := range keys {
		if i, there := byKey[key]; there && facts[i].Live(at) && len(answer.Facts) < limit {
			f.show(&facts[i])
			answer.Facts = append(answer.Facts, facts[i])
			answer.Scores = append(answer.Scores, FactScore{found.Hits[n].Score, reasons(found.Hits[n].Why), found.Hits[n].Evidence})
		}
	}
	return answer, nil
}

// Used counts an access of each fact: somebody was shown it.
func (f *Facts) Used(persona string, keys ...string) {
	ids := make([]string, len(keys))
	for i, key := range keys {
		ids[i] = FactID(persona, key)
	}
	if len(ids) > 0 {
		f.uses.count(ids, f.clock())
	}
}
