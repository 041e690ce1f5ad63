package fact

import (
	"context"
	"time"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning"
)

// Take takes in facts of another router. A key that has a fact keeps it, an
// expired one too as long as that is kept. It needs ScopeCaptain.
func (f *Facts) Take(ctx context.Context, facts []Fact, t learning.Taking) ([]learning.Taken, error) {
	by := principal.Of(ctx)
	if err := by.Need(principal.ScopeCaptain); err != nil {
		return nil, err
	}
	taken, ready := make([]learning.Taken, len(facts)), make([]Fact, len(facts))
	at := f.now.Stamp()
	for i, fact := range facts {
		taken[i].ID = ID(fact.Persona, fact.Key)
		ready[i], taken[i].Err = take(fact, at)
		ready[i].Trust = learning.TrustOfTaken(by)
	}
	var stored []Fact
	err := t.Settle(f.store.ChangeFacts(ctx, func(tx Tx) error {
		stored = nil
		for i := range ready {
			if taken[i].Err != nil {
				continue
			}
			fact := ready[i]
			_, there, err := tx.Fact(fact.Persona, fact.Key)
			if err != nil {
				return err
			}
			if taken[i].Duplicate = there; there {
				continue
			}
			if err := tx.PutFact(&fact); err != nil {
				return err
			}
			if err := addEvent(tx, EventStored, fact, by.AgentID, at); err != nil {
				return err
			}
			stored = append(stored, fact)
		}
		return t.Done()
	}, func() {
		for _, fact := range stored {
			f.wrote(fact)
		}
	}))
	return taken, err
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
