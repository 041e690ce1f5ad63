package store

import (
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"

	"gorm.io/gorm"

	"skillrouter/learning"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/shelf"
)

var _ knowledge.Store = (*Store)(nil)

var knowledgeColumns = []string{
	"id", "category", "title", "content", "tags", "source", "agent_id", "project", "trust",
	"content_hash", "use_count", "last_used", "created_at", "updated_at", "superseded_by",
}

// lookups is how many ids or hashes one query asks for.
const lookups = 256

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
	for part := range slices.Chunk(keys.Fingerprints, lookups) {
		hashes := make([][]byte, len(part))
		for i := range part {
			hashes[i] = part[i][:]
		}
		if err := each(tx.Raw("SELECT content_hash, id FROM knowledge WHERE content_hash IN ? ORDER BY num DESC", hashes).Rows()).visit(func(rows *sql.Rows) (bool, error) {
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
	err := insert(tx, "knowledge", knowledgeColumns, len(change.Insert), func(i int, row []any) []any {
		e := &change.Insert[i]
		return append(row, e.ID, e.Category, e.Title, e.Content, listText(e.Tags), e.Source, e.Author, e.Project, string(e.Trust),
			e.Fingerprint[:], e.UseCount, millisPtr(e.LastUsed), millis(e.CreatedAt), millis(e.UpdatedAt), e.SupersededBy)
	})
	if err != nil {
		return err
	}
	if n := len(change.Insert); n > 0 {
		// The rows of one transaction are numbered without a gap.
		last, err := scalar[int64](tx, "SELECT max(num) FROM knowledge")
		if err != nil {
			return err
		}
		for i := range change.Insert {
			change.Insert[i].Number = last - int64(n-1-i)
		}
	}
	for i := range change.Update {
		e := &change.Update[i]
		err := tx.Exec(`UPDATE knowledge SET category = ?, title = ?, content = ?, tags = ?, source = ?, project = ?, trust = ?,
			content_hash = ?, updated_at = ?, superseded_by = ? WHERE id = ?`,
			e.Category, e.Title, e.Content, listText(e.Tags), e.Source, e.Project, string(e.Trust),
			e.Fingerprint[:], millis(e.UpdatedAt), e.SupersededBy, e.ID).Error
		if err != nil {
			return err
		}
	}
	for part := range slices.Chunk(change.Delete, lookups) {
		if err := tx.Exec("DELETE FROM knowledge WHERE id IN ?", part).Error; err != nil {
			return err
		}
		if err := tx.Exec("DELETE FROM embeddings WHERE kind = ? AND id IN ?", string(shelf.EmbeddedKnowledge), part).Error; err != nil {
			return err
		}
	}
	return appendEvents(tx, change.Events)
}

// Knowledge implements knowledge.Store.
func (s *Store) Knowledge(ctx context.Context, ids []string) ([]knowledge.Knowledge, error) {
	return knowledgeByID(s.read.WithContext(ctx), ids)
}

func knowledgeByID(db *gorm.DB, ids []string) ([]knowledge.Knowledge, error) {
	return inParts(ids, func(part []string) ([]knowledge.Knowledge, error) {
		return selectKnowledge(db, math.MaxInt, "WHERE id IN ?", part)
	})
}

// KnowledgeVersions implements knowledge.Store.
func (s *Store) KnowledgeVersions(ctx context.Context, id string) ([]knowledge.Knowledge, error) {
	return knowledgeFrom(s.read.WithContext(ctx), learning.MaxAnswer, `(SELECT v.num, k.id, v.category, v.title, v.content, v.tags, v.source, k.agent_id, v.project, v.trust,
		k.use_count, k.last_used, k.created_at, v.since AS updated_at, v.superseded_by
		FROM knowledge_versions v JOIN knowledge k ON k.id = v.id WHERE v.id = ?)`, "ORDER BY num DESC", id)
}

// ListKnowledge implements knowledge.Store.
func (s *Store) ListKnowledge(ctx context.Context, filter knowledge.Filter, before int64) ([]knowledge.Knowledge, error) {
	var c conditions
	c.equal("category", filter.Category)
	c.equal("project", filter.Project)
	c.equal("agent_id", filter.AgentID)
	if filter.Within != nil {
		c.add("project IN ?", filter.Within)
	}
	if filter.General {
		c.add("project = ''")
	}
	if before > 0 {
		c.add("num < ?", before)
	}
	return selectKnowledge(s.read.WithContext(ctx), learning.MaxAnswer, c.text+" ORDER BY num DESC LIMIT ?", append(c.args, filter.Limit)...)
}

// selectKnowledge reads entries until they hold most bytes, and one more, so
// that the domain sees whether there are more.
func selectKnowledge(db *gorm.DB, most int, where string, args ...any) ([]knowledge.Knowledge, error) {
	return knowledgeFrom(db, most, "knowledge", where, args...)
}

// knowledgeFrom is selectKnowledge of another table than that of the entries. One that stands in
// another's place does so while it is there.
func knowledgeFrom(db *gorm.DB, most int, table, where string, args ...any) ([]knowledge.Knowledge, error) {
	return upTo(most, oneMore(func(rows *sql.Rows) (e knowledge.Knowledge, size int, err error) {
		err = rows.Scan(&e.Number, &e.ID, &e.Category, &e.Title, &e.Content, fromJSON(&e.Tags), &e.Source, &e.Author, &e.Project, &e.Trust,
			&e.UseCount, atOrNil(&e.LastUsed), at(&e.CreatedAt), at(&e.UpdatedAt), &e.SupersededBy)
		return e, len(e.Content), err
	})).of(db.Raw(`SELECT num, id, category, title, content, tags, source, agent_id, project, trust,
		use_count, last_used, created_at, updated_at,
		CASE WHEN superseded_by = '' THEN '' ELSE coalesce((SELECT s.id FROM knowledge s WHERE s.id = entry.superseded_by), '') END FROM `+table+" AS entry "+where, args...).Rows())
}

// ScanKnowledge implements knowledge.Store.
func (s *Store) ScanKnowledge(ctx context.Context, visit func(chunk []knowledge.Knowledge) error) error {
	return eachPage(s.read.WithContext(ctx), selectSearched, "num", func(e knowledge.Knowledge) int64 { return e.Number }, scanSearched, visit)
}

// selectSearched and scanSearched read what is searched of an entry.
const selectSearched = "SELECT num, id, category, title, content, tags, project FROM knowledge"

func scanSearched(rows *sql.Rows) (e knowledge.Knowledge, size int, err error) {
	err = rows.Scan(&e.Number, &e.ID, &e.Category, &e.Title, &e.Content, fromJSON(&e.Tags), &e.Project)
	return e, len(e.Content), err
}

// FindKnowledge implements knowledge.Store.
func (s *Store) FindKnowledge(ctx context.Context, search shelf.RowSearch, visit func(found []knowledge.Knowledge) (more bool)) error {
	return containing(ctx, s.read.WithContext(ctx), contained[knowledge.Knowledge]{
		table: "knowledge", choose: selectSearched, texts: []string{"title", "content", "tags"}, project: true, scan: scanSearched,
	}, search, visit)
}

// AddUse implements knowledge.Store.
func (s *Store) AddUse(ctx context.Context, uses map[string]shelf.Use) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		return execEach(tx, "UPDATE knowledge SET use_count = use_count + ?, last_used = {greatest}(coalesce(last_used, 0), ?) WHERE id = ?", func(yield func([]any) bool) {
			for id, use := range uses {
				if !yield([]any{use.Count, millis(use.Last), id}) {
					return
				}
			}
		})
	}, nil)
}
