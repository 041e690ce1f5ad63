package learning

import (
	"context"
	"math"
	"time"

	"skillrouter"
)

// Take takes in facts of another router. A key that has a fact keeps it, an
// expired one too as long as that is kept. It needs ScopeCaptain.
func (f *Facts) Take(ctx context.Context, facts []Fact, t Taking) ([]Taken, error) {
	by := skillrouter.PrincipalOf(ctx)
	if err := by.Need(skillrouter.ScopeCaptain); err != nil {
		return nil, err
	}
	taken, ready := make([]Taken, len(facts)), make([]Fact, len(facts))
	at := f.now.Stamp()
	for i, fact := range facts {
		taken[i].ID = FactID(fact.Persona, fact.Key)
		ready[i], taken[i].Err = takeFact(fact, at)
	}
	var stored []Fact
	err := t.settle(f.store.ChangeFacts(ctx, func(tx FactTx) error {
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
			if err := addFactEvent(tx, EventFactStored, fact, by.AgentID, at); err != nil {
				return err
			}
			stored = append(stored, fact)
		}
		return t.done()
	}, func() {
		for _, fact := range stored {
			f.wrote(fact, "")
		}
	}))
	return taken, err
}

func takeFact(given Fact, at time.Time) (Fact, error) {
	if err := checkAuthor("agent_id", given.Author); err != nil {
		return given, err
	}
	p, err := prepareFact(FactDraft{
		Persona: given.Persona, Key: given.Key, Value: given.Value, Category: given.Category, TTL: &given.TTL, Probe: given.Probe, Source: given.Source,
	})
	if err != nil {
		return given, err
	}
	if err := checkFigures("access_count", given.AccessCount); err != nil {
		return given, err
	}
	fact := p.Fact
	fact.Author, fact.Trust, fact.AccessCount, fact.LastAccessed = given.Author, TrustImported, given.AccessCount, copyTime(given.LastAccessed)
	fact.CachedAt, fact.CreatedAt, fact.UpdatedAt = given.CachedAt, given.CreatedAt, given.UpdatedAt
	moments(at, at, &fact.CreatedAt)
	moments(at, fact.CreatedAt, &fact.CachedAt)
	moments(at, fact.CachedAt, &fact.UpdatedAt)
	optionalMoments(at, fact.LastAccessed)
	// It lives as long as it was to live there, and not a second longer.
	switch {
	case fact.TTL == 0 && given.ExpiresAt != nil:
		return fact, skillrouter.InvalidField("expires_at", "is of a fact that lives for ever")
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
		return fact, skillrouter.InvalidField("expires_at", "has passed")
	}
	return fact, nil
}

// Take takes in procedures of another router, each in its latest version, with
// the figures of its runs. A name that has a procedure keeps it. It needs ScopeCaptain.
func (p *Procedures) Take(ctx context.Context, procedures []Procedure, t Taking) ([]Taken, error) {
	by := skillrouter.PrincipalOf(ctx)
	if err := by.Need(skillrouter.ScopeCaptain); err != nil {
		return nil, err
	}
	taken, ready := make([]Taken, len(procedures)), make([]StoredProcedure, len(procedures))
	at := p.now.Stamp()
	for i, procedure := range procedures {
		taken[i].ID = ProcedureID(procedure.Persona, procedure.Name)
		ready[i], taken[i].Err = takeProcedure(procedure, at)
	}
	var stored []StoredProcedure
	err := t.settle(p.store.ChangeProcedures(ctx, func(tx ProcedureTx) error {
		stored = nil
		for i := range ready {
			if taken[i].Err != nil {
				continue
			}
			procedure := ready[i]
			old, there, err := tx.Procedure(procedure.Persona, procedure.Name)
			if err != nil {
				return err
			}
			if there && (old.DeletedAt == nil || old.Name != procedure.Name) {
				taken[i].Duplicate = true
				continue
			}
			if taken[i].Duplicate = false; there { // its versions go on
				procedure.Number, procedure.Version = old.Number, max(procedure.Version, old.Version+1)
			}
			if err := tx.PutProcedure(&procedure); err != nil {
				return err
			}
			if err := tx.AddVersion(procedure); err != nil {
				return err
			}
			if err := addProcedureEvent(tx, EventProcedureSaved, procedure, by.AgentID, at); err != nil {
				return err
			}
			stored = append(stored, procedure)
		}
		return t.done()
	}, func() {
		for _, procedure := range stored {
			p.Shelf.put(procedure)
		}
		if len(stored) > 0 {
			p.bell.Ring()
		}
	}))
	return taken, err
}

func takeProcedure(given Procedure, at time.Time) (s StoredProcedure, err error) {
	if err := checkAuthor("agent_id", given.Author); err != nil {
		return s, err
	}
	prepared, err := prepareProcedure(ProcedureDraft{
		Persona: given.Persona, Name: given.Name, Description: given.Description, Category: given.Category, Params: given.Params, Steps: given.Steps,
		LearnedFrom: given.LearnedFrom,
	})
	if err != nil {
		return s, err
	}
	if err := checkFigures("runs", given.Runs, "succeeded", given.Succeeded, "version", given.Version); err != nil {
		return s, err
	}
	if given.Succeeded > given.Runs {
		return s, skillrouter.InvalidField("succeeded", "is more than runs")
	}
	if err := skillrouter.CheckRange("success_rate", given.SuccessRate, 0, 1); err != nil {
		return s, err
	}
	if math.IsNaN(given.AvgTime) || given.AvgTime < 0 || given.AvgTime > maxFigure {
		return s, skillrouter.InvalidField("avg_execution_time", "must lie between 0 and %d", int64(maxFigure))
	}
	s = StoredProcedure{
		Persona: prepared.persona, Name: prepared.name, Version: max(given.Version, 1), Body: prepared.body, Author: given.Author, Trust: TrustImported,
		Runs: given.Runs, Succeeded: given.Succeeded, CreatedAt: given.CreatedAt, UpdatedAt: given.UpdatedAt,
	}
	if given.Succeeded > 0 {
		s.Took = given.AvgTime * float64(given.Succeeded)
	} else {
		s.SaidTime = given.AvgTime
	}
	if given.Runs == 0 {
		s.SaidRate = given.SuccessRate
	}
	moments(at, at, &s.CreatedAt)
	moments(at, s.CreatedAt, &s.UpdatedAt)
	return s, nil
}

// Shown is a procedure as callers see it, without the figures of its steps.
func (s *StoredProcedure) Shown() Procedure { return s.shown() }
