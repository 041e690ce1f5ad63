package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"gorm.io/gorm"

	"skillrouter"
	"skillrouter/learning"
)

var _ learning.JudgementStore = (*Store)(nil)

func judgements(db *gorm.DB, where string, args ...any) ([]learning.Judgement, error) {
	rows, err := query(db, "SELECT number, id, question, project, good, bad, author, created_at, updated_at, ran_at, ranks FROM judgements "+where, args...)
	if err != nil {
		return nil, err
	}
	list := []learning.Judgement{}
	for rows.Next() {
		j, err := scanJudgement(rows)
		if err != nil {
			return nil, closing(rows, err)
		}
		list = append(list, j)
	}
	return list, closing(rows, rows.Err())
}

func scanJudgement(rows *sql.Rows) (j learning.Judgement, err error) {
	var good, bad string
	var ranks *string
	var created, updated int64
	var ran *int64
	if err = rows.Scan(&j.Number, &j.ID, &j.Question, &j.Project, &good, &bad, &j.Author, &created, &updated, &ran, &ranks); err != nil {
		return j, err
	}
	j.CreatedAt, j.UpdatedAt = fromMillis(created), fromMillis(updated)
	err = errors.Join(json.Unmarshal([]byte(good), &j.Good), json.Unmarshal([]byte(bad), &j.Bad))
	if ran != nil && ranks != nil {
		j.Last = &learning.JudgementRun{At: fromMillis(*ran)}
		err = errors.Join(err, json.Unmarshal([]byte(*ranks), &j.Last.Ranks))
	}
	return j, err
}

// Judgement implements learning.JudgementStore.
func (s *Store) Judgement(ctx context.Context, id string) (learning.Judgement, bool, error) {
	return oneJudgement(s.read.WithContext(ctx), id)
}

func oneJudgement(db *gorm.DB, id string) (learning.Judgement, bool, error) {
	list, err := judgements(db, "WHERE id = ?", id)
	if err != nil || len(list) == 0 {
		return learning.Judgement{}, false, err
	}
	return list[0], true, nil
}

// ChangeJudgement implements learning.JudgementStore.
func (s *Store) ChangeJudgement(
	ctx context.Context, id string, most int, decide func(j *learning.Judgement, there bool) error,
) (changed learning.Judgement, err error) {
	err = s.commit.Write(ctx, func(tx *gorm.DB) error {
		j, there, err := oneJudgement(tx, id)
		if err != nil {
			return err
		}
		if !there {
			j = learning.Judgement{ID: id}
			var n int
			if err := tx.Raw("SELECT count(*) FROM judgements").Scan(&n).Error; err != nil {
				return err
			}
			if n >= most {
				return skillrouter.Errorf(skillrouter.Conflict, "there are %d judgements already: remove some that measure little", n)
			}
		}
		if err := decide(&j, there); err != nil {
			return err
		}
		good, err := json.Marshal(emptied(j.Good))
		if err != nil {
			return err
		}
		bad, err := json.Marshal(emptied(j.Bad))
		if err != nil {
			return err
		}
		if _, err := exec(tx, `INSERT INTO judgements (id, question, project, good, bad, author, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET good = excluded.good, bad = excluded.bad, updated_at = max(excluded.updated_at, created_at)`,
			j.ID, j.Question, j.Project, string(good), string(bad), j.Author, millis(j.CreatedAt), millis(j.UpdatedAt)); err != nil {
			return err
		}
		changed, _, err = oneJudgement(tx, id)
		return err
	}, nil)
	return changed, err
}

func emptied(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// ListJudgements implements learning.JudgementStore.
func (s *Store) ListJudgements(ctx context.Context, project string, before int64, limit int) ([]learning.Judgement, int64, error) {
	where, args := "WHERE (? = '' OR project = ?)", []any{project, project}
	var total int64
	if err := s.read.WithContext(ctx).Raw("SELECT count(*) FROM judgements "+where, args...).Scan(&total).Error; err != nil {
		return nil, 0, err
	}
	if before > 0 {
		where, args = where+" AND number < ?", append(args, before)
	}
	list, err := judgements(s.read.WithContext(ctx), where+" ORDER BY number DESC LIMIT ?", append(args, limit)...)
	return list, total, err
}

// DeleteJudgement implements learning.JudgementStore.
func (s *Store) DeleteJudgement(ctx context.Context, id string, decide func(j *learning.Judgement) error) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		j, there, err := oneJudgement(tx, id)
		if err != nil {
			return err
		}
		if !there {
			return learning.NoJudgement()
		}
		if err := decide(&j); err != nil {
			return err
		}
		_, err = exec(tx, "DELETE FROM judgements WHERE id = ?", id)
		return err
	}, nil)
}

// SaveJudgementRuns implements learning.JudgementStore.
func (s *Store) SaveJudgementRuns(ctx context.Context, at time.Time, ranks map[string]map[string]int) error {
	if len(ranks) == 0 {
		return nil
	}
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		for id, found := range ranks {
			text, err := json.Marshal(found)
			if err != nil {
				return err
			}
			if _, err := exec(tx, "UPDATE judgements SET ran_at = ?, ranks = ? WHERE id = ?", millis(at), string(text), id); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}
