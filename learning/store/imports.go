package store

import (
	"context"
	"slices"
	"time"

	"gorm.io/gorm"

	"skillrouter/learning"
)

const selectImport = `SELECT num, id, source, agent_id, stored, at, undone_at, (SELECT count(*) FROM imported WHERE import_id = imports.id) FROM imports `

func imports(db *gorm.DB, where string, args ...any) ([]learning.Import, error) {
	return list(db, func(i *learning.Import) []any {
		return []any{&i.Number, &i.ID, &i.Source, &i.AgentID, &i.Stored, at(&i.At), atOrNil(&i.UndoneAt), &i.Left}
	}, selectImport+where, args...)
}

// AddImported notes what an import added, and the import with it if it is new. Of more
// than so many imports the oldest are forgotten: they cannot be taken back any more.
func (s *Store) AddImported(ctx context.Context, i learning.Import, added []learning.Addition, most int) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		if _, err := exec(tx, "INSERT INTO imports (id, source, agent_id, stored, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET stored = imports.stored + excluded.stored",
			i.ID, i.Source, i.AgentID, len(added), millis(i.At)); err != nil {
			return err
		}
		if err := insert(tx, "imported", []string{"import_id", "kind", "ref", "mark"}, len(added), func(n int, values []any) []any {
			return append(values, i.ID, added[n].Kind, added[n].Ref, added[n].Mark)
		}); err != nil {
			return err
		}
		const older = "SELECT id FROM imports WHERE num <= (SELECT num FROM imports ORDER BY num DESC LIMIT 1 OFFSET ?)"
		if _, err := exec(tx, "DELETE FROM imported WHERE import_id IN ("+older+")", most); err != nil {
			return err
		}
		_, err := exec(tx, "DELETE FROM imports WHERE id IN ("+older+")", most)
		return err
	}, nil)
}

// Imports returns the imports before a number, the newest first.
func (s *Store) Imports(ctx context.Context, before int64, limit int) ([]learning.Import, error) {
	var c conditions
	if before > 0 {
		c.add("num < ?", before)
	}
	return imports(s.read.WithContext(ctx), c.text+" ORDER BY num DESC LIMIT ?", append(c.args, limit)...)
}

// Import returns one import.
func (s *Store) Import(ctx context.Context, id string) (learning.Import, bool, error) {
	return first(imports(s.read.WithContext(ctx), "WHERE id = ?", id))
}

// Imported returns what an import added before a number and was not taken back, the last first.
func (s *Store) Imported(ctx context.Context, id string, before int64, limit int) ([]learning.Addition, error) {
	var c conditions
	c.add("import_id = ?", id)
	if before > 0 {
		c.add("num < ?", before)
	}
	return list(s.read.WithContext(ctx), func(a *learning.Addition) []any {
		return []any{&a.Number, &a.Kind, &a.Ref, &a.Mark}
	}, "SELECT num, kind, ref, mark FROM imported "+c.text+" ORDER BY num DESC LIMIT ?", append(c.args, limit)...)
}

// TookBack notes that additions of an import, by their numbers, are no more.
func (s *Store) TookBack(ctx context.Context, id string, numbers []int64, when time.Time) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		for part := range slices.Chunk(numbers, lookups) {
			if _, err := exec(tx, "DELETE FROM imported WHERE num IN ("+marks(len(part))+")", anys(part)...); err != nil {
				return err
			}
		}
		_, err := exec(tx, "UPDATE imports SET undone_at = ? WHERE id = ?", millis(when), id)
		return err
	}, nil)
}
