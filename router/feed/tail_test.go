package feed_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router/feed"
	"github.com/skillrouter/skillrouter/router/routertest/fixture"
)

// readLog is a log that counts how often its table is read, and lets a test
// look around while it is.
type readLog struct {
	feed.Log
	reads  int
	during func()
}

func (l *readLog) Events(ctx context.Context, after int64, limit int) ([]eventlog.Event, error) {
	l.reads++
	if l.during != nil {
		l.during()
	}
	return l.Log.Events(ctx, after, limit)
}

// TestTellsFollowersFromMemory has many who follow: nobody learns of an
// event before it is in memory, and then it is read from the table once for
// all of them. Were the end announced first, they would all read the table.
func TestTellsFollowersFromMemory(t *testing.T) {
	b := fixture.Open(t)
	ports := b.FeedPorts()
	table := &readLog{Log: ports.Operational}
	ports.Operational = table
	f, err := feed.New(t.Context(), ports, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := fixture.As(t, principal.ScopeCaptain, "")
	if err := feed.Step(ctx, f); err != nil { // what opening the databases wrote
		t.Fatal(err)
	}
	readers := make([]*feed.Reader, 20)
	for i := range readers {
		if readers[i], err = f.Follow(ctx, feed.Query{After: feed.Now}); err != nil {
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
		b.Task(t, fmt.Sprint("task ", round))
		end, reads := f.End(), table.reads
		looked := false
		table.during = func() {
			table.during, looked = nil, true
			if f.End() != end {
				t.Errorf("the end is %d before the event is in memory, and was %d", f.End(), end)
			}
			select {
			case <-readers[0].Ready():
				t.Error("the bell rang before the event is in memory")
			default:
			}
		}
		if err := feed.Step(ctx, f); err != nil {
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
			if err != nil || len(items) == 0 || reader.Seen() != f.End() {
				t.Fatalf("reader %d takes %d events up to %d of %d: %v", i, len(items), reader.Seen(), f.End(), err)
			}
		}
		if table.reads != reads+1 {
			t.Fatalf("%d readers read the table %d times more", len(readers), table.reads-reads-1)
		}
	}
}

// TestReadsNothingForNobody is the other side: without a follower a step
// looks at no event, and who comes later reads the table.
func TestReadsNothingForNobody(t *testing.T) {
	b := fixture.Open(t)
	ports := b.FeedPorts()
	table := &readLog{Log: ports.Operational}
	ports.Operational = table
	f, err := feed.New(t.Context(), ports, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := fixture.As(t, principal.ScopeCaptain, "")
	b.Task(t, "alone")
	if err := feed.Step(ctx, f); err != nil {
		t.Fatal(err)
	}
	if table.reads != 0 {
		t.Errorf("the table was read %d times for nobody", table.reads)
	}
	reader, err := f.Follow(ctx, feed.Query{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if items, err := reader.Take(ctx); err != nil || len(items) == 0 || table.reads == 0 {
		t.Errorf("a late reader takes %d events in %d reads: %v", len(items), table.reads, err)
	}
}
