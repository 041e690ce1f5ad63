package learning

import (
	"context"
	"strings"
	"time"

	"skillrouter"
	"skillrouter/tfidf"
)

// KeptFacts is the kind of the index of facts. No snapshot of it is kept: facts
// fall away without an event that a later start could read.
const KeptFacts KeptKind = "facts"

// factIndexed is how much of a value is searched, in bytes: a larger one is a
// table, and what it is about stands in its key and at its head.
const factIndexed = 2 << 10

// factDocument is what is searched of a fact. The engine's project holds the persona.
func factDocument(fact *Fact) tfidf.Document {
	value := fact.Value[:min(len(fact.Value), factIndexed)]
	return tfidf.Document{
		ID: FactID(fact.Persona, fact.Key), Title: fact.Key, Body: string(value) + "\n" + fact.Category, Category: fact.Category, Project: fact.Persona, Order: fact.Version,
		Tags: written(nil, fact.Author), At: moment(fact.CachedAt),
	}
}

// RunIndex fills the index from the database, tidies it until ctx ends, and
// returns nil then. Facts are found as they are read.
func (f *Facts) RunIndex(ctx context.Context) error {
	for err := f.Load(ctx); err != nil && ctx.Err() == nil; err = f.Load(ctx) {
		f.log.WarnContext(ctx, "the facts could not be read in: those that were stored before the start are not found by their words", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(recallAgain):
		}
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
		found, _, err := f.store.FactsUnder(ctx, persona, of)
		if err != nil {
			return nil, err
		}
		facts = append(facts, found...)
	}
	return facts, nil
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
	found, err := f.ask(ctx, shelfQuery{
		Query: tfidf.Query{
			Text: query.Query, Project: persona, Category: query.Category, Tags: written(nil, query.AgentID),
			From: moment(query.Since), To: moment(query.Until), Explain: query.Explain, Corpus: query.Corpus,
			Limit: min(2*limit, tfidf.MaxLimit), // some of those that are found may have expired and not been swept
		},
		category: "category",
	})
	if err != nil {
		return FactsFound{}, err
	}
	answer := FactsFound{Reading: !f.kept.Whole(), Tried: found.Tried, Notice: found.Notice, Corrected: found.Corrected}
	if found.partial {
		answer.Notice = "" // Reading says so
	}
	_, err = f.read(ctx, found, func(fact *Fact, hit tfidf.Hit) {
		if len(answer.Facts) < limit {
			f.show(fact)
			answer.Facts = append(answer.Facts, *fact)
			answer.Scores = append(answer.Scores, FactScore{hit.Score, reasons(hit.Why), hit.Evidence})
		}
	})
	return answer, err
}

// Used counts an access of each fact: somebody was shown it.
func (f *Facts) Used(persona string, keys ...string) {
	ids := make([]string, len(keys))
	for i, key := range keys {
		ids[i] = FactID(persona, key)
	}
	f.uses.count(f.now.Stamp(), ids...)
}
