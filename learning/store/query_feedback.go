package store

import (
	"context"

	"gorm.io/gorm"

	"skillrouter/learning/feedback"
)

var _ feedback.QueryFeedbackStore = (*Store)(nil)

// AddQueryFeedback implements feedback.QueryFeedbackStore.
func (s *Store) AddQueryFeedback(ctx context.Context, e feedback.QueryFeedback, mine, all int) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		if _, err := exec(tx, "DELETE FROM query_feedback WHERE agent_id = ? AND query = ?", e.AgentID, e.Query); err != nil {
			return err
		}
		if _, err := exec(tx, "INSERT INTO query_feedback (id, query, query_type, negated, note, agent_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
			e.ID, e.Query, e.QueryType, e.Not, e.Note, e.AgentID, millis(e.CreatedAt)); err != nil {
			return err
		}
		if _, err := exec(tx, `DELETE FROM query_feedback WHERE agent_id = ? AND seq <= (SELECT seq FROM query_feedback WHERE agent_id = ? ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
			e.AgentID, e.AgentID, mine); err != nil {
			return err
		}
		if _, err := changed(tx, changedFeedback, "", 1); err != nil {
			return err
		}
		_, err := exec(tx, `DELETE FROM query_feedback WHERE (SELECT count(*) FROM query_feedback) > ? AND seq = (
			SELECT min(seq) FROM query_feedback GROUP BY agent_id ORDER BY count(*) DESC, min(seq) LIMIT 1)`, all)
		return err
	}, nil)
}

// QueryFeedback implements feedback.QueryFeedbackStore.
func (s *Store) QueryFeedback(ctx context.Context) ([]feedback.QueryFeedback, error) {
	return list(s.read.WithContext(ctx), func(e *feedback.QueryFeedback) []any {
		return []any{&e.ID, &e.Query, &e.QueryType, &e.Not, &e.Note, &e.AgentID, at(&e.CreatedAt)}
	}, "SELECT id, query, query_type, negated, note, agent_id, created_at FROM query_feedback ORDER BY seq")
}

// DeleteQueryFeedback implements feedback.QueryFeedbackStore.
func (s *Store) DeleteQueryFeedback(ctx context.Context, id string) (there bool, err error) {
	gone, err := s.deleteRows(ctx, changedFeedback, "", "DELETE FROM query_feedback WHERE id = ?", id)
	return gone > 0, err
}

// ClearQueryFeedback implements feedback.QueryFeedbackStore.
func (s *Store) ClearQueryFeedback(ctx context.Context, agentID string) (gone int64, err error) {
	return s.deleteRows(ctx, changedFeedback, "", "DELETE FROM query_feedback WHERE ? = '' OR agent_id = ?", agentID, agentID)
}
