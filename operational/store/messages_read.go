package store

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/operational"
)

// MessageLog returns what the query selects, the latest first, and the seq
// before which the next page begins; 0: there is nothing before it. A thread
// has its index; everything else is looked through by seq, as far as Reach.
func (s *Store) MessageLog(ctx context.Context, q operational.LogQuery) ([]operational.Message, int64, error) {
	before := q.Before
	if last, err := s.LastSeq(ctx); err != nil {
		return nil, 0, err
	} else if before == 0 || before > last+1 {
		before = last + 1
	}
	floor := int64(0)
	text, args := "WHERE seq < ?", []any{before}
	if q.Thread != "" {
		text, args = text+" AND thread_id <> '' AND thread_id = ?", append(args, q.Thread)
	} else if q.Agent != "" || q.Signal != "" {
		floor = max(before-int64(q.Reach), 0)
		text, args = text+" AND seq >= ?", append(args, floor)
	}
	switch {
	case q.Agent != "" && q.Kind:
		from, more := ofAgent("from_agent", q.Agent)
		to, _ := ofAgent("{unindexed}to_agent", q.Agent)
		text, args = text+" AND ("+from+" OR "+to+" OR {unindexed}to_agent = '')", append(append(args, more...), more...)
	case q.Agent != "":
		text, args = text+" AND (from_agent = ? OR {unindexed}to_agent = ? OR {unindexed}to_agent = '')", append(args, q.Agent, q.Agent)
	}
	if q.Signal != "" {
		text, args = text+" AND {unindexed}signal = ?", append(args, q.Signal)
	}
	found, err := messages.List(s.Read.WithContext(ctx), text+" ORDER BY seq DESC LIMIT ?", append(args, q.Limit+1)...)
	if len(found) > q.Limit {
		found = found[:q.Limit]
		return found, found[q.Limit-1].Seq, err
	}
	if floor <= 1 { // seqs begin with 1
		floor = 0
	}
	return defaults.List(found), floor, err
}
