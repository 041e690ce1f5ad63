package procedure

import (
	"context"
	"math"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// Take takes in procedures of another router, each in its latest version, with
// the figures of its runs. A name that has a procedure keeps it. It needs ScopeCaptain.
func (p *Procedures) Take(ctx context.Context, procedures []Procedure, t learning.Taking) ([]learning.Taken, error) {
	by, at := principal.Of(ctx), p.now.Stamp()
	return learning.Taker[Procedure, Stored, Tx]{
		ID: func(procedure *Procedure) string { return ID(procedure.Persona, procedure.Name) },
		Check: func(procedure Procedure) (Stored, error) {
			ready, err := take(procedure, at)
			ready.Trust = learning.TrustOfTaken(by)
			return ready, err
		},
		Change: p.store.ChangeProcedures,
		Put: func(tx Tx, _ int, procedure *Stored) (bool, error) {
			old, there, err := tx.Procedure(procedure.Persona, procedure.Name)
			if err != nil || there && (old.DeletedAt == nil || old.Name != procedure.Name) {
				return there, err
			}
			if there { // its versions go on
				procedure.Number, procedure.Version = old.Number, max(procedure.Version, old.Version+1)
			}
			if err := tx.PutProcedure(procedure); err != nil {
				return false, err
			}
			if err := tx.AddVersion(*procedure); err != nil {
				return false, err
			}
			return false, addEvent(tx, EventSaved, *procedure, by.AgentID, at)
		},
		Stored: func(procedures []Stored) {
			p.Shelf.Put(procedures...)
			if len(procedures) > 0 {
				p.bell.Ring()
			}
		},
	}.Take(ctx, procedures, t)
}

func take(given Procedure, at time.Time) (s Stored, err error) {
	if err := learning.CheckAuthor("agent_id", given.Author); err != nil {
		return s, err
	}
	prepared := prepare(Draft{
		Persona: given.Persona, Name: given.Name, Description: given.Description, Category: given.Category, Params: given.Params, Steps: given.Steps,
		LearnedFrom: given.LearnedFrom,
	})
	if prepared.err != nil {
		return s, prepared.err
	}
	if err := learning.CheckFigures("runs", given.Runs, "succeeded", given.Succeeded, "version", given.Version); err != nil {
		return s, err
	}
	if given.Succeeded > given.Runs {
		return s, errs.InvalidField("succeeded", "is more than runs")
	}
	if err := check.Range("success_rate", given.SuccessRate, 0, 1); err != nil {
		return s, err
	}
	if math.IsNaN(given.AvgTime) || given.AvgTime < 0 || given.AvgTime > learning.MaxFigure {
		return s, errs.InvalidField("avg_execution_time", "must lie between 0 and %d", int64(learning.MaxFigure))
	}
	s = Stored{
		Persona: prepared.persona, Name: prepared.name, Version: max(given.Version, 1), Body: prepared.body, Author: given.Author, Trust: learning.TrustImported,
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
	learning.Moments(at, at, &s.CreatedAt)
	learning.Moments(at, s.CreatedAt, &s.UpdatedAt)
	return s, nil
}
