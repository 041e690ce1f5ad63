package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"gorm.io/gorm"

	"skillrouter/internal/committer"
	"skillrouter/internal/eventlog"
	"skillrouter/operational"
)

// PastEvents returns what the query selects, the newest first, and the seq before which the next page begins;
// 0: there is nothing before it.
func (s *Store) PastEvents(ctx context.Context, q eventlog.Query) (events []eventlog.Event, next int64, err error) {
	if q.Before == 0 {
		if q.Before, err = s.LastEvent(ctx); err != nil {
			return nil, 0, err
		}
		q.Before++
	}
	first, err := s.FirstEvent(ctx)
	if err != nil {
		return nil, 0, err
	}
	q.After = max(q.After, first-1)
	floor := max(q.Before-int64(q.Reach), q.After+1, 1)
	read := s.read.WithContext(ctx).Where("seq >= ? AND seq < ?", floor, q.Before)
	read = given(read, "agent_id = ?", q.Agent)
	read = given(read, "project = ?", q.Project)
	if len(q.Types) > 0 {
		either := s.read
		for _, one := range q.Types {
			if group, ok := strings.CutSuffix(one, "."); ok {
				either = either.Or("type >= ? AND type < ?", group+".", group+"/") // "/" is the sign behind "."
			} else {
				either = either.Or("type = ?", one)
			}
		}
		read = read.Where(either)
	}
	var rows []eventRow
	if err := read.Order("seq DESC").Limit(q.Limit).Find(&rows).Error; err != nil {
		return nil, 0, err
	}
	for _, r := range rows {
		events = append(events, r.event())
	}
	switch {
	case len(rows) == q.Limit:
		return events, rows[len(rows)-1].Seq, nil
	case floor <= q.After+1: // seqs begin with 1
		return events, 0, nil
	}
	return events, floor, nil
}

// EventTime returns when the first event of at least this seq was; false: there is none.
func (s *Store) EventTime(ctx context.Context, seq int64) (at time.Time, found bool, err error) {
	return s.firstTime(ctx, "SELECT at FROM events WHERE seq >= ? ORDER BY seq LIMIT 1", seq)
}

// MessageTime is the same of messages.
func (s *Store) MessageTime(ctx context.Context, seq int64) (at time.Time, found bool, err error) {
	return s.firstTime(ctx, "SELECT created_at FROM messages WHERE seq >= ? ORDER BY seq LIMIT 1", seq)
}

func (s *Store) firstTime(ctx context.Context, query string, seq int64) (at time.Time, found bool, err error) {
	var times []int64
	err = s.read.WithContext(ctx).Raw(query, seq).Scan(&times).Error
	if err != nil || len(times) == 0 {
		return at, false, err
	}
	return fromMillis(times[0]), true, nil
}

func (r eventRow) event() eventlog.Event {
	e := eventlog.Event{Seq: r.Seq, Type: r.Type, Subject: r.Subject, Agent: r.AgentID, Project: r.Project, At: fromMillis(r.At)}
	if r.Data != nil {
		e.Data = json.RawMessage(*r.Data)
	}
	return e
}

// feedRunRow is a row of the feed's journal.
type feedRunRow struct {
	First  int64
	Source operational.FeedSource
	Start  int64
	Count  int64
}

func (r feedRunRow) run() operational.FeedRun {
	return operational.FeedRun{First: r.First, Count: r.Count, Source: r.Source, Start: r.Start}
}

// FeedEnds returns the feed's last run and the last run of each log; a run
// that is not there is the zero one.
func (s *Store) FeedEnds(ctx context.Context) (last operational.FeedRun, ends map[operational.FeedSource]operational.FeedRun, err error) {
	var rows []feedRunRow
	read := s.read.WithContext(ctx)
	if err := read.Raw("SELECT first, source, start, count FROM feed_runs ORDER BY first DESC LIMIT 1").Scan(&rows).Error; err != nil || len(rows) == 0 {
		return last, nil, err
	}
	last, ends = rows[0].run(), map[operational.FeedSource]operational.FeedRun{}
	for _, source := range []operational.FeedSource{operational.FeedLearning, operational.FeedOperational, operational.FeedMessages} {
		rows = nil
		if err := read.Raw("SELECT first, source, start, count FROM feed_runs WHERE source = ? ORDER BY first DESC LIMIT 1", source).Scan(&rows).Error; err != nil {
			return last, nil, err
		}
		if len(rows) > 0 {
			ends[source] = rows[0].run()
		}
	}
	return last, ends, nil
}

// FeedRuns returns up to limit runs in order, from the one that holds a number on.
func (s *Store) FeedRuns(ctx context.Context, from int64, limit int) ([]operational.FeedRun, error) {
	return listOf(s.read.WithContext(ctx).Raw(`SELECT first, source, start, count FROM feed_runs
		WHERE first >= coalesce((SELECT max(first) FROM feed_runs WHERE first <= ?), 0) AND first + count > ? ORDER BY first LIMIT ?`, from, from, limit), feedRunRow.run)
}

// AppendFeed adds runs to the end of the journal. A run that is there already
// may come again with a greater count. Nothing is announced: a row of the
// journal is no event.
func (s *Store) AppendFeed(ctx context.Context, runs []operational.FeedRun) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error { return putFeedRuns(tx, runs) }, nil)
}

// SweepFeed removes the runs that end with a seq of their log that is not behind through. The last of each log stays: the next is numbered by it.
func (s *Store) SweepFeed(ctx context.Context, through map[operational.FeedSource]int64) error {
	return s.commit.Write(committer.Essential(ctx), func(tx *gorm.DB) error {
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
	err = s.read.WithContext(ctx).Raw("SELECT coalesce((SELECT seq - 1 FROM messages WHERE created_at >= ? ORDER BY seq LIMIT 1), {last messages}, 0)", millis(at)).Scan(&seq).Error
	return seq, err
}

func putFeedRuns(tx *gorm.DB, runs []operational.FeedRun) error {
	for _, r := range runs {
		if err := tx.Exec("INSERT INTO feed_runs (first, source, start, count) VALUES (?, ?, ?, ?) ON CONFLICT (first) DO UPDATE SET count = excluded.count",
			r.First, r.Source, r.Start, r.Count).Error; err != nil {
			return err
		}
	}
	return nil
}

// CutFeed gives up the numbers that stand for rows of a log beyond its end,
// so that they do not come to stand for others when the log grows again. No
// number is given twice.
func (s *Store) CutFeed(ctx context.Context, source operational.FeedSource, end int64) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		var rows []feedRunRow
		if err := tx.Raw("SELECT first, source, start, count FROM feed_runs WHERE source = ? AND start + count - 1 > ? ORDER BY first", source, end).Scan(&rows).Error; err != nil {
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
			if err := putFeedRuns(tx, []operational.FeedRun{row.run(), lost}); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}
