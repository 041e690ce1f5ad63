package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"skillrouter/internal/defaults"
	"skillrouter/learning/feedback"
)

var _ feedback.GapStore = (*Store)(nil)

const selectGap = "SELECT id, question, project, asked_in, agents, count, first_asked, last_asked, status, answered_by, settled_by, reason, settled_at FROM gaps "

var gapColumns = []string{
	"id", "question", "project", "asked_in", "agents", "count", "first_asked", "last_asked", "status", "answered_by", "settled_by", "reason", "settled_at", "checked_at",
}

func gaps(db *gorm.DB, where string, args ...any) ([]feedback.Gap, error) {
	return list(db, func(g *feedback.Gap) []any {
		return []any{
			&g.ID, &g.Question, &g.Project, fromJSON(&g.AskedIn), fromJSON(&g.Agents), &g.Count, at(&g.FirstAsked), at(&g.LastAsked), &g.Status,
			&g.AnsweredBy, &g.SettledBy, &g.Reason, atOrNil(&g.SettledAt),
		}
	}, selectGap+where, args...)
}

// Gap implements feedback.GapStore.
func (s *Store) Gap(ctx context.Context, id string) (feedback.Gap, bool, error) {
	return oneGap(s.read.WithContext(ctx), id)
}

func oneGap(db *gorm.DB, id string) (feedback.Gap, bool, error) {
	return first(gaps(db, "WHERE id = ?", id))
}

// putGap writes a gap over what is there.
func putGap(tx *gorm.DB, g *feedback.Gap, checked time.Time) error {
	g.Agents = defaults.List(g.Agents)
	return insertOr(tx, orReplace(gapColumns, "id"), "gaps", gapColumns, 1, func(_ int, row []any) []any {
		return append(row, g.ID, g.Question, g.Project, toJSON(g.AskedIn), toJSON(g.Agents), g.Count, millis(g.FirstAsked), millis(g.LastAsked),
			string(g.Status), g.AnsweredBy, g.SettledBy, g.Reason, millisPtr(g.SettledAt), millis(checked))
	})
}

// AddMisses implements feedback.GapStore.
func (s *Store) AddMisses(ctx context.Context, misses []feedback.GapMisses, most int) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		for i := range misses {
			gap, there, err := oneGap(tx, misses[i].ID)
			if err != nil {
				return err
			}
			if !there {
				gap = feedback.Gap{ID: misses[i].ID, Project: misses[i].Project, FirstAsked: misses[i].First, LastAsked: misses[i].Last, Status: feedback.GapOpen}
			}
			gap.Add(misses[i])
			if err := putGap(tx, &gap, gap.LastAsked); err != nil {
				return err
			}
		}
		_, err := exec(tx, `DELETE FROM gaps WHERE id IN (SELECT id FROM gaps ORDER BY last_asked LIMIT {greatest}(0, (SELECT count(*) FROM gaps) - ?))`, most)
		return err
	}, nil)
}

// ListGaps implements feedback.GapStore.
func (s *Store) ListGaps(ctx context.Context, q feedback.GapQuery, after *feedback.GapMark) ([]feedback.Gap, int64, error) {
	var c conditions
	c.equal("status", string(q.Status))
	c.equal("project", q.Project)
	if q.Within != nil {
		among(&c, "project", q.Within)
	}
	if q.AskedIn != "" {
		c.add("EXISTS (SELECT 1 FROM {elements asked_in} WHERE value = ?)", string(q.AskedIn))
	}
	total, err := scalar[int64](s.read.WithContext(ctx), "SELECT count(*) FROM gaps "+c.text, c.args...)
	if err != nil {
		return nil, 0, err
	}
	column := "last_asked"
	if q.Order == feedback.GapsOften {
		column = "count"
	}
	if after != nil {
		c.add("("+column+", id) < (?, ?)", after.Value, after.ID)
	}
	list, err := gaps(s.read.WithContext(ctx), c.text+" ORDER BY "+column+" DESC, id DESC LIMIT ?", append(c.args, q.Limit)...)
	return list, total, err
}

// OpenGaps implements feedback.GapStore.
func (s *Store) OpenGaps(ctx context.Context, since time.Time, limit int) ([]feedback.Gap, error) {
	return gaps(s.read.WithContext(ctx), "WHERE status = 'open' AND checked_at <= ? ORDER BY checked_at LIMIT ?", millis(since), limit)
}

// ChangeGap implements feedback.GapStore.
func (s *Store) ChangeGap(ctx context.Context, id string, decide func(gap *feedback.Gap) error) (changed feedback.Gap, err error) {
	err = s.commit.Write(ctx, func(tx *gorm.DB) error {
		gap, there, err := oneGap(tx, id)
		if err != nil {
			return err
		}
		if !there {
			return feedback.NoGap()
		}
		if err := decide(&gap); err != nil {
			return err
		}
		changed = gap
		return putGap(tx, &gap, gap.LastAsked)
	}, nil)
	return changed, err
}

// MarkChecked implements feedback.GapStore.
func (s *Store) MarkChecked(ctx context.Context, ids []string, at time.Time) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		for _, id := range ids {
			if _, err := exec(tx, "UPDATE gaps SET checked_at = {greatest}(checked_at, ?) WHERE id = ?", millis(at), id); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}
