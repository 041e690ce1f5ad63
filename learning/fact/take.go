package fact

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// Take takes in facts of another router. A key that has a fact keeps it, an
// expired one too as long as that is kept. It needs ScopeCaptain.
func (f *Facts) Take(ctx context.Context, facts []Fact, t learning.Taking) ([]learning.Taken, error) {
	by, at := principal.Of(ctx), f.now.Stamp()
	return learning.Taker[Fact, Fact, Tx]{
		ID: func(fact *Fact) string { return ID(fact.Persona, fact.Key) },
		Check: func(fact Fact) (Fact, error) {
			ready, err := take(fact, at)
			ready.Trust = learning.TrustOfTaken(by)
			return ready, err
		},
		Change: f.change,
		Put: func(tx Tx, _ int, fact *Fact) (bool, error) {
			if _, there, err := tx.Fact(fact.Persona, fact.Key); err != nil || there {
				return there, err
			}
			if err := tx.PutFact(fact); err != nil {
				return false, err
			}
			return false, addEvent(tx, EventStored, *fact, by.AgentID, at)
		},
		Stored: func(facts []Fact) { f.Put(facts...) },
	}.Take(ctx, facts, t)
}

func take(given Fact, at time.Time) (Fact, error) {
	if err := learning.CheckAuthor("agent_id", given.Author); err != nil {
		return given, err
	}
	p, err := Prepare(Draft{
		Persona: given.Persona, Key: given.Key, Value: given.Value, Category: given.Category, TTL: &given.TTL, Probe: given.Probe, Source: given.Source,
	})
	if err != nil {
		return given, err
	}
	if err := learning.CheckFigures("access_count", given.AccessCount); err != nil {
		return given, err
	}
	fact := p.Fact
	fact.Author, fact.Trust, fact.AccessCount, fact.LastAccessed = given.Author, learning.TrustImported, given.AccessCount, learning.CopyTime(given.LastAccessed)
	fact.CachedAt, fact.CreatedAt, fact.UpdatedAt = given.CachedAt, given.CreatedAt, given.UpdatedAt
	learning.Moments(at, at, &fact.CreatedAt)
	learning.Moments(at, fact.CreatedAt, &fact.CachedAt)
	learning.Moments(at, fact.CachedAt, &fact.UpdatedAt)
	learning.OptionalMoments(at, fact.LastAccessed)
	// It lives as long as it was to live there, and not a second longer.
	switch {
	case fact.TTL == 0 && given.ExpiresAt != nil:
		return fact, errs.InvalidField("expires_at", "is of a fact that lives for ever")
	case fact.TTL > 0 && given.ExpiresAt == nil:
		expireAfter(&fact, fact.CachedAt)
	case fact.TTL > 0:
		end := given.ExpiresAt.UTC().Truncate(time.Millisecond)
		if limit := at.Add(time.Duration(fact.TTL) * time.Second); end.After(limit) {
			end = limit
		}
		fact.ExpiresAt = &end
	}
	if !fact.Live(at) {
		return fact, errs.InvalidField("expires_at", "has passed")
	}
	return fact, nil
}
