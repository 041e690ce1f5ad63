package store

import (
	"context"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/verdict"
)

var _ verdict.Store = (*Store)(nil)

var verdicts = table.Of[verdict.Verdict]("verdicts", "Key subject_key", "Agent agent_id", "First first_at")

func (s *Store) verdicts(ctx context.Context, where string, args ...any) ([]verdict.Verdict, error) {
	return verdicts.List(s.Read.WithContext(ctx), "WHERE "+where, args...)
}

// NeedEntry implements verdict.Store.
func (s *Store) NeedEntry(ctx context.Context, id string) error {
	return needEntry(s.Read.WithContext(ctx), id)
}

func needEntry(db *gorm.DB, id string) error {
	there, err := table.Scalar[int](db, "SELECT count(*) FROM knowledge WHERE id = ?", id)
	if err == nil && there == 0 {
		return knowledge.NoEntry()
	}
	return err
}

// AddVerdict implements verdict.Store.
func (s *Store) AddVerdict(ctx context.Context, v verdict.Verdict) (items []string, err error) {
	err = s.Commit.Write(ctx, func(tx *gorm.DB) error {
		items = []string{v.Item}
		if err := needEntry(tx, strings.TrimPrefix(v.Item, "knowledge/")); err != nil {
			return err
		}
		if _, err := table.Exec(tx, "DELETE FROM verdicts WHERE item = ? AND subject_key = ? AND agent_id = ?", v.Item, v.Key, v.Agent); err != nil {
			return err
		}
		if err := verdicts.Insert(tx, &v); err != nil {
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
	return table.List(tx, table.Value[string], "DELETE FROM verdicts WHERE "+where+" AND seq <= (SELECT seq FROM verdicts WHERE "+where+
		" ORDER BY seq DESC LIMIT 1 OFFSET ?) RETURNING item", append(slices.Concat(args, args), most)...)
}

// Verdicts implements verdict.Store.
func (s *Store) Verdicts(ctx context.Context, items []string) ([]verdict.Verdict, error) {
	if items == nil {
		return s.verdicts(ctx, "item <> '' ORDER BY seq")
	}
	return table.InParts(items, func(part []string) ([]verdict.Verdict, error) {
		return s.verdicts(ctx, "item IN ("+table.Marks(len(part))+") ORDER BY seq", table.Anys(part)...)
	})
}

// DeleteVerdicts implements verdict.Store.
func (s *Store) DeleteVerdicts(ctx context.Context, item, agent string, everybody bool) (int64, error) {
	return s.DeleteRows(ctx, "DELETE FROM verdicts WHERE item = ? AND (? OR agent_id = ?)", item, everybody, agent)
}

// AddMisses implements verdict.Store. A question that is asked again becomes the last, so that the bounds drop others first.
func (s *Store) AddMisses(ctx context.Context, misses []verdict.Verdict) error {
	return s.Commit.Write(ctx, func(tx *gorm.DB) error {
		for i := range misses {
			m := misses[i]
			var earlier verdict.Verdict
			there, err := table.One(tx, []any{&earlier.Times, table.At(&earlier.First)}, "DELETE FROM verdicts WHERE item = '' AND subject_key = ? AND agent_id = ? RETURNING times, first_at", m.Key, m.Agent)
			if err != nil {
				return err
			}
			if there {
				m.Times, m.First = m.Times+earlier.Times, earlier.First
			}
			if err := verdicts.Insert(tx, &m); err != nil {
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
	_, err := s.DeleteRows(ctx, "DELETE FROM verdicts WHERE item = '' AND subject_key = ?", key)
	return err
}
