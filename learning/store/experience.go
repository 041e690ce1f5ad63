package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
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

// sureness is Belief.At of a lesson in SQL. It takes the time and msPerDay.
const sureness = "initial_confidence * exp(-decay_constant * {greatest}(0, ? - confidence_at) / ?)"

// applicable is which lessons may be applied.
const applicable = "(status <> 'retired' OR deprecated)"

// ApplicableLessons implements experience.Reader. It reads an index of
// what it compares, and of the lessons only those that it answers.
func (s *Store) ApplicableLessons(ctx context.Context, where experience.Whereabouts, minConfidence float64, limit int, at time.Time) ([]lesson.Lesson, experience.ConfidenceSummary, error) {
	var summary experience.ConfidenceSummary
	db := s.Read.WithContext(ctx)
	var fits table.Conditions
	fits.Add(applicable)
	if t := where.OperationType; t != "" {
		fits.Add(`(contexts = '[]' OR {position}(lower(title), ?) > 0 OR EXISTS (SELECT 1 FROM {elements contexts} WHERE {position}(lower(value), ?) > 0)
			OR pattern_id IN (SELECT id FROM patterns WHERE made_type <> '' AND {position}(lower(made_text), ?) > 0))`, t, t, t)
	}
	if where.Context {
		held := strings.Repeat(" OR {position}(lower(value), ?) > 0", len(where.Names)) + strings.Repeat(" OR {position}(?, lower(value)) > 0", len(where.Texts))
		fits.Add("(contexts = '[]' OR EXISTS (SELECT 1 FROM {elements contexts} WHERE false"+held+"))", append(table.Anys(where.Names), table.Anys(where.Texts)...)...)
	}
	sure := "SELECT num, sure FROM (SELECT num, " + sureness + " AS sure FROM lessons {indexed by lessons_listed} " + fits.Text + ") AS held WHERE sure >= ?"
	args := append(append([]any{table.Millis(at), msPerDay}, fits.Args...), minConfidence)

	_, err := table.One(db, []any{&summary.High, &summary.Medium, &summary.Low},
		"SELECT count(*) FILTER (WHERE sure >= ?), count(*) FILTER (WHERE sure >= ? AND sure < ?), count(*) FILTER (WHERE sure < ?) FROM ("+sure+") AS fitting",
		append([]any{lesson.HighConfidence, lesson.MediumConfidence, lesson.HighConfidence, lesson.MediumConfidence}, args...)...)
	if err != nil {
		return nil, summary, err
	}
	order, err := table.List(db, table.Value[int64], "SELECT num FROM ("+sure+" ORDER BY sure DESC, num LIMIT ?) AS surest", append(args, limit)...)
	if err != nil {
		return nil, summary, err
	}
	place := make(map[int64]int, len(order)) // a lesson's place among them, by its number
	for i, number := range order {
		place[number] = i
	}
	var found []lesson.Lesson
	size := 0
	for part := range slices.Chunk(order, table.Lookups) {
		some, err := lessons(db, unbounded, "WHERE num IN ("+table.Marks(len(part))+")", table.Anys(part)...)
		if err != nil {
			return nil, summary, err
		}
		slices.SortFunc(some, func(a, b lesson.Lesson) int { return place[a.Number] - place[b.Number] })
		for i := range some {
			if size += lessonSize(&some[i]); size > learning.MaxAnswer && len(found) > 0 {
				return found, summary, nil
			}
			found = append(found, some[i])
		}
	}
	return found, summary, nil
}

// ExperiencePatterns implements experience.Reader.
func (s *Store) ExperiencePatterns(ctx context.Context, operationType string, filter lesson.PatternFilter) ([]lesson.Pattern, int64, error) {
	db := s.Read.WithContext(ctx)
	var c table.Conditions
	if operationType != "" {
		c.Add("made_type <> '' AND (operation_type = ? OR operation_type = '' AND {position}(made_text, ?) > 0)", operationType, operationType)
	}
	if filter.Type != "" {
		c.Add("(made_type = ? OR made_type = '' AND pattern_type = ?)", string(filter.Type), string(filter.Type))
	}
	c.Add("num > 0") // the others are the model's own
	c.Equal("domain", filter.Domain)
	if len(filter.Statuses) > 0 {
		table.Among(&c, "status", filter.Statuses)
	} else {
		c.Add("status <> ?", string(lesson.PatternDeprecated))
	}
	rows, err := table.Query(db, selectPattern()+c.Text+" ORDER BY weight DESC, num DESC LIMIT ? OFFSET ?", append(slices.Clone(c.Args), filter.Limit, filter.Offset)...)
	found := []lesson.Pattern{}
	size, more := 0, false
	if err := table.Each(rows, err).Visit(func(rows *sql.Rows) (bool, error) {
		p, bytes, err := scanPattern(rows)
		size += bytes
		if more = size > learning.MaxAnswer && len(found) > 0; !more {
			found = append(found, p)
		}
		return !more, err
	}); err != nil {
		return nil, 0, err
	}
	for i := range found {
		if found[i].Made == nil {
			if err := addEvidence(db, &found[i]); err != nil {
				return nil, 0, err
			}
		}
	}
	total := int64(filter.Offset + len(found))
	if more || len(found) == filter.Limit || len(found) == 0 && filter.Offset > 0 {
		_, err = table.One(db, []any{&total}, "SELECT count(*) FROM patterns "+c.Text, c.Args...)
	}
	return found, total, err
}

// patternSize is about how many bytes of an answer a pattern is.
func patternSize(p *lesson.Pattern) int {
	const figures = 400 // its names, numbers and times
	size := figures + 2*len(p.Description)
	if p.Made != nil {
		size += len(p.Made.Description) + 8*len(p.Made.EpisodeIDs)
	}
	return size
}

// TotalExperiences implements experience.Reader.
func (s *Store) TotalExperiences(ctx context.Context, operationType string) (total int64, err error) {
	var c table.Conditions
	c.Equal("operation_type", operationType)
	return table.Scalar[int64](s.Read.WithContext(ctx), "SELECT CAST(coalesce(sum(episodes), 0) AS BIGINT) FROM operations "+c.Text, c.Args...)
}

// PatternNumbers implements experience.Reader.
func (s *Store) PatternNumbers(ctx context.Context, ids []string) (map[string]int64, error) {
	return numbersOf(s.Read.WithContext(ctx), "patterns", ids)
}

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
