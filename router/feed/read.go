package feed

import (
	"context"
	"slices"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// scan bounds how many events one answer passes over that the query does not ask for.
const scan = 4 * pageRows

// Feed implements Service. It needs ScopeRead. A page may be empty though
// there is more: it has looked at enough, and Seen is where to go on.
func (f *Feed) Feed(ctx context.Context, query Query) (Page, error) {
	page := Page{Events: []Event{}}
	filter, err := newFilter(principal.Of(ctx), query)
	if err != nil {
		return page, err
	}
	limit, err := check.Limit(query.Limit, DefaultLimit, MaxLimit)
	if err != nil {
		return page, err
	}
	end := f.End()
	page.Seen = min(query.After, end)
	for looked := 0; page.Seen < end && looked < scan; {
		items, seen, err := f.next(ctx, page.Seen)
		if err != nil {
			return page, err
		}
		looked += len(items) + 1
		for _, item := range items {
			if !filter.passes(item) {
				continue
			}
			if page.Events = append(page.Events, item.Event); len(page.Events) == limit {
				page.Seen, page.More = item.Seq, item.Seq < end
				return page, nil
			}
		}
		page.Seen = seen
	}
	page.More = page.Seen < end
	return page, nil
}

// next returns the events after a number, from memory if they are there and
// else a page of the tables, and up to which number they are all that there are.
func (f *Feed) next(ctx context.Context, after int64) ([]*Item, int64, error) {
	f.mu.RLock()
	items, covered := f.tail.after(after)
	last, end := f.tail.last, f.end()
	f.mu.RUnlock()
	if covered && (len(items) > 0 || last == end) {
		return items, max(last, after), nil
	}
	select {
	case f.pages <- struct{}{}:
	case <-ctx.Done():
		return nil, after, ctx.Err()
	}
	defer func() { <-f.pages }()
	return f.page(ctx, after, end, pageRows)
}

// Reader follows the feed for one client. Its methods are for one goroutine at a time.
type Reader struct {
	feed   *Feed
	filter filter
	cursor int64
	rung   <-chan struct{}
	closed bool
}

// Follow begins to follow the feed after query.After, as the caller of ctx:
// what that one may see is settled here. Limit does not count. The reader must be closed.
func (f *Feed) Follow(ctx context.Context, query Query) (*Reader, error) {
	filter, err := newFilter(principal.Of(ctx), query)
	if err != nil {
		return nil, err
	}
	f.readers.Add(1)
	return &Reader{feed: f, filter: filter, cursor: min(query.After, f.End())}, nil
}

// Take returns the next events in order without waiting; none means that
// there are no more until Ready is closed. The events are shared with others.
func (r *Reader) Take(ctx context.Context) ([]*Item, error) {
	r.rung = r.feed.bell.Wait()
	for r.cursor < r.feed.End() && ctx.Err() == nil {
		items, seen, err := r.feed.next(ctx, r.cursor)
		if err != nil {
			return nil, err
		}
		r.cursor = seen
		var kept []*Item // the items themselves are shared
		for _, item := range items {
			if r.filter.passes(item) {
				kept = append(kept, item)
			}
		}
		if len(kept) > 0 {
			return kept, nil
		}
	}
	return nil, ctx.Err()
}

// Ready is closed when there is more than the last Take saw.
func (r *Reader) Ready() <-chan struct{} { return r.rung }

// Close ends the reader. It may be called more than once.
func (r *Reader) Close() {
	if !r.closed {
		r.closed = true
		r.feed.readers.Add(-1)
	}
}

// Bounds of the feed's tail: what a client that fell behind for a few seconds
// under full load needs, and no more memory than that.
const (
	tailEvents = 4096
	tailBytes  = 4 << 20
)

// tail is the newest events in memory, in order: every one after floor up
// to last. Readers share the items.
type tail struct {
	items []*Item
	bytes int
	floor int64
	last  int64
}

// reset empties the tail, which then holds what comes after a number.
func (t *tail) reset(last int64) { *t = tail{floor: last, last: last} }

func (t *tail) append(items []*Item, seen int64) {
	t.items, t.last = append(t.items, items...), seen
	for _, item := range items {
		t.bytes += item.size()
	}
	drop := 0
	for ; drop < len(t.items) && (len(t.items)-drop > tailEvents || t.bytes > tailBytes); drop++ {
		t.bytes -= t.items[drop].size()
		t.floor = t.items[drop].Seq
	}
	t.items = t.items[drop:] // append moves the rest to a new array once this one is used up
}

// after returns what comes after a number, or false if the tail does not reach
// back so far. The items are shared and must stay as they are.
func (t *tail) after(seq int64) ([]*Item, bool) {
	if seq < t.floor {
		return nil, false
	}
	at, _ := slices.BinarySearchFunc(t.items, seq+1, func(item *Item, seq int64) int {
		return int(min(max(item.Seq-seq, -1), 1))
	})
	return t.items[at:len(t.items):len(t.items)], true
}

// announce makes runs known together with their events, if somebody follows:
// nobody sees an end that the tail does not reach, or all who follow would
// read the tables at once.
func (f *Feed) announce(ctx context.Context, last operational.FeedRun, ends map[operational.FeedSource]int64) {
	f.mu.RLock()
	from := f.tail.last
	f.mu.RUnlock()
	items, held := f.newest(ctx, from, last.Last())
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last, f.ends = last, ends
	if held {
		f.tail.append(items, last.Last())
	} else {
		f.tail.reset(last.Last())
	}
}

// newest reads the events after a number up to the end for the tail, or
// returns false if nobody follows, or the tail could not hold them.
func (f *Feed) newest(ctx context.Context, from, end int64) (items []*Item, held bool) {
	if end-from > tailEvents {
		return nil, false
	}
	for seen := from; seen < end; {
		if f.readers.Load() == 0 {
			return nil, false
		}
		page, upTo, err := f.page(ctx, seen, end, pageRows)
		if err != nil {
			f.log.Warn("the newest events cannot be kept in memory; they are read from the tables", "error", err)
			return nil, false
		}
		items, seen = append(items, page...), upTo
	}
	return items, true
}
