package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"gorm.io/gorm"

	"skillrouter/operational"
)

// figureBatch is how many rows one INSERT holds.
const figureBatch = 64

const addFigures = ` ON CONFLICT (hour, figure, name) DO UPDATE SET n = figures.n + excluded.n, part = figures.part + excluded.part, most = {greatest}(figures.most, excluded.most)`

// AddFigures implements operational.FigureStore.
func (s *Store) AddFigures(ctx context.Context, rows []operational.FigureRow, keep operational.FigureKeep) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		for batch := range slices.Chunk(rows, figureBatch) {
			args := make([]any, 0, 6*len(batch))
			for _, r := range batch {
				args = append(args, r.Hour, r.Figure, r.Name, r.Count, r.Part, r.Most)
			}
			err := tx.Exec("INSERT INTO figures (hour, figure, name, n, part, most) VALUES (?,?,?,?,?,?)"+strings.Repeat(",(?,?,?,?,?,?)", len(batch)-1)+addFigures, args...).Error
			if err != nil {
				return err
			}
		}
		if keep == (operational.FigureKeep{}) {
			return nil
		}
		return cmp.Or(
			tx.Exec("DELETE FROM figures WHERE hour < ?", keep.Since).Error,
			tx.Exec(`INSERT INTO figures (hour, figure, name, n, part, most)
				SELECT hour - hour % 24, figure, name, CAST(sum(n) AS BIGINT), CAST(sum(part) AS BIGINT), max(most) FROM figures WHERE hour < ? AND hour % 24 > 0
				GROUP BY hour - hour % 24, figure, name`+addFigures, keep.Days).Error,
			tx.Exec("DELETE FROM figures WHERE hour < ? AND hour % 24 > 0", keep.Days).Error,
		)
	}, nil) // no event, and so no bell
}

// FigureRows implements operational.FigureStore.
func (s *Store) FigureRows(ctx context.Context, q operational.FigureRange) ([]operational.FigureRow, error) {
	read := s.read.WithContext(ctx).Table("figures").Where("hour >= ? AND hour < ?", q.Since, q.Until)
	if q.Figures != nil {
		read = read.Where("figure IN ?", q.Figures)
	}
	if q.Name != nil {
		read = read.Where("name = ?", *q.Name)
	}
	var rows []struct {
		At, N, Part, Most int64
		Figure            operational.Figure
		Label             string
	}
	err := read.Select("hour - hour % ? AS at, figure, CASE WHEN figure IN ? THEN name ELSE '' END AS label, CAST(sum(n) AS BIGINT) AS n, CAST(sum(part) AS BIGINT) AS part, max(most) AS most", q.Step, q.Apart).
		Group("at, figure, label").Order("at, figure, label").Find(&rows).Error
	found := make([]operational.FigureRow, len(rows))
	for i, r := range rows {
		found[i] = operational.FigureRow{Hour: r.At, Figure: r.Figure, Name: r.Label, FigureCounts: operational.FigureCounts{Count: r.N, Part: r.Part, Most: r.Most}}
	}
	return found, err
}
