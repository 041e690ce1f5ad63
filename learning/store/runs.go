package store

import (
	"context"

	"gorm.io/gorm"

	"skillrouter/learning/procedure"
)

const runColumns = "num, rev, id, procedure, persona, name, version, agent_id, project, params, status, reason, started_at, ended_at"

// StoredRun implements procedure.Store.
func (s *Store) StoredRun(ctx context.Context, id string) (run procedure.StoredRun, ok bool, err error) {
	// Both queries must see the same state of the run.
	err = s.read.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		list, err := runs(tx, "WHERE id = ?", id)
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
	var where conditions
	where.equal("persona", filter.Persona)
	where.equal("name", filter.Procedure)
	where.equal("agent_id", filter.AgentID)
	if filter.Status == procedure.RunRunning {
		where.add("status = 'running'") // said so, the index of open runs serves
	} else {
		where.equal("status", string(filter.Status))
	}
	list := []procedure.Run{}
	err := s.read.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		found, err := runs(tx, where.text+" ORDER BY num DESC LIMIT ?", append(where.args, filter.Limit)...)
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

func runs(db *gorm.DB, rest string, args ...any) ([]procedure.StoredRun, error) {
	return list(db, func(run *procedure.StoredRun) []any {
		return []any{
			&run.Number, &run.Rev, &run.ID, &run.Of, &run.Persona, &run.Procedure, &run.Version, &run.AgentID, &run.Project,
			fromJSON(&run.Params), &run.Status, &run.Reason, at(&run.StartedAt), atOrNil(&run.EndedAt),
		}
	}, "SELECT "+runColumns+" FROM runs "+rest, args...)
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
	steps, err := list(db, func(s *stepOf) []any {
		return []any{
			&s.run, &s.Index, fromJSON(&s.Step), &s.Status, &s.Attempt, atOrNil(&s.HandedOutAt), fromJSON(&s.Result), &s.Error, &s.Reason,
			atOrNil(&s.EndedAt), &s.Duration, &s.LessonID,
		}
	}, "SELECT run, idx, step, status, attempt, handed_out_at, "+result+", error, reason, ended_at, duration, lesson_id FROM run_steps WHERE run IN ("+
		marks(len(args))+") ORDER BY run, idx", args...)
	for _, s := range steps {
		run := &found[place[s.run]]
		run.Steps = append(run.Steps, s.RunStep)
	}
	return err
}

// AddRun implements procedure.Tx.
func (tx *transaction) AddRun(run *procedure.StoredRun) (err error) {
	run.Number, err = insertOne(tx.db, `INSERT INTO runs (id, procedure, persona, name, version, agent_id, project, params, status, reason, started_at, ended_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING num`, run.ID, run.Of, run.Persona, run.Procedure, run.Version, run.AgentID, run.Project, toJSON(run.Params),
		string(run.Status), run.Reason, millis(run.StartedAt), millisPtr(run.EndedAt))
	if err != nil {
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
	result, err := exec(tx.db, "UPDATE runs SET rev = rev + 1, status = ?, reason = ?, ended_at = ? WHERE num = ? AND rev = ?",
		string(run.Status), run.Reason, millisPtr(run.EndedAt), run.Number, run.Rev)
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
		if _, err := exec(tx.db, `INSERT INTO run_steps (run, idx, step, status, attempt, handed_out_at, result, error, reason, ended_at, duration, lesson_id)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, idx) DO UPDATE SET status = excluded.status, attempt = excluded.attempt,
			handed_out_at = excluded.handed_out_at, result = excluded.result, error = excluded.error, reason = excluded.reason, ended_at = excluded.ended_at,
			duration = excluded.duration`, run.Number, i, toJSON(step.Step), string(step.Status), step.Attempt, millisPtr(step.HandedOutAt), given,
			step.Error, step.Reason, millisPtr(step.EndedAt), step.Duration, step.LessonID); err != nil {
			return err
		}
	}
	return nil
}

// SetLesson implements procedure.Tx.
func (tx *transaction) SetLesson(run int64, step int, lesson string) error {
	_, err := exec(tx.db, "UPDATE run_steps SET lesson_id = ? WHERE run = ? AND idx = ?", lesson, run, step)
	return err
}
