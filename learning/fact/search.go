package fact

import (
	"cmp"
	"context"
	"slices"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

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
