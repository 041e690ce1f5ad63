package store

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// ExpiredExperiences implements experience.Reader.
func (s *Store) ExpiredExperiences(ctx context.Context, before, keep time.Time, limit int) ([]int64, error) {
	return table.List(s.Read.WithContext(ctx), table.Value[int64], "SELECT num FROM episodes WHERE "+isExperience+" AND created_at < ? AND (utility < ? OR created_at < ?) ORDER BY created_at LIMIT ?",
		table.Millis(before), experience.KeepUtility, table.Millis(keep), limit)
}

// DropExperiences implements experience.Tx.
func (tx *transaction) DropExperiences(numbers []int64, before time.Time) ([]string, error) {
	var ids []string
	for part := range slices.Chunk(numbers, table.Lookups) {
		found, err := readExperiences(tx.db, unbounded, "WHERE num IN ("+table.Marks(len(part))+") AND "+isExperience+" AND created_at < ?", append(table.Anys(part), table.Millis(before))...)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue
		}
		dropped, refs := []any{}, []any{}
		byType := map[string][]experience.Experience{}
		for _, x := range found {
			ids = append(ids, x.EpisodeID)
			dropped, refs = append(dropped, x.Number), append(refs, strconv.FormatInt(x.Number, 10))
			byType[x.OperationType] = append(byType[x.OperationType], x)
		}
		for operationType, gone := range byType {
			if err := tx.subtract(operationType, gone); err != nil {
				return nil, err
			}
		}
		_, err = table.Exec(tx.db, `DELETE FROM pattern_evidence WHERE kind = 'episode' AND ref IN (`+table.Marks(len(refs))+`)
			AND pattern_id NOT IN (SELECT pattern_id FROM lessons WHERE pattern_id <> '' AND status <> 'retired')`, refs...)
		if err != nil {
			return nil, err
		}
		if err := deleteEpisodes(tx.db, dropped); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// subtract takes episodes that go out of what is known of their type.
func (tx *transaction) subtract(operationType string, gone []experience.Experience) error {
	o, known, err := operations.One(tx.db, "WHERE operation_type = ?", operationType)
	if err != nil || !known {
		return err
	}
	for _, x := range gone {
		o = o.Without(x)
	}
	return tx.SetOperation(o)
}

// patternGoes is which patterns may be forgotten that were last seen before a time: none
// that somebody confirmed or that a lesson points to.
const patternGoes = "last_seen < ? AND confirmed_by = '' AND id NOT IN (SELECT pattern_id FROM lessons WHERE pattern_id <> '')"

// ExpiredPatterns implements experience.Reader.
func (s *Store) ExpiredPatterns(ctx context.Context, before time.Time, limit int) ([]string, error) {
	return table.List(s.Read.WithContext(ctx), table.Value[string], "SELECT id FROM patterns WHERE "+patternGoes+" ORDER BY last_seen LIMIT ?", table.Millis(before), limit)
}

// DropPatterns implements experience.Tx.
func (tx *transaction) DropPatterns(ids []string, before time.Time) ([]lesson.Pattern, error) {
	var dropped []lesson.Pattern
	for part := range slices.Chunk(ids, table.Lookups) {
		found, err := patterns(tx.db, "WHERE "+patternGoes+" AND id IN ("+table.Marks(len(part))+")", append([]any{table.Millis(before)}, table.Anys(part)...)...)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue
		}
		gone := []any{}
		for _, p := range found {
			gone = append(gone, p.ID)
		}
		for _, rows := range []string{"pattern_agents WHERE pattern_id", "pattern_evidence WHERE pattern_id", "patterns WHERE id"} {
			if _, err := table.Exec(tx.db, "DELETE FROM "+rows+" IN ("+table.Marks(len(gone))+")", gone...); err != nil {
				return nil, err
			}
		}
		dropped = append(dropped, found...)
	}
	return dropped, nil
}
