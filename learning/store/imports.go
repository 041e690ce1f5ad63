package store

import (
	"context"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning"
)

var (
	imports   = table.Of[learning.Import]("imports", "Number num", "Left (SELECT count(*) FROM imported WHERE imported.import_id = imports.id)").Numbered("num")
	additions = table.Of[learning.Addition]("imported", "Number num")
)

// AddImported notes what an import added, and the import with it if it is new. Of more
// than so many imports the oldest are forgotten: they cannot be taken back any more.
func (s *Store) AddImported(ctx context.Context, i learning.Import, added []learning.Addition, most int) error {
	return s.Commit.Write(ctx, func(tx *gorm.DB) error {
		if _, err := table.Exec(tx, "INSERT INTO imports (id, source, agent_id, stored, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET stored = imports.stored + excluded.stored",
			i.ID, i.Source, i.AgentID, len(added), table.Millis(i.At)); err != nil {
			return err
		}
		if err := table.InsertOr(tx, "", "imported", []string{"import_id", "kind", "ref", "mark"}, len(added), func(n int, values []any) []any {
			return append(values, i.ID, added[n].Kind, added[n].Ref, added[n].Mark)
		}); err != nil {
			return err
		}
		const older = "SELECT id FROM imports WHERE num <= (SELECT num FROM imports ORDER BY num DESC LIMIT 1 OFFSET ?)"
		if _, err := table.Exec(tx, "DELETE FROM imported WHERE import_id IN ("+older+")", most); err != nil {
			return err
		}
		_, err := table.Exec(tx, "DELETE FROM imports WHERE id IN ("+older+")", most)
		return err
	}, nil)
}

// Imports returns the imports before a number, the newest first.
func (s *Store) Imports(ctx context.Context, before int64, limit int) ([]learning.Import, error) {
	var c table.Conditions
	c.Below("num", before)
	return imports.List(s.Read.WithContext(ctx), c.Text+" ORDER BY num DESC LIMIT ?", c.With(limit)...)
}

// Import returns one import.
func (s *Store) Import(ctx context.Context, id string) (learning.Import, bool, error) {
	return imports.One(s.Read.WithContext(ctx), "WHERE id = ?", id)
}

// Imported returns what an import added before a number and was not taken back, the last first.
func (s *Store) Imported(ctx context.Context, id string, before int64, limit int) ([]learning.Addition, error) {
	var c table.Conditions
	c.Add("import_id = ?", id)
	c.Below("num", before)
	return additions.List(s.Read.WithContext(ctx), c.Text+" ORDER BY num DESC LIMIT ?", c.With(limit)...)
}

// TookBack notes that additions of an import, by their numbers, are no more.
func (s *Store) TookBack(ctx context.Context, id string, numbers []int64, when time.Time) error {
	return s.Commit.Write(ctx, func(tx *gorm.DB) error {
		for part := range slices.Chunk(numbers, table.Lookups) {
			if _, err := table.Exec(tx, "DELETE FROM imported WHERE num IN ("+table.Marks(len(part))+")", table.Anys(part)...); err != nil {
				return err
			}
		}
		_, err := table.Exec(tx, "UPDATE imports SET undone_at = ? WHERE id = ?", table.Millis(when), id)
		return err
	}, nil)
}
