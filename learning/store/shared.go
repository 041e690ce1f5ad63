package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/share"
)

var _ share.Store = (*Store)(nil)

var shared = table.Of[share.Known]("shared", "Commit commit_id", "By decided_by", `Gone (NOT EXISTS (SELECT 1 FROM knowledge WHERE knowledge.id = shared.id)
	AND NOT EXISTS (SELECT 1 FROM episodes WHERE episodes.id = shared.id) AND NOT EXISTS (SELECT 1 FROM lessons WHERE lessons.id = shared.id AND lessons.status <> 'retired'))`)

// KnownShared implements share.Store.
func (s *Store) KnownShared(ctx context.Context, project string) ([]share.Known, error) {
	return shared.List(s.Read.WithContext(ctx), "WHERE project = ? ORDER BY id", project)
}

// PutShared implements share.Store.
func (s *Store) PutShared(ctx context.Context, rows []share.Known) error {
	return s.Commit.Write(ctx, noted(ctx, func(tx *gorm.DB) error { return shared.PutAll(tx, rows, "project", "id") }), nil)
}

// Superseded implements share.Store.
func (s *Store) Superseded(ctx context.Context, project, id string) ([]string, error) {
	return table.List(s.Read.WithContext(ctx), table.Value[string], `SELECT shared.id FROM shared WHERE project = ? AND (EXISTS (SELECT 1 FROM knowledge WHERE knowledge.id = shared.id AND superseded_by = ?)
		OR EXISTS (SELECT 1 FROM lessons WHERE lessons.id = shared.id AND superseded_by = ?)) ORDER BY shared.id`, project, id, id)
}
