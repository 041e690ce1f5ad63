package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"skillrouter/learning"
)

var changeColumns = []string{"lesson_id", "kind", "agent_id", "note", "was", "became", "at"}

// AddChange implements learning.PipelineTx.
func (tx *pipelineTx) AddChange(changes ...learning.LessonChange) error {
	var failed error
	err := insert(tx.db, "lesson_changes", changeColumns, len(changes), func(i int, row []any) []any {
		c := &changes[i]
		was, err1 := jsonText(c.Before)
		became, err2 := jsonText(c.After)
		failed = errors.Join(failed, err1, err2)
		return append(row, c.LessonID, c.Kind, c.Agent, c.Note, was, became, millis(c.At))
	})
	return errors.Join(failed, err)
}

// LessonChanges implements learning.PipelineStore.
func (s *Store) LessonChanges(ctx context.Context, lessonID string, limit int) ([]learning.LessonChange, error) {
	rows, err := query(s.read.WithContext(ctx), `SELECT seq, lesson_id, kind, agent_id, note, was, became, at FROM (
		SELECT * FROM lesson_changes WHERE lesson_id = ? ORDER BY seq DESC LIMIT ?) ORDER BY seq`, lessonID, limit)
	if err != nil {
		return nil, err
	}
	changes := []learning.LessonChange{}
	for rows.Next() {
		var c learning.LessonChange
		var was, became sql.NullString
		var at int64
		if err := rows.Scan(&c.Seq, &c.LessonID, &c.Kind, &c.Agent, &c.Note, &was, &became, &at); err != nil {
			return nil, closing(rows, err)
		}
		var err1, err2 error
		c.Before, err1 = parseJSON[learning.Snapshot](was)
		c.After, err2 = parseJSON[learning.Snapshot](became)
		if err := errors.Join(err1, err2); err != nil {
			return nil, closing(rows, err)
		}
		c.At = fromMillis(at)
		changes = append(changes, c)
	}
	return changes, closing(rows, rows.Err())
}

// JudgedSince implements learning.PipelineTx. The judgement is the first word of the note.
func (tx *pipelineTx) JudgedSince(lessonID, by string, judgement learning.ValidationType, after time.Time) (bool, error) {
	rows, err := query(tx.db, `SELECT 1 FROM lesson_changes WHERE lesson_id = ? AND kind = ? AND agent_id = ? AND at > ?
		AND (note = ? OR substr(note, 1, ?) = ?) LIMIT 1`,
		lessonID, learning.ChangeValidated, by, millis(after), string(judgement), len(judgement)+1, string(judgement)+":")
	if err != nil {
		return false, err
	}
	judged := rows.Next()
	return judged, closing(rows, rows.Err())
}

// AddApplication implements learning.PipelineTx.
func (tx *pipelineTx) AddApplication(a learning.Application) error {
	_, err := exec(tx.db, "INSERT INTO lesson_applications (lesson_id, agent_id, context, outcome, notes, at) VALUES (?, ?, ?, ?, ?, ?)",
		a.LessonID, a.Agent, a.Context, string(a.Outcome), a.Notes, millis(a.At))
	return err
}

// Applications implements learning.PipelineTx.
func (tx *pipelineTx) Applications(lessonID string, limit int) ([]learning.Application, error) {
	rows, err := query(tx.db, `SELECT lesson_id, agent_id, context, outcome, notes, at FROM lesson_applications
		WHERE lesson_id = ? ORDER BY num DESC LIMIT ?`, lessonID, limit)
	if err != nil {
		return nil, err
	}
	applications := []learning.Application{}
	for rows.Next() {
		var a learning.Application
		var at int64
		if err := rows.Scan(&a.LessonID, &a.Agent, &a.Context, &a.Outcome, &a.Notes, &at); err != nil {
			return nil, closing(rows, err)
		}
		a.At = fromMillis(at)
		applications = append(applications, a)
	}
	return applications, closing(rows, rows.Err())
}
