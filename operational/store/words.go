package store

import (
	"context"
	"database/sql"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/operational"
)

// wordsAtOnce is how many rows one page of a scan for the search index has, or
// are read by their ids.
const wordsAtOnce = 500

// TasksOf returns the tasks with the ids, in any order; those that are not there are left out.
func (s *Store) TasksOf(ctx context.Context, ids []string) ([]operational.Task, error) {
	return tasksOf(s.Read.WithContext(ctx), ids)
}

// TasksAfter returns the tasks of a project (of all, if it is empty) that come after a number, in their order, as many as a page has.
func (s *Store) TasksAfter(ctx context.Context, project string, number int64) ([]operational.Task, error) {
	return tasks.Find(given(s.Read.WithContext(ctx).Where("number > ?", number), "project = ?", project).Order("number").Limit(wordsAtOnce))
}

// FindingsOf returns the findings with the ids, in any order; those that are not there are left out.
func (s *Store) FindingsOf(ctx context.Context, ids []string) ([]operational.Finding, error) {
	return findings.Find(withEnvironment(s.Read.WithContext(ctx)).Where("findings.id IN ?", ids))
}

// FindingsAfter returns the findings that come after an id, in their order, as
// many as a page has; with an environment's id those of that one alone.
func (s *Store) FindingsAfter(ctx context.Context, id, environment string) ([]operational.Finding, error) {
	q := given(withEnvironment(s.Read.WithContext(ctx)).Where("findings.id > ?", id), "findings.environment_id = ?", environment)
	return findings.Find(q.Order("findings.id").Limit(wordsAtOnce))
}

// MessagesOf returns the messages with the ids, in any order; those that are not there are left out.
func (s *Store) MessagesOf(ctx context.Context, ids []string) ([]operational.Message, error) {
	return messages.Find(s.Read.WithContext(ctx).Where("id IN ?", ids))
}

// MessagesAfter returns the messages after a seq, in their order, as many as a page has.
func (s *Store) MessagesAfter(ctx context.Context, seq int64) ([]operational.Message, error) {
	return messages.Find(s.Read.WithContext(ctx).Where("seq > ?", seq).Order("seq").Limit(wordsAtOnce))
}

// MessageIDs visits the id of every message.
func (s *Store) MessageIDs(ctx context.Context, visit func(id string)) error {
	return table.Each(table.Query(s.Read.WithContext(ctx), "SELECT id FROM messages")).Visit(func(rows *sql.Rows) (bool, error) {
		var id string
		err := rows.Scan(&id)
		if err == nil {
			visit(id)
		}
		return true, err
	})
}

// SweptBell rings after each commit that deleted messages.
func (s *Store) SweptBell() *committer.Bell { return &s.swept }
