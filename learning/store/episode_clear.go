package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning/episode"
)

// endOfTime is later than any row.
var endOfTime = time.UnixMilli(1 << 62)

// LastEpisodeNumber implements episode.Store.
func (s *Store) LastEpisodeNumber(ctx context.Context) (int64, error) {
	return table.Scalar[int64](s.Read.WithContext(ctx), "SELECT coalesce(max(num), 0) FROM episodes")
}

// ClearEpisodes implements episode.Store.
func (s *Store) ClearEpisodes(ctx context.Context, clearing episode.Clearing,
	told func(ids []string) (eventlog.Event, error), after func(ids []string),
) (int, error) {
	var ids []string
	err := s.queue(ctx, func(db *gorm.DB) error {
		tx := &transaction{db}
		var numbers []int64
		var err error
		if numbers, ids, err = episodesOf(db, clearing); err != nil || len(ids) == 0 {
			return err
		}
		if err := tx.dropEpisodes(numbers); err != nil {
			return err
		}
		event, err := told(ids)
		if err != nil {
			return err
		}
		return tx.AddEvents(event)
	}, func() { after(ids) })()
	return len(ids), err
}

// dropEpisodes deletes episodes. Experiences among them go as a sweep lets them go, out of
// what is known of their type.
func (tx *transaction) dropEpisodes(numbers []int64) error {
	if _, err := tx.DropExperiences(numbers, endOfTime); err != nil {
		return err
	}
	return deleteEpisodes(tx.db, table.Anys(numbers))
}

// deleteEpisodes deletes the rows of episodes, and their vectors.
func deleteEpisodes(db *gorm.DB, numbers []any) error {
	if _, err := table.Exec(db, "DELETE FROM embeddings WHERE kind = 'episode' AND id IN (SELECT id FROM episodes WHERE num IN ("+table.Marks(len(numbers))+"))", numbers...); err != nil {
		return err
	}
	_, err := table.Exec(db, "DELETE FROM episodes WHERE num IN ("+table.Marks(len(numbers))+")", numbers...)
	return err
}

// episodesOf returns the numbers and ids of the episodes to clear.
func episodesOf(db *gorm.DB, clearing episode.Clearing) (numbers []int64, ids []string, err error) {
	var c table.Conditions
	c.Add("persona = ? AND num <= ?", clearing.Persona, clearing.UpTo)
	c.Equal(episodeCategory, clearing.Category)
	found, err := table.List(db, func(e *episode.Episode) []any { return []any{&e.Number, &e.ID} }, "SELECT num, id FROM episodes "+c.Text+" LIMIT ?", c.With(clearing.Limit)...)
	for _, e := range found {
		numbers, ids = append(numbers, e.Number), append(ids, e.ID)
	}
	return numbers, ids, err
}
