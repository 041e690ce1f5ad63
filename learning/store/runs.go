package store

import (
	"context"
	"strings"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

var runRows = table.Of[procedure.StoredRun]("runs", "Number num", "Of procedure", "Procedure name", "Steps", "Next").Numbered("num")

// stepOf is a step of a run.
type stepOf struct {
	run int64
	procedure.RunStep
}

var runSteps = table.Listed("run_steps", []string{
	"run", "idx", "step", "status", "attempt", "handed_out_at", "result", "error", "reason", "ended_at", "duration", "lesson_id",
}, func(s *stepOf) []any {
	return []any{
		&s.run, &s.Index, table.JSON(&s.Step), &s.Status, &s.Attempt, table.AtOrNil(&s.HandedOutAt), table.Raw(&s.Result), &s.Error, &s.Reason,
		table.AtOrNil(&s.EndedAt), &s.Duration, &s.LessonID,
	}
})

// StoredRun implements procedure.Store.
func (s *Store) StoredRun(ctx context.Context, id string) (run procedure.StoredRun, ok bool, err error) {
	// Both queries must see the same state of the run.
	err = s.Read.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		list, err := runRows.List(tx, "WHERE id = ?", id)
		if err != nil || len(list) == 0 {
			return err
		}
		err = readSteps(tx, list, "result")
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
		if err := readSteps(tx, found, "NULL"); err != nil {
			return err
		}
		for _, run := range found {
			list = append(list, run.Run)
		}
		return nil
	})
	return list, err
}

// readSteps reads the steps of runs; result is the column of their results, or NULL.
func readSteps(db *gorm.DB, found []procedure.StoredRun, result string) error {
	if len(found) == 0 {
		return nil
	}
	place, args := map[int64]int{}, []any{}
	for i, run := range found {
		place[run.Number] = i
		args = append(args, run.Number)
	}
	steps, err := table.List(db, runSteps.Fields, strings.Replace(runSteps.Select(), "run_steps.result", result, 1)+"WHERE run IN ("+table.Marks(len(args))+") ORDER BY run, idx", args...)
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
	rows := make([]stepOf, len(steps))
	for i, index := range steps {
		rows[i] = stepOf{run.Number, run.Steps[index]}
	}
	// A step's text is written once, when the run begins. SetLesson alone writes its lesson.
	_, err := runSteps.InsertAll(tx.db, rows, table.OrReplace([]string{"status", "attempt", "handed_out_at", "result", "error", "reason", "ended_at", "duration"}, "run", "idx"))
	return err
}

// SetLesson implements procedure.Tx.
func (tx *transaction) SetLesson(run int64, step int, lesson string) error {
	_, err := table.Exec(tx.db, "UPDATE run_steps SET lesson_id = ? WHERE run = ? AND idx = ?", lesson, run, step)
	return err
}
