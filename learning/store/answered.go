package store

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"skillrouter/learning/knowledge"
)

var _ knowledge.AnswerStore = (*Store)(nil)

// AddAnswer implements knowledge.AnswerStore.
func (s *Store) AddAnswer(ctx context.Context, a knowledge.AnswerVoice, most knowledge.AnswerBounds) (entries []string, err error) {
	err = s.commit.Write(ctx, func(tx *gorm.DB) error {
		entries = []string{a.EntryID}
		there, err := scalar[int](tx, "SELECT count(*) FROM knowledge WHERE id = ?", a.EntryID)
		if err != nil {
			return err
		}
		if there == 0 {
			return knowledge.NoEntry()
		}
		if _, err := exec(tx, "DELETE FROM knowledge_answers WHERE entry_id = ? AND question_key = ? AND agent_id = ?", a.EntryID, a.Key, a.AgentID); err != nil {
			return err
		}
		if _, err := exec(tx, "INSERT INTO knowledge_answers (entry_id, question_key, question, agent_id, helpful, at) VALUES (?, ?, ?, ?, ?, ?)",
			a.EntryID, a.Key, a.Question, a.AgentID, a.Helpful, millis(a.At)); err != nil {
			return err
		}
		for _, bound := range []struct {
			where string
			args  []any
			most  int
		}{
			{"entry_id = ? AND agent_id = ?", []any{a.EntryID, a.AgentID}, most.ByAgent},
			{"entry_id = ?", []any{a.EntryID}, most.OfEntry},
			{"agent_id = ?", []any{a.AgentID}, most.OfAgent},
			{"seq > ?", []any{0}, most.All},
		} {
			gone, err := dropAnswers(tx, bound.where, bound.args, bound.most)
			if err != nil {
				return err
			}
			entries = append(entries, gone...)
		}
		slices.Sort(entries)
		entries = slices.Compact(entries)
		for _, id := range entries {
			if _, err := changed(tx, changedAnswers, id, 1); err != nil {
				return err
			}
		}
		return nil
	}, nil)
	return entries, err
}

// dropAnswers deletes the oldest of the rows that fit beyond the last most, and returns their entries.
func dropAnswers(tx *gorm.DB, where string, args []any, most int) ([]string, error) {
	return list(tx, value[string], "DELETE FROM knowledge_answers WHERE "+where+" AND seq <= (SELECT seq FROM knowledge_answers WHERE "+where+
		" ORDER BY seq DESC LIMIT 1 OFFSET ?) RETURNING entry_id", append(slices.Concat(args, args), most)...)
}

// Answers implements knowledge.AnswerStore.
func (s *Store) Answers(ctx context.Context, ids []string) ([]knowledge.AnswerVoice, error) {
	const columns = "SELECT entry_id, question_key, question, agent_id, helpful, at FROM knowledge_answers "
	db := s.read.WithContext(ctx)
	if ids == nil {
		return list(db, answerColumns, columns+"ORDER BY seq")
	}
	return inParts(ids, func(part []string) ([]knowledge.AnswerVoice, error) {
		return list(db, answerColumns, columns+"WHERE entry_id IN ("+marks(len(part))+") ORDER BY seq", anys(part)...)
	})
}

func answerColumns(a *knowledge.AnswerVoice) []any {
	return []any{&a.EntryID, &a.Key, &a.Question, &a.AgentID, &a.Helpful, at(&a.At)}
}

// DeleteAnswers implements knowledge.AnswerStore.
func (s *Store) DeleteAnswers(ctx context.Context, id, agentID string, everybody bool) (gone int64, err error) {
	return s.deleteRows(ctx, changedAnswers, id, "DELETE FROM knowledge_answers WHERE entry_id = ? AND (? OR agent_id = ?)", id, everybody, agentID)
}
