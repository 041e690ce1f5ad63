package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

var _ experience.Store = (*Store)(nil)

// isExperience is in each condition on experiences: SQLite takes an index of
// experiences alone only for what says that it asks for no others.
const isExperience = "operation_type <> ''"

var experiences = table.Of[experience.Experience]("episodes", "Number num", "EpisodeID id", "Timestamp created_at",
	"DurationMS duration_ms", "At").Numbered("num")

// InsertExperience implements experience.Tx.
func (tx *transaction) InsertExperience(x *experience.Experience, e *episode.Episode, fingerprint int64) error {
	x.EpisodeID, x.AgentID, x.Project, x.Timestamp = e.ID, e.AgentID, e.Project, table.Millis(e.CreatedAt)
	err := experiences.Insert(tx.db, x, "session_id", e.SessionID, "event_type", e.EventType, "title", e.Title, "content", e.Content,
		"importance", e.Importance, "query_print", fingerprint)
	e.Number = x.Number
	return err
}

// Operation implements experience.Tx. Moving the window reads the
// episodes that leave or enter it, and no others: each does so once, unless the clock goes back.
func (tx *transaction) Operation(operationType string, from time.Time) (experience.Operation, error) {
	o, known, err := operations.One(tx.db, "WHERE operation_type = ?", operationType)
	begins := table.Millis(o.Window.From)
	o.Type, o.Window.From = operationType, from
	if err != nil || !known || begins == table.Millis(from) {
		return o, err
	}
	low, high, sign := begins, table.Millis(from), int64(-1)
	if high < low {
		low, high, sign = high, low, 1
	}
	var moved experience.Window
	_, err = table.One(tx.db, []any{&moved.Episodes, &moved.Successes, &moved.At}, `SELECT count(*), count(*) FILTER (WHERE outcome = 'success'), CAST(coalesce(sum(created_at - ?), 0) AS BIGINT)
		FROM episodes WHERE operation_type = ? AND `+isExperience+` AND created_at >= ? AND created_at < ?`,
		experience.WindowEpoch, operationType, low, high)
	o.Window.Episodes += sign * moved.Episodes
	o.Window.Successes += sign * moved.Successes
	o.Window.At += sign * moved.At
	return o, err
}

var operations = table.Listed("operations", []string{
	"operation_type", "episodes", "utility", "window_from", "window_episodes", "window_successes", "window_at",
}, func(o *experience.Operation) []any {
	return []any{&o.Type, &o.Episodes, &o.Utility, table.At(&o.Window.From), &o.Window.Episodes, &o.Window.Successes, &o.Window.At}
})

// SetOperation implements experience.Tx.
func (tx *transaction) SetOperation(o experience.Operation) error {
	if o.Episodes <= 0 {
		_, err := table.Exec(tx.db, "DELETE FROM operations WHERE operation_type = ?", o.Type)
		return err
	}
	return operations.Put(tx.db, &o, "operation_type")
}

// SameProblem implements experience.Tx.
func (tx *transaction) SameProblem(operationType string, fingerprint int64, last int) (same, seen int, err error) {
	_, err = table.One(tx.db, []any{&same, &seen}, `SELECT count(*) FILTER (WHERE query_print = ?), count(*) FROM (SELECT query_print FROM episodes
		WHERE operation_type = ? AND `+isExperience+` ORDER BY num DESC LIMIT ?) AS latest`, fingerprint, operationType, last)
	return same, seen, err
}

// WindowEpisodes implements experience.Tx.
func (tx *transaction) WindowEpisodes(operationType string, from time.Time, limit int) ([]lesson.Evidence, error) {
	found, err := table.List(tx.db, func(e *lesson.Evidence) []any {
		e.Kind = lesson.EvidenceEpisode
		return []any{&e.Ref, &e.Agent, &e.Score, table.At(&e.At)}
	}, `SELECT num, agent_id, utility, created_at FROM episodes
		WHERE operation_type = ? AND `+isExperience+` AND created_at >= ? ORDER BY num DESC LIMIT ?`, operationType, table.Millis(from), limit)
	slices.Reverse(found)
	return found, err
}

// WindowNumbers implements experience.Tx. It reads no episode that is older.
func (tx *transaction) WindowNumbers(operationType string, from time.Time, limit int) ([]int64, error) {
	found, err := table.List(tx.db, table.Value[int64], "SELECT num FROM episodes WHERE operation_type = ? AND "+isExperience+" AND created_at >= ? ORDER BY created_at DESC LIMIT ?",
		operationType, table.Millis(from), limit)
	slices.SortFunc(found, func(a, b int64) int { return cmp.Compare(b, a) }) // of one millisecond too
	return found, err
}

// readExperiences reads experiences until they hold most bytes.
func readExperiences(db *gorm.DB, most int, where string, args ...any) ([]experience.Experience, error) {
	found, err := upTo(most, sized(experiences, func(x *experience.Experience) int {
		return len(x.Problem) + len(x.Solution) + len(x.Metadata) + len(x.Notes)
	})).of(table.Query(db, experiences.Select()+where, args...))
	for i := range found {
		found[i].At = table.FromMillis(found[i].Timestamp)
	}
	return found, err
}

// ExperiencesOf implements experience.Tx.
func (tx *transaction) ExperiencesOf(numbers []int64) ([]experience.Experience, error) {
	return table.InParts(numbers, func(part []int64) ([]experience.Experience, error) {
		return readExperiences(tx.db, unbounded, "WHERE num IN ("+table.Marks(len(part))+") AND "+isExperience+" ORDER BY num", table.Anys(part)...)
	})
}

// Experiences implements experience.Reader.
func (s *Store) Experiences(ctx context.Context, filter experience.Filter) ([]experience.Experience, error) {
	var c table.Conditions
	c.Add(isExperience)
	c.Equal("operation_type", filter.OperationType)
	c.Equal("outcome", string(filter.Outcome))
	return readExperiences(s.Read.WithContext(ctx), learning.MaxAnswer, c.Text+" ORDER BY num DESC LIMIT ? OFFSET ?", c.With(filter.Limit, filter.Offset)...)
}

// ExperienceOf implements experience.Reader.
func (s *Store) ExperienceOf(ctx context.Context, number int64) (experience.Experience, bool, error) {
	return table.First(readExperiences(s.Read.WithContext(ctx), unbounded, "WHERE num = ? AND "+isExperience, number))
}

// CountExperiences implements experience.Reader.
func (s *Store) CountExperiences(ctx context.Context, at time.Time) (experience.Stats, error) {
	var stats experience.Stats
	db := s.Read.WithContext(ctx)
	var utility int64
	if _, err := table.One(db, []any{&stats.Episodes, &utility}, "SELECT CAST(coalesce(sum(episodes), 0) AS BIGINT), CAST(coalesce(sum(utility), 0) AS BIGINT) FROM operations"); err != nil {
		return stats, err
	}
	if stats.Episodes > 0 {
		stats.AverageUtility = float64(utility) / experience.UtilityUnit / float64(stats.Episodes)
	}
	if _, err := table.One(db, []any{&stats.Patterns}, "SELECT count(*) FROM patterns WHERE status <> ? AND num > 0", string(lesson.PatternDeprecated)); err != nil {
		return stats, err
	}
	_, err := table.One(db, []any{&stats.Lessons, &stats.HighConfidenceLessons},
		"SELECT count(*), count(*) FILTER (WHERE "+sureness+" >= ?) FROM lessons {indexed by lessons_listed} WHERE "+applicable,
		table.Millis(at), msPerDay, lesson.HighConfidence)
	return stats, err
}
