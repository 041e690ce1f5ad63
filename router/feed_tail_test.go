package router_test

import (
	"context"
	"fmt"
	"testing"

	"skillrouter"
	"skillrouter/router"
)

// readLog is a log that counts how often its table is read, and lets a test
// look around while it is.
type readLog struct {
	router.EventLog
	reads  int
	during func()
}

func (l *readLog) Events(ctx context.Context, after int64, limit int) ([]skillrouter.Event, error) {
	l.reads++
	if l.during != nil {
		l.during()
	}
	return l.EventLog.Events(ctx, after, limit)
}

// TestFeedTellsFollowersFromMemory has many who follow: nobody learns of an
// event before it is in memory, and then it is read from the table once for
// all of them. Were the end announced first, they would all read the table.
func TestFeedTellsFollowersFromMemory(t *testing.T) {
	b := openBorder(t)
	ports := b.feedPorts()
	table := &readLog{EventLog: ports.Operational}
	ports.Operational = table
	feed, err := router.NewFeed(t.Context(), ports, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := as(t, skillrouter.ScopeCaptain, "")
	if err := router.StepFeed(ctx, feed); err != nil { // what opening the databases wrote
		t.Fatal(err)
	}
	readers := make([]*router.FeedReader, 20)
	for i := range readers {
		if readers[i], err = feed.Follow(ctx, router.FeedQuery{After: router.FeedNow}); err != nil {
			t.Fatal(err)
		}
		defer readers[i].Close()
	}
	for round := range 5 {
		for _, reader := range readers {
			if items, err := reader.Take(ctx); err != nil || len(items) > 0 {
				t.Fatalf("before anything happened a reader takes %d events: %v", len(items), err)
			}
		}
		b.task(t, fmt.Sprint("task ", round))
		end, reads := feed.End(), table.reads
		looked := false
		table.during = func() {
			table.during, looked = nil, true
			if feed.End() != end {
				t.Errorf("the end is %d before the event is in memory, and was %d", feed.End(), end)
			}
			select {
			case <-readers[0].Ready():
				t.Error("the bell rang before the event is in memory")
			default:
			}
		}
		if err := router.StepFeed(ctx, feed); err != nil {
			t.Fatal(err)
		}
		if !looked || table.reads != reads+1 {
			t.Fatalf("the step read the table %d times, want once", table.reads-reads)
		}
		for i, reader := range readers {
			select {
			case <-reader.Ready():
			default:
				t.Fatalf("reader %d was not told", i)
			}
			items, err := reader.Take(ctx)
			if err != nil || len(items) == 0 || reader.Seen() != feed.End() {
				t.Fatalf("reader %d takes %d events up to %d of %d: %v", i, len(items), reader.Seen(), feed.End(), err)
			}
		}
		if table.reads != reads+1 {
			t.Fatalf("%d readers read the table %d times more", len(readers), table.reads-reads-1)
		}
	}
}

// TestFeedReadsNothingForNobody is the other side: without a follower a step
// looks at no event, and who comes later reads the table.
func TestFeedReadsNothingForNobody(t *testing.T) {
	b := openBorder(t)
	ports := b.feedPorts()
	table := &readLog{EventLog: ports.Operational}
	ports.Operational = table
	feed, err := router.NewFeed(t.Context(), ports, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := as(t, skillrouter.ScopeCaptain, "")
	b.task(t, "alone")
	if err := router.StepFeed(ctx, feed); err != nil {
		t.Fatal(err)
	}
	if table.reads != 0 {
		t.Errorf("the table was read %d times for nobody", table.reads)
	}
	reader, err := feed.Follow(ctx, router.FeedQuery{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if items, err := reader.Take(ctx); err != nil || len(items) == 0 || table.reads == 0 {
		t.Errorf("a late reader takes %d events in %d reads: %v", len(items), table.reads, err)
	}
}
