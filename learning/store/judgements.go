package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"skillrouter"
	"skillrouter/learning/feedback"
)

var _ feedback.JudgementStore = (*Store)(nil)

func judgements(db *gorm.DB, where string, args ...any) ([]feedback.Judgement, error) {
	type judgement struct {
		feedback.Judgement
		ran   *time.Time
		ranks map[string]int
	}
	rows, err := list(db, func(j *judgement) []any {
		return []any{
			&j.Number, &j.ID, &j.Question, &j.Project, fromJSON(&j.Good), fromJSON(&j.Bad), &j.Author, at(&j.CreatedAt), at(&j.UpdatedAt),
			atOrNil(&j.ran), fromJSON(&j.ranks),
		}
	}, "SELECT number, id, question, project, good, bad, author, created_at, updated_at, ran_at, ranks FROM judgements "+where, args...)
	found := make([]feedback.Judgement, len(rows))
	for i, j := range rows {
		if found[i] = j.Judgement; j.ran != nil && j.ranks != nil {
			found[i].Last = &feedback.JudgementRun{At: *j.ran, Ranks: j.ranks}
		}
	}
	return found, err
}

// Judgement implements feedback.JudgementStore.
func (s *Store) Judgement(ctx context.Context, id string) (feedback.Judgement, bool, error) {
	return oneJudgement(s.read.WithContext(ctx), id)
}

func oneJudgement(db *gorm.DB, id string) (feedback.Judgement, bool, error) {
	return first(judgements(db, "WHERE id = ?", id))
}

// ChangeJudgement implements feedback.JudgementStore.
func (s *Store) ChangeJudgement(
	ctx context.Context, id string, most int, decide func(j *feedback.Judgement, there bool) error,
) (changed feedback.Judgement, err error) {
	err = s.commit.Write(ctx, func(tx *gorm.DB) error {
		j, there, err := oneJudgement(tx, id)
		if err != nil {
			return err
		}
		if !there {
			j = feedback.Judgement{ID: id}
			n, err := scalar[int](tx, "SELECT count(*) FROM judgements")
			if err != nil {
				return err
			}
			if n >= most {
				return skillrouter.Errorf(skillrouter.Conflict, "there are %d judgements already: remove some that measure little", n)
			}
		}
		if err := decide(&j, there); err != nil {
			return err
		}
		if _, err := exec(tx, `INSERT INTO judgements (id, question, project, good, bad, author, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET good = excluded.good, bad = excluded.bad, updated_at = {greatest}(excluded.updated_at, judgements.created_at)`,
			j.ID, j.Question, j.Project, toJSON(skillrouter.GivenList(j.Good)), toJSON(skillrouter.GivenList(j.Bad)), j.Author, millis(j.CreatedAt), millis(j.UpdatedAt)); err != nil {
			return err
		}
		changed, _, err = oneJudgement(tx, id)
		return err
	}, nil)
	return changed, err
}

// ListJudgements implements feedback.JudgementStore.
func (s *Store) ListJudgements(ctx context.Context, project string, before int64, limit int) ([]feedback.Judgement, int64, error) {
	where, args := "WHERE (? = '' OR project = ?)", []any{project, project}
	total, err := scalar[int64](s.read.WithContext(ctx), "SELECT count(*) FROM judgements "+where, args...)
	if err != nil {
		return nil, 0, err
	}
	if before > 0 {
		where, args = where+" AND number < ?", append(args, before)
	}
	list, err := judgements(s.read.WithContext(ctx), where+" ORDER BY number DESC LIMIT ?", append(args, limit)...)
	return list, total, err
}

// DeleteJudgement implements feedback.JudgementStore.
func (s *Store) DeleteJudgement(ctx context.Context, id string, decide func(j *feedback.Judgement) error) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		j, there, err := oneJudgement(tx, id)
		if err != nil {
			return err
		}
		if !there {
			return feedback.NoJudgement()
		}
		if err := decide(&j); err != nil {
			return err
		}
		_, err = exec(tx, "DELETE FROM judgements WHERE id = ?", id)
		return err
	}, nil)
}

// SaveJudgementRuns implements feedback.JudgementStore.
func (s *Store) SaveJudgementRuns(ctx context.Context, at time.Time, ranks map[string]map[string]int) error {
	if len(ranks) == 0 {
		return nil
	}
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		for id, found := range ranks {
			if _, err := exec(tx, "UPDATE judgements SET ran_at = ?, ranks = ? WHERE id = ?", millis(at), toJSON(found), id); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}
