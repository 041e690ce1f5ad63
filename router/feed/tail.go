package feed

import (
	"context"
	"slices"

	"github.com/skillrouter/skillrouter/operational"
)

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
