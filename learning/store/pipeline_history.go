package store

import (
	"context"
	"time"

	"skillrouter/learning/lesson"
)

var changeColumns = []string{"lesson_id", "kind", "agent_id", "note", "was", "became", "at"}

// AddChange implements lesson.PipelineTx.
func (tx *transaction) AddChange(changes ...lesson.Change) error {
	return insert(tx.db, "lesson_changes", changeColumns, len(changes), func(i int, row []any) []any {
		c := &changes[i]
		return append(row, c.LessonID, c.Kind, c.Agent, c.Note, orNull(c.Before), orNull(c.After), millis(c.At))
	})
}

// LessonChanges implements lesson.PipelineStore.
func (s *Store) LessonChanges(ctx context.Context, lessonID string, limit int) ([]lesson.Change, error) {
	return list(s.read.WithContext(ctx), func(c *lesson.Change) []any {
		return []any{&c.Seq, &c.LessonID, &c.Kind, &c.Agent, &c.Note, fromJSON(&c.Before), fromJSON(&c.After), at(&c.At)}
	}, `SELECT seq, lesson_id, kind, agent_id, note, was, became, at FROM (
		SELECT * FROM lesson_changes WHERE lesson_id = ? ORDER BY seq DESC LIMIT ?) AS latest ORDER BY seq`, lessonID, limit)
}

// JudgedSince implements lesson.PipelineTx. The judgement is the first word of the note.
func (tx *transaction) JudgedSince(lessonID, by string, judgement lesson.ValidationType, after time.Time) (bool, error) {
	return one(tx.db, []any{new(int)}, `SELECT 1 FROM lesson_changes WHERE lesson_id = ? AND kind = ? AND (agent_id = ? OR substr(agent_id, 1, ?) = ?) AND at > ?
		AND (note = ? OR substr(note, 1, ?) = ?) LIMIT 1`,
		lessonID, lesson.ChangeValidated, by, len(by)+1, by+":", millis(after), string(judgement), len(judgement)+1, string(judgement)+":")
}

// AddApplication implements lesson.PipelineTx.
func (tx *transaction) AddApplication(a lesson.Application) error {
	_, err := exec(tx.db, "INSERT INTO lesson_applications (lesson_id, agent_id, context, outcome, notes, at) VALUES (?, ?, ?, ?, ?, ?)",
		a.LessonID, a.Agent, a.Context, string(a.Outcome), a.Notes, millis(a.At))
	return err
}

// Applications implements lesson.PipelineTx.
func (tx *transaction) Applications(lessonID string, limit int) ([]lesson.Application, error) {
	return list(tx.db, func(a *lesson.Application) []any {
		return []any{&a.LessonID, &a.Agent, &a.Context, &a.Outcome, &a.Notes, at(&a.At)}
	},
		`SELECT lesson_id, agent_id, context, outcome, notes, at FROM lesson_applications WHERE lesson_id = ? ORDER BY num DESC LIMIT ?`, lessonID, limit)
}
