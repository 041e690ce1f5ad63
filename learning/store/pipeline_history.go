package store

import (
	"context"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

var lessonChanges = table.Listed("lesson_changes", []string{"seq", "lesson_id", "kind", "agent_id", "note", "was", "became", "at"}, func(c *lesson.Change) []any {
	return []any{&c.Seq, &c.LessonID, &c.Kind, &c.Agent, &c.Note, table.JSON(&c.Before), table.JSON(&c.After), table.At(&c.At)}
}).Numbered("seq")

var applications = table.Of[lesson.Application]("lesson_applications", "Agent agent_id")

// AddChange implements lesson.PipelineTx.
func (tx *transaction) AddChange(changes ...lesson.Change) error {
	_, err := lessonChanges.InsertAll(tx.db, changes, "")
	return err
}

// LessonChanges implements lesson.PipelineStore.
func (s *Store) LessonChanges(ctx context.Context, lessonID string, limit int) ([]lesson.Change, error) {
	latest, err := lessonChanges.List(s.Read.WithContext(ctx), "WHERE lesson_id = ? ORDER BY seq DESC LIMIT ?", lessonID, limit)
	slices.Reverse(latest)
	return latest, err
}

// JudgedSince implements lesson.PipelineTx. The judgement is the first word of the note.
func (tx *transaction) JudgedSince(lessonID, by string, judgement lesson.ValidationType, after time.Time) (bool, error) {
	return table.One(tx.db, []any{new(int)}, `SELECT 1 FROM lesson_changes WHERE lesson_id = ? AND kind = ? AND (agent_id = ? OR substr(agent_id, 1, ?) = ?) AND at > ?
		AND (note = ? OR substr(note, 1, ?) = ?) LIMIT 1`,
		lessonID, lesson.ChangeValidated, by, len(by)+1, by+":", table.Millis(after), string(judgement), len(judgement)+1, string(judgement)+":")
}

// AddApplication implements lesson.PipelineTx.
func (tx *transaction) AddApplication(a lesson.Application) error {
	return applications.Insert(tx.db, &a)
}

// Applications implements lesson.PipelineTx.
func (tx *transaction) Applications(lessonID string, limit int) ([]lesson.Application, error) {
	return applications.List(tx.db, "WHERE lesson_id = ? ORDER BY num DESC LIMIT ?", lessonID, limit)
}
