package store

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"skillrouter/internal/committer"
	"skillrouter/internal/eventlog"
)

// LastEvent returns the seq of the newest event, 0 if there is none.
func (s *Store) LastEvent(ctx context.Context) (int64, error) {
	return scalar[int64](s.read.WithContext(ctx), "SELECT coalesce(max(seq), 0) FROM events")
}

// SweepEvents removes up to limit of the oldest events, which are from before a time and not behind a seq. The newest stays: the next is numbered by it.
func (s *Store) SweepEvents(ctx context.Context, through int64, before time.Time, limit int) (removed int, err error) {
	err = s.commit.Write(committer.Essential(ctx), func(tx *gorm.DB) error {
		n, last, err := oldest(tx, "SELECT seq, at FROM events WHERE seq <= ? AND seq < (SELECT max(seq) FROM events) ORDER BY seq LIMIT ?", before, through, limit)
		if removed = n; err == nil && n > 0 {
			_, err = exec(tx, "DELETE FROM events WHERE seq <= ?", last)
		}
		return err
	}, nil)
	return removed, err
}

// FirstEvent returns the seq of the oldest event, 0 if there is none.
func (s *Store) FirstEvent(ctx context.Context) (int64, error) {
	return scalar[int64](s.read.WithContext(ctx), "SELECT coalesce(min(seq), 0) FROM events")
}

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
	var c conditions
	c.add("seq >= ? AND seq < ?", floor, q.Before)
	c.equal("agent_id", q.Agent)
	c.equal("project", q.Project)
	either, args := "", []any{}
	for _, one := range q.Types {
		if strings.HasSuffix(one, ".") {
			either, args = either+" OR type >= ? AND type < ?", append(args, one, behind(one))
		} else {
			either, args = either+" OR type = ?", append(args, one)
		}
	}
	if either != "" {
		c.add("("+either[len(" OR "):]+")", args...)
	}
	events, err = eventsOf(s.read.WithContext(ctx), c.text+" ORDER BY seq DESC LIMIT ?", append(c.args, q.Limit)...)
	switch {
	case err != nil:
		return nil, 0, err
	case len(events) == q.Limit:
		return events, events[len(events)-1].Seq, nil
	case floor <= q.After+1: // seqs begin with 1
		return events, 0, nil
	}
	return events, floor, nil
}

// EventTime returns when the first event of at least this seq was; false: there is none.
func (s *Store) EventTime(ctx context.Context, seq int64) (when time.Time, found bool, err error) {
	found, err = one(s.read.WithContext(ctx), []any{at(&when)}, "SELECT at FROM events WHERE seq >= ? ORDER BY seq LIMIT 1", seq)
	return when, found, err
}

// eventsOf reads events.
func eventsOf(db *gorm.DB, where string, args ...any) ([]eventlog.Event, error) {
	return list(db, func(e *eventlog.Event) []any {
		return []any{&e.Seq, &e.Type, &e.Subject, &e.Agent, &e.Project, at(&e.At), (*[]byte)(&e.Data)}
	}, "SELECT seq, type, subject, agent_id, project, at, data FROM events "+where, args...)
}
