package store

import (
	"context"
	"slices"
	"strings"

	"gorm.io/gorm"

	"skillrouter/learning/knowledge"
	"skillrouter/learning/verdict"
)

var _ verdict.Store = (*Store)(nil)

const insertVerdict = `INSERT INTO verdicts (subject_key, subject, project, item, agent_id, helped, times, first_at, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`

func verdictValues(v *verdict.Verdict) []any {
	return []any{v.Key, v.Subject, v.Project, v.Item, v.Agent, v.Helped, v.Times, millis(v.First), millis(v.At)}
}

func (s *Store) verdicts(ctx context.Context, where string, args ...any) ([]verdict.Verdict, error) {
	return list(s.read.WithContext(ctx), func(v *verdict.Verdict) []any {
		return []any{&v.Key, &v.Subject, &v.Project, &v.Item, &v.Agent, &v.Helped, &v.Times, at(&v.First), at(&v.At)}
	}, "SELECT subject_key, subject, project, item, agent_id, helped, times, first_at, at FROM verdicts WHERE "+where, args...)
}

// NeedEntry implements verdict.Store.
func (s *Store) NeedEntry(ctx context.Context, id string) error {
	return needEntry(s.read.WithContext(ctx), id)
}

func needEntry(db *gorm.DB, id string) error {
	there, err := scalar[int](db, "SELECT count(*) FROM knowledge WHERE id = ?", id)
	if err == nil && there == 0 {
		return knowledge.NoEntry()
	}
	return err
}

// AddVerdict implements verdict.Store.
func (s *Store) AddVerdict(ctx context.Context, v verdict.Verdict) (items []string, err error) {
	err = s.commit.Write(ctx, func(tx *gorm.DB) error {
		items = []string{v.Item}
		if err := needEntry(tx, strings.TrimPrefix(v.Item, "knowledge/")); err != nil {
			return err
		}
		if _, err := exec(tx, "DELETE FROM verdicts WHERE item = ? AND subject_key = ? AND agent_id = ?", v.Item, v.Key, v.Agent); err != nil {
			return err
		}
		if _, err := exec(tx, insertVerdict, verdictValues(&v)...); err != nil {
			return err
		}
		for _, bound := range []struct {
			where string
			args  []any
			most  int
		}{
			{"item = ? AND agent_id = ?", []any{v.Item, v.Agent}, verdict.MaxByAgent},
			{"item = ?", []any{v.Item}, verdict.MaxOfItem},
			{"item <> '' AND agent_id = ?", []any{v.Agent}, verdict.MaxOfAgent},
			{"item <> ''", nil, verdict.MaxVoices},
		} {
			gone, err := dropVerdicts(tx, bound.where, bound.args, bound.most)
			if err != nil {
				return err
			}
			items = append(items, gone...)
		}
		slices.Sort(items)
		items = slices.Compact(items)
		return nil
	}, nil)
	return items, err
}

// dropVerdicts deletes the oldest of the rows that fit beyond the last most, and returns their items.
func dropVerdicts(tx *gorm.DB, where string, args []any, most int) ([]string, error) {
	return list(tx, value[string], "DELETE FROM verdicts WHERE "+where+" AND seq <= (SELECT seq FROM verdicts WHERE "+where+
		" ORDER BY seq DESC LIMIT 1 OFFSET ?) RETURNING item", append(slices.Concat(args, args), most)...)
}

// Verdicts implements verdict.Store.
func (s *Store) Verdicts(ctx context.Context, items []string) ([]verdict.Verdict, error) {
	if items == nil {
		return s.verdicts(ctx, "item <> '' ORDER BY seq")
	}
	return inParts(items, func(part []string) ([]verdict.Verdict, error) {
		return s.verdicts(ctx, "item IN ("+marks(len(part))+") ORDER BY seq", anys(part)...)
	})
}

// DeleteVerdicts implements verdict.Store.
func (s *Store) DeleteVerdicts(ctx context.Context, item, agent string, everybody bool) (int64, error) {
	return s.deleteRows(ctx, "DELETE FROM verdicts WHERE item = ? AND (? OR agent_id = ?)", item, everybody, agent)
}

// AddMisses implements verdict.Store. A question that is asked again becomes the last, so that the bounds drop others first.
func (s *Store) AddMisses(ctx context.Context, misses []verdict.Verdict) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		for i := range misses {
			m := misses[i]
			var times, first int64
			there, err := one(tx, []any{&times, &first}, "DELETE FROM verdicts WHERE item = '' AND subject_key = ? AND agent_id = ? RETURNING times, first_at", m.Key, m.Agent)
			if err != nil {
				return err
			}
			row := verdictValues(&m)
			if there {
				row[6], row[7] = m.Times+times, first
			}
			if _, err := exec(tx, insertVerdict, row...); err != nil {
				return err
			}
			if _, err := dropVerdicts(tx, "item = '' AND agent_id = ?", []any{m.Agent}, verdict.MaxOfAgent); err != nil {
				return err
			}
		}
		_, err := dropVerdicts(tx, "item = ''", nil, verdict.MaxMisses)
		return err
	}, nil)
}

// Misses implements verdict.Store.
func (s *Store) Misses(ctx context.Context) ([]verdict.Verdict, error) {
	return s.verdicts(ctx, "item = '' ORDER BY seq DESC")
}

// DeleteMisses implements verdict.Store.
func (s *Store) DeleteMisses(ctx context.Context, key string) error {
	_, err := s.deleteRows(ctx, "DELETE FROM verdicts WHERE item = '' AND subject_key = ?", key)
	return err
}
