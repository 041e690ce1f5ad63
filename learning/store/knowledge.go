package store

import (
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/shelf"
)

var _ knowledge.Store = (*Store)(nil)

// records are entries of knowledge with their fingerprints. They are written and read by the ten thousand.
var records = table.Listed("knowledge", []string{
	"num", "id", "category", "title", "content", "tags", "source", "agent_id", "project", "trust",
	"use_count", "last_used", "created_at", "updated_at", "folder", "branch", "superseded_by",
}, func(e *knowledge.Record) []any {
	return []any{
		&e.Number, &e.ID, &e.Category, &e.Title, &e.Content, table.JSON(&e.Tags), &e.Source, &e.Author, &e.Project, &e.Trust,
		&e.UseCount, table.AtOrNil(&e.LastUsed), table.At(&e.CreatedAt), table.At(&e.UpdatedAt), &e.Folder, &e.Branch, &e.SupersededBy,
	}
}).Numbered("num").With("content_hash", func(e *knowledge.Record) any { return e.Fingerprint[:] })

// ChangeKnowledge implements knowledge.Store.
func (s *Store) ChangeKnowledge(
	ctx context.Context, keys knowledge.Keys,
	decide func(found knowledge.Found) (knowledge.Change, error), after func(),
) func() error {
	return s.queue(ctx, func(tx *gorm.DB) error {
		found, err := findKnowledge(tx, keys)
		if err != nil {
			return err
		}
		change, err := decide(found)
		if err != nil {
			return err
		}
		return writeKnowledge(tx, change)
	}, after)
}

func findKnowledge(tx *gorm.DB, keys knowledge.Keys) (knowledge.Found, error) {
	found := knowledge.Found{Entries: map[string]knowledge.Knowledge{}, Same: map[learning.Fingerprint]string{}}
	entries, err := knowledgeByID(tx, keys.IDs)
	if err != nil {
		return found, err
	}
	for _, e := range entries {
		found.Entries[e.ID] = e
	}
	for part := range slices.Chunk(keys.Fingerprints, table.Lookups) {
		hashes := make([][]byte, len(part))
		for i := range part {
			hashes[i] = part[i][:]
		}
		if err := table.Each(tx.Raw("SELECT content_hash, id FROM knowledge WHERE content_hash IN ? ORDER BY num DESC", hashes).Rows()).Visit(func(rows *sql.Rows) (bool, error) {
			var hash []byte
			var id string
			if err := rows.Scan(&hash, &id); err != nil {
				return false, err
			}
			found.Same[learning.Fingerprint(hash)] = id // the first stored comes last, and stays
			return true, nil
		}); err != nil {
			return found, err
		}
	}
	if !keys.Twins {
		return found, nil
	}
	twins, err := knowledgeByID(tx, slices.Collect(maps.Values(found.Same)))
	for _, e := range twins {
		found.Entries[e.ID] = e
	}
	return found, err
}

func writeKnowledge(tx *gorm.DB, change knowledge.Change) error {
	if n := len(change.Insert); n > 0 {
		if _, err := records.InsertAll(tx, change.Insert, ""); err != nil {
			return err
		}
		last, err := table.Scalar[int64](tx, "SELECT max(num) FROM knowledge") // the rows of one transaction are numbered without a gap
		if err != nil {
			return err
		}
		for i := range change.Insert {
			change.Insert[i].Number = last - int64(n-1-i)
		}
	}
	for i := range change.Update {
		if err := records.Update(tx, &change.Update[i], "id",
			"category", "title", "content", "tags", "source", "project", "trust", "content_hash", "updated_at", "superseded_by"); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(change.Delete, table.Lookups) {
		if err := tx.Exec("DELETE FROM knowledge WHERE id IN ?", part).Error; err != nil {
			return err
		}
		if err := tx.Exec("DELETE FROM embeddings WHERE kind = ? AND id IN ?", string(shelf.EmbeddedKnowledge), part).Error; err != nil {
			return err
		}
	}
	return table.AppendEvents(tx, change.Events...)
}

// Knowledge implements knowledge.Store.
func (s *Store) Knowledge(ctx context.Context, ids []string) ([]knowledge.Knowledge, error) {
	return knowledgeByID(s.Read.WithContext(ctx), ids)
}

func knowledgeByID(db *gorm.DB, ids []string) ([]knowledge.Knowledge, error) {
	return table.InParts(ids, func(part []string) ([]knowledge.Knowledge, error) {
		return selectKnowledge(db, math.MaxInt, "WHERE id IN ?", part)
	})
}

// KnowledgeVersions implements knowledge.Store.
func (s *Store) KnowledgeVersions(ctx context.Context, id string) ([]knowledge.Knowledge, error) {
	return knowledgeFrom(s.Read.WithContext(ctx), learning.MaxAnswer, `(SELECT v.num, k.id, v.category, v.title, v.content, v.tags, v.source, k.agent_id, v.project, v.trust,
		k.use_count, k.last_used, k.created_at, v.since AS updated_at, k.folder, k.branch, v.superseded_by
		FROM knowledge_versions v JOIN knowledge k ON k.id = v.id WHERE v.id = ?)`, "ORDER BY num DESC", id)
}

// ListKnowledge implements knowledge.Store.
func (s *Store) ListKnowledge(ctx context.Context, filter knowledge.Filter, before int64) ([]knowledge.Knowledge, error) {
	var c table.Conditions
	c.Equal("category", filter.Category)
	if filter.InForce {
		c.Add("project IN ?", []string{filter.Project, ""})
		c.Add("category IN ?", []string{knowledge.CategoryDecision, knowledge.CategoryConstraint})
		c.Add("NOT EXISTS (SELECT 1 FROM knowledge s WHERE s.id = entry.superseded_by)")
	} else {
		c.Equal("project", filter.Project)
	}
	c.Equal("agent_id", filter.AgentID)
	if filter.Within != nil {
		c.Add("project IN ?", filter.Within)
	}
	if filter.General {
		c.Add("project = ''")
	}
	c.Below("num", before)
	return selectKnowledge(s.Read.WithContext(ctx), learning.MaxAnswer, c.Text+" ORDER BY num DESC LIMIT ?", c.With(filter.Limit)...)
}

// selectKnowledge reads entries until they hold most bytes, and one more, so
// that the domain sees whether there are more.
func selectKnowledge(db *gorm.DB, most int, where string, args ...any) ([]knowledge.Knowledge, error) {
	return knowledgeFrom(db, most, "knowledge", where, args...)
}

// knowledgeFrom is selectKnowledge of another table than that of the entries. One that stands in
// another's place does so while it is there.
func knowledgeFrom(db *gorm.DB, most int, rows, where string, args ...any) ([]knowledge.Knowledge, error) {
	return upTo(most, oneMore(func(rows *sql.Rows) (e knowledge.Knowledge, size int, err error) {
		var record knowledge.Record
		err = rows.Scan(records.Fields(&record)...)
		return record.Knowledge, len(record.Content), err
	})).of(db.Raw(`SELECT num, id, category, title, content, tags, source, agent_id, project, trust,
		use_count, last_used, created_at, updated_at, folder, branch,
		CASE WHEN superseded_by = '' THEN '' ELSE coalesce((SELECT s.id FROM knowledge s WHERE s.id = entry.superseded_by), '') END FROM `+rows+" AS entry "+where, args...).Rows())
}

// ScanKnowledge implements knowledge.Store.
func (s *Store) ScanKnowledge(ctx context.Context, visit func(chunk []knowledge.Knowledge) error) error {
	return eachPage(s.Read.WithContext(ctx), selectSearched, "num", func(e knowledge.Knowledge) int64 { return e.Number }, scanSearched, visit)
}

// selectSearched and scanSearched read what is searched of an entry.
const selectSearched = "SELECT num, id, category, title, content, tags, project FROM knowledge"

func scanSearched(rows *sql.Rows) (e knowledge.Knowledge, size int, err error) {
	err = rows.Scan(&e.Number, &e.ID, &e.Category, &e.Title, &e.Content, table.JSON(&e.Tags), &e.Project)
	return e, len(e.Content), err
}

// AddUse implements knowledge.Store.
func (s *Store) AddUse(ctx context.Context, uses map[string]shelf.Use) error {
	return s.addUses(ctx, "UPDATE knowledge SET use_count = use_count + ?, last_used = {greatest}(coalesce(last_used, 0), ?) WHERE id = ?", uses, func(id string) []any { return []any{id} })
}
