package feed

import (
	"context"
	"slices"

	"github.com/skillrouter/skillrouter/operational"
)

// Bounds of one page of the feed's tables.
const (
	pageRows = 500 // of each log
	pageRuns = 512
)

// page reads events after a number from the logs, and tells up to which
// number it has looked: at most through, and beyond after if that is less.
func (f *Feed) page(ctx context.Context, after, through int64, rows int) (items []*Item, seen int64, err error) {
	if after >= through {
		return nil, after, nil
	}
	runs, err := f.journal.FeedRuns(ctx, after+1, pageRuns)
	if err != nil {
		return nil, after, err
	}
	if len(runs) == 0 {
		return nil, through, nil
	}
	seen = min(runs[len(runs)-1].Last(), through)
	if len(runs) < pageRuns {
		seen = through
	}
	for _, s := range f.sources {
		found, upTo, err := s.numbered(ctx, runs, after, rows)
		if err != nil {
			return nil, after, err
		}
		items, seen = append(items, found...), min(seen, upTo)
	}
	slices.SortFunc(items, func(a, b *Item) int { return int(min(max(a.Seq-b.Seq, -1), 1)) })
	for len(items) > 0 && items[len(items)-1].Seq > seen {
		items = items[:len(items)-1]
	}
	return items, seen, nil
}

// numbered reads the rows of one log that the numbers of runs after a number
// stand for. It reads them at once, however many runs they lie in, and tells
// up to which number they are all that there are.
func (s source) numbered(ctx context.Context, runs []operational.FeedRun, after int64, limit int) ([]*Item, int64, error) {
	own := make([]operational.FeedRun, 0, len(runs))
	for _, run := range runs {
		if run.Source != s.name || run.Last() <= after {
			continue
		}
		if skip := after + 1 - run.First; skip > 0 {
			run.First, run.Start, run.Count = run.First+skip, run.Start+skip, run.Count-skip
		}
		own = append(own, run)
	}
	if len(own) == 0 {
		return nil, Now, nil
	}
	events, err := s.log.Events(ctx, own[0].Start-1, limit)
	if err != nil {
		return nil, after, err
	}
	items := make([]*Item, 0, len(events))
	at := 0
	for _, e := range events {
		for at < len(own) && own[at].End() < e.Seq {
			at++
		}
		if at == len(own) {
			return items, Now, nil // the log goes on, and the runs do not
		}
		if e.Seq >= own[at].Start {
			items = append(items, newItem(s.name, own[at].First+e.Seq-own[at].Start, e))
		}
	}
	if len(events) < limit {
		return items, Now, nil
	}
	if len(items) == 0 { // rows that no run has: a log was replaced by another copy of itself
		return nil, own[at].First - 1, nil
	}
	return items, items[len(items)-1].Seq, nil
}
