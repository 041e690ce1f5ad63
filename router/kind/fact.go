package kind

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/tally"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/router"
)

// Fact is what is known of facts.
var Fact = Kind{
	Name: router.KindFact, Plural: "facts", Searched: 4, Exported: 5, HasAuthor: true,
	Decode:  decoded[fact.Fact],
	Page:    Page{Folder: "facts", Title: "key", Key: []string{"persona", "key"}, Drop: []string{"version"}},
	Counted: 1, Held: router.HeldMemory{Type: router.SemanticMemory, Also: "facts"},
	Events: []Event{
		{fact.EventStored, factMembers, "a fact is new, or stands in an expired one's place"},
		{fact.EventUpdated, factMembers, "a fact was replaced or changed"},
		{fact.EventDeleted, factMembers, "a fact was deleted"},
		{fact.EventExpired, factMembers, "a fact's time to live is over"},
	},
}

// What the events tell of.
const (
	factMembers = "persona, key, category, version, ttl, expires_at?, probe?"
)

// Facts are the facts of a service.
func Facts(service *fact.Facts, rows interface {
	// FactsAfter returns facts that live at a time, of this persona with a greater key and of personas behind it, in order.
	FactsAfter(ctx context.Context, persona, key string, at time.Time, limit int) ([]fact.Fact, error)
	FactHoldings(ctx context.Context, persona string, at time.Time) ([]tally.Tally, error)
	Fact(ctx context.Context, persona, key string) (fact.Fact, bool, error)
}, now clock.Clock,
) Memory {
	return Memory{
		Kind: Fact.holding(func(ctx context.Context, persona string) ([]tally.Tally, error) {
			return rows.FactHoldings(ctx, persona, now())
		}, service.Clear),
		Words: service, Shelf: service,
		Search: func(ctx context.Context, q Question) (Found, error) {
			results, err := service.Find(ctx, fact.Search{
				Persona: q.Persona, Query: q.Text, Category: q.Category, AgentID: q.AgentID, Since: q.Span.From, Until: q.Span.To, Limit: q.Limit, Explain: q.Explain, Corpus: q.Corpus,
			})
			f := Found{Corrected: results.Corrected}
			if results.Reading {
				f.Notice = Fact.Reading()
			}
			for i, h := range results.Facts {
				score := results.Scores[i]
				hit := factHit(h).scored(score.Score, score.Evidence, score.Why)
				if q.Persona == "" {
					hit.ID = h.Key
				}
				f.Hits = append(f.Hits, hit)
			}
			return f, err
		},
		Export: paged(func(ctx context.Context, _ string, now time.Time, last fact.Fact, limit int) ([]fact.Fact, error) {
			return rows.FactsAfter(ctx, last.Persona, last.Key, now, limit)
		}),
		Import: taken(service.Take),
		Undo: Undo{func(ctx context.Context, ref string) (any, error) {
			persona, key, _ := strings.Cut(ref, "/")
			found, there, err := rows.Fact(ctx, persona, key)
			if err == nil && !there {
				err = errs.Errorf(errs.NotFound, "there is no such fact")
			}
			return found, err
		}, func(ctx context.Context, ref string) error {
			return service.Forget(ctx, factRef(ref))
		}},
		Pages: Pages{
			List: func(ctx context.Context, l Listing) (Found, error) {
				page, err := service.Search(ctx, fact.Query{Persona: l.Persona, Category: l.Category, Cursor: l.Cursor, Limit: l.Limit})
				return Found{Next: page.Next, Hits: hitsOf(page.Facts, factHit)}, err
			},
			Personas: service.Personas,
			Versions: func(ctx context.Context, ref string) (versions []Version, err error) {
				before, err := service.History(ctx, factRef(ref))
				for _, one := range before {
					versions = append(versions, Version{ID: strconv.FormatInt(one.Version, 10), Author: one.Author, At: one.UpdatedAt, Row: one})
				}
				return versions, err
			},
			Fields: []Field{{Member: "value", Form: Raw}, {Member: "category"}, {Member: "ttl", Form: Number}, {Member: "probe"}, {Member: "source"}},
			Change: changing(func(ctx context.Context, ref string, patch fact.Patch) (fact.Fact, error) {
				return service.Update(ctx, factRef(ref), patch)
			}),
		},
	}
}

func factRef(id string) fact.Ref {
	persona, key, _ := strings.Cut(id, "/")
	return fact.Ref{Persona: persona, Key: key}
}

func factHit(f fact.Fact) Hit {
	return Hit{ID: fact.ID(f.Persona, f.Key), Title: f.Key, Text: string(f.Value), Category: f.Category, Author: f.Author, Trust: string(f.Trust), At: f.CachedAt}
}
