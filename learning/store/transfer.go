package store

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

// after selects a project's rows behind a number.
func after(project string, number int64) (where string, args []any) {
	var c table.Conditions
	c.Add("num > ?", number)
	c.Equal("project", project)
	return c.Text, c.Args
}

// KnowledgeAfter is a page of an export.
func (s *Store) KnowledgeAfter(ctx context.Context, project string, number int64, limit int) ([]knowledge.Knowledge, error) {
	where, args := after(project, number)
	return selectKnowledge(s.Read.WithContext(ctx), learning.MaxAnswer, where+" ORDER BY num LIMIT ?", append(args, limit)...)
}

// EpisodesAfter is a page of an export.
func (s *Store) EpisodesAfter(ctx context.Context, project string, number int64, limit int) ([]experience.EpisodeRecord, error) {
	db := s.Read.WithContext(ctx)
	where, args := after(project, number)
	found, err := selectEpisodes(db, learning.MaxAnswer, where+" ORDER BY num LIMIT ?", append(args, limit)...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	outcomes, err := readExperiences(db, unbounded, "WHERE "+isExperience+" AND num >= ? AND num <= ?", found[0].Number, found[len(found)-1].Number)
	if err != nil {
		return nil, err
	}
	byNumber := make(map[int64]*experience.Experience, len(outcomes))
	for i := range outcomes {
		byNumber[outcomes[i].Number] = &outcomes[i]
	}
	records := make([]experience.EpisodeRecord, len(found))
	for i, e := range found {
		records[i] = experience.EpisodeRecord{Episode: e, Experience: byNumber[e.Number]}
	}
	return records, nil
}

// LessonsAfter is a page of an export.
func (s *Store) LessonsAfter(ctx context.Context, project string, number int64, limit int) ([]lesson.Lesson, error) {
	where, args := after(project, number)
	return lessons(s.Read.WithContext(ctx), learning.MaxAnswer, where+" ORDER BY num LIMIT ?", append(args, limit)...)
}

// PatternsAfter is a page of an export.
func (s *Store) PatternsAfter(ctx context.Context, number int64, limit int) ([]lesson.PatternRecord, error) {
	db := s.Read.WithContext(ctx)
	found, err := patterns(db, "WHERE num > ? ORDER BY num LIMIT ?", cmp.Or(number, math.MinInt64), limit)
	if err != nil {
		return nil, err
	}
	records := make([]lesson.PatternRecord, len(found))
	for i := range found {
		if err := addEvidence(db, &found[i]); err != nil {
			return nil, err
		}
		records[i].Pattern = found[i]
		if records[i].Episodes, err = table.List(db, table.Value[string], `SELECT episodes.id FROM pattern_evidence JOIN episodes ON episodes.num = CASE kind WHEN 'episode' THEN CAST(ref AS BIGINT) END
			WHERE pattern_id = ? AND kind = ? ORDER BY pattern_evidence.num DESC LIMIT ?`, found[i].ID, lesson.EvidenceEpisode, lesson.MaxEvidence); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// FactsAfter is a page of an export.
func (s *Store) FactsAfter(ctx context.Context, persona, key string, at time.Time, limit int) (found []fact.Fact, err error) {
	return upTo(learning.MaxAnswer+1, scanFact).of(table.Query(s.Read.WithContext(ctx), facts.Select()+"WHERE (persona, key) > (?, ?) AND (expires_at IS NULL OR expires_at > ?)"+
		" ORDER BY persona, key LIMIT ?", persona, key, table.Millis(at), limit))
}

// ProceduresAfter is a page of an export.
func (s *Store) ProceduresAfter(ctx context.Context, number int64, limit int) ([]procedure.Procedure, int64, error) {
	found, err := procedures(s.Read.WithContext(ctx), "WHERE deleted_at IS NULL AND num > ? ORDER BY num LIMIT ?", number, limit)
	shown := make([]procedure.Procedure, len(found))
	for i := range found {
		shown[i], number = found[i].Shown(), found[i].Number
	}
	return shown, number, err
}

// EpisodeNumbers implements experience.Tx.
func (tx *transaction) EpisodeNumbers(ids []string) (map[string]int64, error) {
	return numbersOf(tx.db, "episodes", ids)
}

// numbersOf returns the numbers of a table's rows by their ids; what there is not, is not in it.
func numbersOf(db *gorm.DB, rows string, ids []string) (map[string]int64, error) {
	numbers := make(map[string]int64, len(ids))
	for part := range slices.Chunk(ids, table.Lookups) {
		found, err := table.Tallied[string](db, "SELECT id, num FROM "+rows+" WHERE id IN ("+table.Marks(len(part))+")", table.Anys(part)...)
		if err != nil {
			return nil, err
		}
		maps.Copy(numbers, found)
	}
	return numbers, nil
}

// InsertEpisode implements experience.Tx.
func (tx *transaction) InsertEpisode(e *episode.Episode) error { return episodes.Insert(tx.db, e) }
