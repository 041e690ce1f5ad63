package feed

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/principal"
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
