package store

import (
	"context"
	"math"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
)

var _ episode.Store = (*Store)(nil)

// AddEpisode implements episode.Store.
func (s *Store) AddEpisode(ctx context.Context, e episode.Episode, event eventlog.Event, after func(episode.Episode)) (episode.Episode, error) {
	err := s.queue(ctx, func(tx *gorm.DB) error {
		if err := (&transaction{tx}).InsertEpisode(&e); err != nil {
			return err
		}
		return table.AppendEvents(tx, event)
	}, func() { after(e) })()
	return e, err
}

// Episodes implements episode.Store.
func (s *Store) Episodes(ctx context.Context, ids []string) ([]episode.Episode, error) {
	return table.InParts(ids, func(part []string) ([]episode.Episode, error) {
		return selectEpisodes(s.Read.WithContext(ctx), math.MaxInt, "WHERE id IN ?", part)
	})
}

// EpisodeOf implements episode.Store.
func (s *Store) EpisodeOf(ctx context.Context, ref string) (episode.Episode, bool, error) {
	return episodeOf(s.Read.WithContext(ctx), ref)
}

func episodeOf(db *gorm.DB, ref string) (episode.Episode, bool, error) {
	where, arg := byRef(ref)
	return table.First(selectEpisodes(db, math.MaxInt, where, arg))
}

// ChangeEpisodes implements episode.Store.
func (s *Store) ChangeEpisodes(ctx context.Context, refs []string, decide func(old []episode.Episode) ([]episode.Change, error), after func([]episode.Change)) ([]episode.Change, error) {
	var changes []episode.Change
	err := s.queue(ctx, func(db *gorm.DB) error {
		old := make([]episode.Episode, len(refs))
		for i, ref := range refs {
			found, there, err := episodeOf(db, ref)
			if err != nil {
				return err
			}
			if there {
				old[i] = found
			}
		}
		var err error
		if changes, err = decide(old); err != nil {
			return err
		}
		tx := &transaction{db}
		var events []eventlog.Event
		for _, c := range changes {
			switch e := c.Now; {
			case c.Event == nil:
				continue
			case c.Gone:
				err = tx.dropEpisodes([]int64{e.Number})
			default:
				_, err = table.Exec(db, "UPDATE episodes SET event_type = ?, title = ?, content = ?, learned = ?, project = ?, importance = ? WHERE num = ?",
					e.EventType, e.Title, e.Content, e.Learned, e.Project, e.Importance, e.Number)
			}
			if err != nil {
				return err
			}
			events = append(events, *c.Event)
		}
		if len(events) == 0 {
			return nil
		}
		return tx.AddEvents(events...)
	}, func() { after(changes) })()
	return changes, err
}

// RecentEpisodes implements episode.Store. A span of time is also one of
// numbers, which its index alone gives: so the rows of another time are not read.
func (s *Store) RecentEpisodes(ctx context.Context, filter episode.Filter) ([]episode.Episode, error) {
	var c table.Conditions
	c.Equal("session_id", filter.SessionID)
	c.Equal("agent_id", filter.AgentID)
	c.Equal("persona", filter.Persona)
	c.Equal("project", filter.Project)
	c.Equal("event", filter.Event)
	c.Equal("event_type", filter.EventType)
	if filter.Within != nil {
		c.Add("project IN ?", filter.Within)
	}
	c.Below("num", filter.Before)
	if !filter.Since.IsZero() {
		c.Add("created_at >= ? AND num >= (SELECT min(num) FROM episodes {indexed by episodes_time} WHERE created_at >= ?)", table.Millis(filter.Since), table.Millis(filter.Since))
	}
	if !filter.Until.IsZero() {
		c.Add("created_at < ? AND num <= (SELECT max(num) FROM episodes {indexed by episodes_time} WHERE created_at < ?)", table.Millis(filter.Until), table.Millis(filter.Until))
	}
	return selectEpisodes(s.Read.WithContext(ctx), learning.MaxAnswer, c.Text+" ORDER BY num DESC LIMIT ?", c.With(filter.Limit)...)
}

// LastEpisode implements episode.Store.
func (s *Store) LastEpisode(ctx context.Context, agentID string) (episode.Episode, bool, error) {
	return table.First(selectEpisodes(s.Read.WithContext(ctx), math.MaxInt, "WHERE agent_id = ? ORDER BY num DESC LIMIT 1", agentID))
}

// selectEpisodes reads episodes until they hold most bytes.
func selectEpisodes(db *gorm.DB, most int, where string, args ...any) ([]episode.Episode, error) {
	return upTo(most, sized(episodes, episodeSize)).of(db.Raw(episodes.Select()+where, args...).Rows())
}

// ScanEpisodes implements episode.Store.
func (s *Store) ScanEpisodes(ctx context.Context, visit func(chunk []episode.Episode) error) error {
	return eachPage(s.Read.WithContext(ctx), searchedEpisodes.Select(), "num", func(e episode.Episode) int64 { return e.Number }, scanSearchedEpisode, visit)
}

// searchedEpisodes are what is searched of episodes, and episodes are all of it. They are read by the ten thousand.
var (
	searchedEpisodes = table.Listed("episodes", searchedColumns, searchedEpisode)
	episodes         = table.Listed("episodes", slices.Concat(searchedColumns, []string{"importance"}), func(e *episode.Episode) []any {
		return append(searchedEpisode(e), &e.Importance)
	}).Numbered("num")
	searchedColumns = []string{
		"num", "id", "session_id", "agent_id", "persona", "event_type", "event", "title", "content", "context", "learned", "project", "created_at", "folder", "branch",
	}
	scanSearchedEpisode = sized(searchedEpisodes, episodeSize)
)

func searchedEpisode(e *episode.Episode) []any {
	return []any{&e.Number, &e.ID, &e.SessionID, &e.AgentID, &e.Persona, &e.EventType, &e.Event, &e.Title, &e.Content, table.Raw(&e.Context), &e.Learned, &e.Project, table.At(&e.CreatedAt), &e.Folder, &e.Branch}
}

func episodeSize(e *episode.Episode) int { return len(e.Content) + len(e.Context) + len(e.Learned) }

// endOfTime is later than any row.
var endOfTime = time.UnixMilli(1 << 62)

// LastEpisodeNumber implements episode.Store.
func (s *Store) LastEpisodeNumber(ctx context.Context) (int64, error) {
	return table.Scalar[int64](s.Read.WithContext(ctx), "SELECT coalesce(max(num), 0) FROM episodes")
}

// ClearEpisodes implements episode.Store.
func (s *Store) ClearEpisodes(ctx context.Context, clearing episode.Clearing,
	told func(ids []string) eventlog.Event, after func(ids []string),
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
		return tx.AddEvents(told(ids))
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
