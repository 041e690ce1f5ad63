package table

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/eventlog"
)

// MaxEvents bounds one answer of Events.
const MaxEvents = 1000

// events is the log that each database keeps of what was changed in it.
var events = Listed("events", []string{"seq", "type", "subject", "agent_id", "project", "at", "data"}, func(e *eventlog.Event) []any {
	return []any{&e.Seq, &e.Type, &e.Subject, &e.Agent, &e.Project, At(&e.At), (*[]byte)(&e.Data)}
})

// AppendEvents writes events, in their order, into the transaction of the change that they tell of.
func AppendEvents(tx *gorm.DB, list ...eventlog.Event) error {
	numbers := committer.NumbersOf(tx.Statement.Context)
	return InsertOr(tx, "", events.name, namesOf(events.described().columns), len(list), func(i int, row []any) []any {
		e := &list[i]
		var data any
		if len(e.Data) > 0 {
			data = string(e.Data)
		}
		return append(row, numbers.Next("events"), e.Type, e.Subject, e.Agent, e.Project, Millis(e.At), data)
	})
}

// Log reads the events of a database, and tells of new ones.
type Log struct {
	Read   *gorm.DB
	Commit *committer.Committer[*gorm.DB]
	bell   committer.Bell
}

// EventBell rings after each commit that wrote an event.
func (l *Log) EventBell() *committer.Bell { return &l.bell }

// Events returns up to limit events after seq, in order.
func (l *Log) Events(ctx context.Context, after int64, limit int) ([]eventlog.Event, error) {
	return events.List(l.Read.WithContext(ctx), "WHERE seq > ? ORDER BY seq LIMIT ?", after, min(limit, MaxEvents))
}

// LastEvent returns the seq of the newest event, 0 if there is none.
func (l *Log) LastEvent(ctx context.Context) (int64, error) {
	return Scalar[int64](l.Read.WithContext(ctx), "SELECT coalesce(max(seq), 0) FROM events")
}

// FirstEvent returns the seq of the oldest event, 0 if there is none.
func (l *Log) FirstEvent(ctx context.Context) (int64, error) {
	return Scalar[int64](l.Read.WithContext(ctx), "SELECT coalesce(min(seq), 0) FROM events")
}

// EventTime returns when the first event of at least this seq was; false: there is none.
func (l *Log) EventTime(ctx context.Context, seq int64) (when time.Time, found bool, err error) {
	found, err = One(l.Read.WithContext(ctx), []any{At(&when)}, "SELECT at FROM events WHERE seq >= ? ORDER BY seq LIMIT 1", seq)
	return when, found, err
}

// PastEvents returns what the query selects, the newest first, and the seq before which the next page begins;
// 0: there is nothing before it.
func (l *Log) PastEvents(ctx context.Context, q eventlog.Query) (found []eventlog.Event, next int64, err error) {
	if q.Before == 0 {
		if q.Before, err = l.LastEvent(ctx); err != nil {
			return nil, 0, err
		}
		q.Before++
	}
	first, err := l.FirstEvent(ctx)
	if err != nil {
		return nil, 0, err
	}
	q.After = max(q.After, first-1)
	floor := max(q.Before-int64(q.Reach), q.After+1, 1)
	var c Conditions
	c.Add("seq >= ? AND seq < ?", floor, q.Before)
	c.Equal("agent_id", q.Agent)
	c.Equal("project", q.Project)
	either, args := "", []any{}
	for _, one := range q.Types {
		if strings.HasSuffix(one, ".") {
			either, args = either+" OR type >= ? AND type < ?", append(args, one, Behind(one))
		} else {
			either, args = either+" OR type = ?", append(args, one)
		}
	}
	if either != "" {
		c.Add("("+either[len(" OR "):]+")", args...)
	}
	found, err = events.List(l.Read.WithContext(ctx), c.Text+" ORDER BY seq DESC LIMIT ?", c.With(q.Limit)...)
	switch {
	case err != nil:
		return nil, 0, err
	case len(found) == q.Limit:
		return found, found[len(found)-1].Seq, nil
	case floor <= q.After+1: // seqs begin with 1
		return found, 0, nil
	}
	return found, floor, nil
}

// SweepEvents removes up to limit of the oldest events, which are from before a time and not behind a seq. The newest stays: the next is numbered by it.
func (l *Log) SweepEvents(ctx context.Context, through int64, before time.Time, limit int) (removed int, err error) {
	err = l.Commit.Write(committer.Essential(ctx), func(tx *gorm.DB) error {
		n, last, err := Oldest(tx, "SELECT seq, at FROM events WHERE seq <= ? AND seq < (SELECT max(seq) FROM events) ORDER BY seq LIMIT ?", before, through, limit)
		if removed = n; err == nil && n > 0 {
			_, err = Exec(tx, "DELETE FROM events WHERE seq <= ?", last)
		}
		return err
	}, nil)
	return removed, err
}

// Oldest counts the rows at the beginning of those that a query chooses, with their numbers and times, which are from before a time, and returns the
// last number of them.
func Oldest(tx *gorm.DB, choose string, before time.Time, args ...any) (n int, last int64, err error) {
	type row struct {
		number int64
		at     time.Time
	}
	rows, err := List(tx, func(r *row) []any { return []any{&r.number, At(&r.at)} }, choose, args...)
	for n < len(rows) && rows[n].at.Before(before) {
		last = rows[n].number
		n++
	}
	return n, last, err
}

// DeleteRows runs a statement that deletes, and counts what it deleted.
func (l *Log) DeleteRows(ctx context.Context, statement string, args ...any) (gone int64, err error) {
	err = l.Commit.Write(ctx, func(tx *gorm.DB) (err error) {
		gone, err = Affected(Exec(tx, statement, args...))
		return err
	}, nil)
	return gone, err
}

// FindIDs are what finds ids in tables by their beginning or end, by what people call what is in them.
func (l *Log) FindIDs(tables map[string]string) map[string]func(ctx context.Context, part string, most int) ([]string, error) {
	finds := map[string]func(ctx context.Context, part string, most int) ([]string, error){}
	for name, table := range tables {
		finds[name] = IDs(l.Read, table)
	}
	return finds
}
