package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"gorm.io/gorm"

	"skillrouter/learning"
	"skillrouter/learning/episode"
	"skillrouter/learning/experience"
	"skillrouter/learning/lesson"
)

var _ experience.Store = (*Store)(nil)

// isExperience is in each condition on experiences: SQLite takes an index of
// experiences alone only for what says that it asks for no others.
const isExperience = "operation_type <> ''"

const insertExperience = `INSERT INTO episodes (id, session_id, agent_id, event_type, title, content, project, importance, created_at,
	operation_type, server_name, problem, solution, outcome, metadata, quality_score, duration_ms, notes,
	novelty, effectiveness, generalizability, utility, query_print)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING num`

// InsertExperience implements experience.Tx.
func (tx *transaction) InsertExperience(x *experience.Experience, e *episode.Episode, fingerprint int64) error {
	number, err := insertOne(tx.db, insertExperience,
		e.ID, e.SessionID, e.AgentID, e.EventType, e.Title, e.Content, e.Project, e.Importance, millis(e.CreatedAt),
		x.OperationType, x.ServerName, rawText(x.Problem), rawText(x.Solution), string(x.Outcome), rawText(x.Metadata), x.QualityScore, x.DurationMS, x.Notes,
		x.Novelty, x.Effectiveness, x.Generalizability, x.Utility, fingerprint)
	x.Number, e.Number = number, number
	return err
}

func rawText(text json.RawMessage) any {
	if text == nil {
		return nil
	}
	return string(text)
}

// Operation implements experience.Tx. Moving the window reads the
// episodes that leave or enter it, and no others: each does so once, unless the clock goes back.
func (tx *transaction) Operation(operationType string, from time.Time) (experience.Operation, error) {
	o := experience.Operation{Type: operationType}
	var begins int64
	known, err := one(tx.db, []any{&o.Episodes, &o.Utility, &begins, &o.Window.Episodes, &o.Window.Successes, &o.Window.At},
		"SELECT episodes, utility, window_from, window_episodes, window_successes, window_at FROM operations WHERE operation_type = ?", operationType)
	o.Window.From = from
	if err != nil || !known || begins == millis(from) {
		return o, err
	}
	low, high, sign := begins, millis(from), int64(-1)
	if high < low {
		low, high, sign = high, low, 1
	}
	var moved experience.Window
	_, err = one(tx.db, []any{&moved.Episodes, &moved.Successes, &moved.At}, `SELECT count(*), count(*) FILTER (WHERE outcome = 'success'), CAST(coalesce(sum(created_at - ?), 0) AS BIGINT)
		FROM episodes WHERE operation_type = ? AND `+isExperience+` AND created_at >= ? AND created_at < ?`,
		experience.WindowEpoch, operationType, low, high)
	o.Window.Episodes += sign * moved.Episodes
	o.Window.Successes += sign * moved.Successes
	o.Window.At += sign * moved.At
	return o, err
}

var operationColumns = []string{"operation_type", "episodes", "utility", "window_from", "window_episodes", "window_successes", "window_at"}

var replaceOperation = orReplace(operationColumns, "operation_type")

// SetOperation implements experience.Tx.
func (tx *transaction) SetOperation(o experience.Operation) error {
	if o.Episodes <= 0 {
		_, err := exec(tx.db, "DELETE FROM operations WHERE operation_type = ?", o.Type)
		return err
	}
	return insertOr(tx.db, replaceOperation, "operations", operationColumns, 1, func(_ int, row []any) []any {
		return append(row, o.Type, o.Episodes, o.Utility, millis(o.Window.From), o.Window.Episodes, o.Window.Successes, o.Window.At)
	})
}

// SameProblem implements experience.Tx.
func (tx *transaction) SameProblem(operationType string, fingerprint int64, last int) (same, seen int, err error) {
	_, err = one(tx.db, []any{&same, &seen}, `SELECT count(*) FILTER (WHERE query_print = ?), count(*) FROM (SELECT query_print FROM episodes
		WHERE operation_type = ? AND `+isExperience+` ORDER BY num DESC LIMIT ?) AS latest`, fingerprint, operationType, last)
	return same, seen, err
}

// WindowEpisodes implements experience.Tx.
func (tx *transaction) WindowEpisodes(operationType string, from time.Time, limit int) ([]lesson.Evidence, error) {
	found, err := list(tx.db, func(e *lesson.Evidence) []any {
		e.Kind = lesson.EvidenceEpisode
		return []any{&e.Ref, &e.Agent, &e.Score, at(&e.At)}
	}, `SELECT num, agent_id, utility, created_at FROM episodes
		WHERE operation_type = ? AND `+isExperience+` AND created_at >= ? ORDER BY num DESC LIMIT ?`, operationType, millis(from), limit)
	slices.Reverse(found)
	return found, err
}

// WindowNumbers implements experience.Tx. It reads no episode that is older.
func (tx *transaction) WindowNumbers(operationType string, from time.Time, limit int) ([]int64, error) {
	found, err := list(tx.db, value[int64], "SELECT num FROM episodes WHERE operation_type = ? AND "+isExperience+" AND created_at >= ? ORDER BY created_at DESC LIMIT ?",
		operationType, millis(from), limit)
	slices.SortFunc(found, func(a, b int64) int { return cmp.Compare(b, a) }) // of one millisecond too
	return found, err
}

const selectExperience = `SELECT num, id, created_at, operation_type, server_name, problem, solution, outcome, metadata, quality_score, duration_ms, notes,
	novelty, effectiveness, generalizability, utility, agent_id, project FROM episodes `

// experiences reads experiences until they hold most bytes.
func experiences(db *gorm.DB, most int, where string, args ...any) ([]experience.Experience, error) {
	return upTo(most, func(rows *sql.Rows) (x experience.Experience, size int, err error) {
		err = rows.Scan(&x.Number, &x.EpisodeID, &x.Timestamp, &x.OperationType, &x.ServerName, fromJSON(&x.Problem), fromJSON(&x.Solution), &x.Outcome, fromJSON(&x.Metadata),
			&x.QualityScore, &x.DurationMS, &x.Notes, &x.Novelty, &x.Effectiveness, &x.Generalizability, &x.Utility, &x.AgentID, &x.Project)
		x.At = fromMillis(x.Timestamp)
		return x, len(x.Problem) + len(x.Solution) + len(x.Metadata) + len(x.Notes), err
	}).of(query(db, selectExperience+where, args...))
}

// ExperiencesOf implements experience.Tx.
func (tx *transaction) ExperiencesOf(numbers []int64) ([]experience.Experience, error) {
	return inParts(numbers, func(part []int64) ([]experience.Experience, error) {
		return experiences(tx.db, unbounded, "WHERE num IN ("+marks(len(part))+") AND "+isExperience+" ORDER BY num", anys(part)...)
	})
}

// Experiences implements experience.Reader.
func (s *Store) Experiences(ctx context.Context, filter experience.Filter) ([]experience.Experience, error) {
	var c conditions
	c.add(isExperience)
	c.equal("operation_type", filter.OperationType)
	c.equal("outcome", string(filter.Outcome))
	return experiences(s.read.WithContext(ctx), learning.MaxAnswer, c.text+" ORDER BY num DESC LIMIT ? OFFSET ?", append(c.args, filter.Limit, filter.Offset)...)
}

// ExperienceOf implements experience.Reader.
func (s *Store) ExperienceOf(ctx context.Context, number int64) (experience.Experience, bool, error) {
	return first(experiences(s.read.WithContext(ctx), unbounded, "WHERE num = ? AND "+isExperience, number))
}

// CountExperiences implements experience.Reader.
func (s *Store) CountExperiences(ctx context.Context, at time.Time) (experience.Stats, error) {
	var stats experience.Stats
	db := s.read.WithContext(ctx)
	var utility int64
	if _, err := one(db, []any{&stats.Episodes, &utility}, "SELECT CAST(coalesce(sum(episodes), 0) AS BIGINT), CAST(coalesce(sum(utility), 0) AS BIGINT) FROM operations"); err != nil {
		return stats, err
	}
	if stats.Episodes > 0 {
		stats.AverageUtility = float64(utility) / experience.UtilityUnit / float64(stats.Episodes)
	}
	var err error
	if stats.Patterns, _, err = s.CountLearned(ctx); err != nil {
		return stats, err
	}
	_, err = one(db, []any{&stats.Lessons, &stats.HighConfidenceLessons},
		"SELECT count(*), count(*) FILTER (WHERE "+sureness+" >= ?) FROM lessons {indexed by lessons_listed} WHERE "+applicable,
		millis(at), msPerDay, lesson.HighConfidence)
	return stats, err
}

// CountLearned implements experience.Reader. A table or an index is counted whole page by page, which takes a hundredth of what
// a condition on each row takes; the few rows that do not count are taken off.
func (s *Store) CountLearned(ctx context.Context) (patterns, lessons int64, err error) {
	_, err = one(s.read.WithContext(ctx), []any{&patterns, &lessons}, `SELECT
		(SELECT count(*) FROM patterns) - (SELECT count(*) FROM patterns WHERE status = ? OR num < 0),
		(SELECT count(*) FROM lessons) - (SELECT count(*) FROM lessons WHERE status = 'retired' AND status <> 'candidate' AND NOT deprecated)`, string(lesson.PatternDeprecated))
	return patterns, lessons, err
}
