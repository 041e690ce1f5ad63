package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/operational"
)

// MessageTime returns when the first message of at least this seq was sent; false: there is none.
func (s *Store) MessageTime(ctx context.Context, seq int64) (at time.Time, found bool, err error) {
	found, err = table.One(s.Read.WithContext(ctx), []any{table.At(&at)}, "SELECT created_at FROM messages WHERE seq >= ? ORDER BY seq LIMIT 1", seq)
	return at, found, err
}

var feedRuns = table.Of[operational.FeedRun]("feed_runs")

// FeedEnds returns the feed's last run and the last run of each log; a run
// that is not there is the zero one.
func (s *Store) FeedEnds(ctx context.Context) (last operational.FeedRun, ends map[operational.FeedSource]operational.FeedRun, err error) {
	read := s.Read.WithContext(ctx)
	last, found, err := feedRuns.One(read, "ORDER BY first DESC LIMIT 1")
	if err != nil || !found {
		return last, nil, err
	}
	ends = map[operational.FeedSource]operational.FeedRun{}
	for _, source := range []operational.FeedSource{operational.FeedLearning, operational.FeedOperational, operational.FeedMessages} {
		end, found, err := feedRuns.One(read, "WHERE source = ? ORDER BY first DESC LIMIT 1", string(source))
		if err != nil {
			return last, nil, err
		}
		if found {
			ends[source] = end
		}
	}
	return last, ends, nil
}

// FeedRuns returns up to limit runs in order, from the one that holds a number on.
func (s *Store) FeedRuns(ctx context.Context, from int64, limit int) ([]operational.FeedRun, error) {
	return feedRuns.List(s.Read.WithContext(ctx), `WHERE first >= coalesce((SELECT max(first) FROM feed_runs WHERE first <= ?), 0) AND first + count > ? ORDER BY first LIMIT ?`,
		from, from, limit)
}

// AppendFeed adds runs to the end of the journal. A run that is there already
// may come again with a greater count. Nothing is announced: a row of the
// journal is no event.
func (s *Store) AppendFeed(ctx context.Context, runs []operational.FeedRun) error {
	return s.Commit.Write(ctx, func(tx *gorm.DB) error { return putFeedRuns(tx, runs) }, nil)
}

// SweepFeed removes the runs that end with a seq of their log that is not behind through. The last of each log stays: the next is numbered by it.
func (s *Store) SweepFeed(ctx context.Context, through map[operational.FeedSource]int64) error {
	return s.Commit.Write(committer.Essential(ctx), func(tx *gorm.DB) error {
		for source, seq := range through {
			if err := tx.Exec("DELETE FROM feed_runs WHERE source IN (?, ?) AND start + count - 1 <= ? AND first < (SELECT max(first) FROM feed_runs WHERE source = ?)",
				source, operational.FeedLost, seq, source).Error; err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

// MessageBefore returns the seq of the last message before the first that was sent at a time or later.
func (s *Store) MessageBefore(ctx context.Context, at time.Time) (seq int64, err error) {
	return table.Scalar[int64](s.Read.WithContext(ctx), "SELECT coalesce((SELECT seq - 1 FROM messages WHERE created_at >= ? ORDER BY seq LIMIT 1), {last messages}, 0)", table.Millis(at))
}

func putFeedRuns(tx *gorm.DB, runs []operational.FeedRun) error {
	for i := range runs {
		if err := feedRuns.Put(tx, &runs[i], "first"); err != nil {
			return err
		}
	}
	return nil
}

// CutFeed gives up the numbers that stand for rows of a log beyond its end,
// so that they do not come to stand for others when the log grows again. No
// number is given twice.
func (s *Store) CutFeed(ctx context.Context, source operational.FeedSource, end int64) error {
	return s.Commit.Write(ctx, func(tx *gorm.DB) error {
		rows, err := feedRuns.List(tx, "WHERE source = ? AND start + count - 1 > ? ORDER BY first", string(source), end)
		if err != nil {
			return err
		}
		for _, row := range rows {
			kept := max(end-row.Start+1, 0)
			if kept == 0 {
				if err := tx.Exec("UPDATE feed_runs SET source = ? WHERE first = ?", operational.FeedLost, row.First).Error; err != nil {
					return err
				}
				continue
			}
			lost := operational.FeedRun{First: row.First + kept, Count: row.Count - kept, Source: operational.FeedLost, Start: row.Start + kept}
			row.Count = kept
			if err := putFeedRuns(tx, []operational.FeedRun{row, lost}); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}
