package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

var runRows = table.Of[procedure.StoredRun]("runs", "Number num", "Of procedure", "Procedure name", "Steps", "Next").Numbered("num")

// StoredRun implements procedure.Store.
func (s *Store) StoredRun(ctx context.Context, id string) (run procedure.StoredRun, ok bool, err error) {
	// Both queries must see the same state of the run.
	err = s.Read.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		list, err := runRows.List(tx, "WHERE id = ?", id)
		if err != nil || len(list) == 0 {
			return err
		}
		err = runSteps(tx, list, "result")
		ok, run = true, list[0]
		return err
	})
	return run, ok, err
}

// ListRuns implements procedure.Store.
func (s *Store) ListRuns(ctx context.Context, filter procedure.RunFilter) ([]procedure.Run, error) {
	var where table.Conditions
	where.Equal("persona", filter.Persona)
	where.Equal("name", filter.Procedure)
	where.Equal("agent_id", filter.AgentID)
	if filter.Status == procedure.RunRunning {
		where.Add("status = 'running'") // said so, the index of open runs serves
	} else {
		where.Equal("status", string(filter.Status))
	}
	list := []procedure.Run{}
	err := s.Read.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		found, err := runRows.List(tx, where.Text+" ORDER BY num DESC LIMIT ?", where.With(filter.Limit)...)
		if err != nil {
			return err
		}
		if err := runSteps(tx, found, "NULL"); err != nil {
			return err
		}
		for _, run := range found {
			list = append(list, run.Run)
		}
		return nil
	})
	return list, err
}

// runSteps reads the steps of runs; result is the column of their results, or NULL.
func runSteps(db *gorm.DB, found []procedure.StoredRun, result string) error {
	if len(found) == 0 {
		return nil
	}
	place, args := map[int64]int{}, []any{}
	for i, run := range found {
		place[run.Number] = i
		args = append(args, run.Number)
	}
	type stepOf struct {
		run int64
		procedure.RunStep
	}
	steps, err := table.List(db, func(s *stepOf) []any {
		return []any{
			&s.run, &s.Index, table.JSON(&s.Step), &s.Status, &s.Attempt, table.AtOrNil(&s.HandedOutAt), table.JSON(&s.Result), &s.Error, &s.Reason,
			table.AtOrNil(&s.EndedAt), &s.Duration, &s.LessonID,
		}
	}, "SELECT run, idx, step, status, attempt, handed_out_at, "+result+", error, reason, ended_at, duration, lesson_id FROM run_steps WHERE run IN ("+
		table.Marks(len(args))+") ORDER BY run, idx", args...)
	for _, s := range steps {
		run := &found[place[s.run]]
		run.Steps = append(run.Steps, s.RunStep)
	}
	return err
}

// AddRun implements procedure.Tx.
func (tx *transaction) AddRun(run *procedure.StoredRun) error {
	if err := runRows.Insert(tx.db, run); err != nil {
		return err
	}
	all := make([]int, len(run.Steps))
	for i := range all {
		all[i] = i
	}
	return tx.putSteps(run, all)
}

// PutRun implements procedure.Tx.
func (tx *transaction) PutRun(run *procedure.StoredRun, steps []int) (ok bool, err error) {
	result, err := table.Exec(tx.db, "UPDATE runs SET rev = rev + 1, status = ?, reason = ?, ended_at = ? WHERE num = ? AND rev = ?",
		string(run.Status), run.Reason, table.MillisOrNil(run.EndedAt), run.Number, run.Rev)
	if err != nil {
		return false, err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return false, err
	}
	run.Rev++
	return true, tx.putSteps(run, steps)
}

func (tx *transaction) putSteps(run *procedure.StoredRun, steps []int) error {
	for _, i := range steps {
		step := run.Steps[i]
		var given any
		if len(step.Result) > 0 {
			given = string(step.Result)
		}
		if _, err := table.Exec(tx.db, `INSERT INTO run_steps (run, idx, step, status, attempt, handed_out_at, result, error, reason, ended_at, duration, lesson_id)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, idx) DO UPDATE SET status = excluded.status, attempt = excluded.attempt,
			handed_out_at = excluded.handed_out_at, result = excluded.result, error = excluded.error, reason = excluded.reason, ended_at = excluded.ended_at,
			duration = excluded.duration`, run.Number, i, table.JSON(&step.Step), string(step.Status), step.Attempt, table.MillisOrNil(step.HandedOutAt), given,
			step.Error, step.Reason, table.MillisOrNil(step.EndedAt), step.Duration, step.LessonID); err != nil {
			return err
		}
	}
	return nil
}

// SetLesson implements procedure.Tx.
func (tx *transaction) SetLesson(run int64, step int, lesson string) error {
	_, err := table.Exec(tx.db, "UPDATE run_steps SET lesson_id = ? WHERE run = ? AND idx = ?", lesson, run, step)
	return err
}
