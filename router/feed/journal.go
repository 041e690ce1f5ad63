package feed

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/follow"
)

// Feed is the Service. It numbers what happens in three logs on one line.
// What a number stands for is written to a journal before anybody is told of
// it, a row for each gathering of a log and not for each event; the events
// stay where they are, and are read from there.
type Feed struct {
	journal Journal
	ports   Ports
	sources []source
	log     *slog.Logger
	bell    committer.Bell

	mu      sync.RWMutex
	last    operational.FeedRun               // the journal's last run
	ends    map[operational.FeedSource]int64  // the last seq of each log that has a number
	loaded  bool                              // last and ends are what the journal says
	tail    tail                              // the newest events, while somebody follows
	readers atomic.Int64                      // how many follow
	pages   chan struct{}                     // who reads the tables; see tableReads
	logs    map[operational.FeedSource]source // of sources
}

// source is one of the logs.
type source struct {
	name operational.FeedSource
	log  follow.EventLog
}

// Journal keeps what the feed's numbers stand for; the operational store does.
type Journal interface {
	// FeedEnds returns the last run and the last run of each log.
	FeedEnds(ctx context.Context) (last operational.FeedRun, ends map[operational.FeedSource]operational.FeedRun, err error)
	// FeedRuns returns runs in order, from the one that holds a number on.
	FeedRuns(ctx context.Context, from int64, limit int) ([]operational.FeedRun, error)
	// AppendFeed adds runs durably; the last one may come again with a greater count.
	AppendFeed(ctx context.Context, runs []operational.FeedRun) error
	// CutFeed gives up the numbers of rows beyond the end of a log.
	CutFeed(ctx context.Context, source operational.FeedSource, end int64) error
	// SweepFeed removes the runs that end with a seq of their log that is not behind through, but never the last of a log.
	SweepFeed(ctx context.Context, through map[operational.FeedSource]int64) error
	// Followed returns the seq up to which all who follow a log have come, of those whose cursors have names that end with a suffix.
	Followed(ctx context.Context, suffix string) (seq int64, err error)
	// MessageBefore returns the seq of the last message before the first that was sent at a time or later.
	MessageBefore(ctx context.Context, at time.Time) (seq int64, err error)
}

// Ports are what a Feed reads and writes.
type Ports struct {
	Journal     Journal
	Learning    Log             // learning.db
	Operational Log             // operational.db
	Messages    follow.EventLog // of type operational.EventMessageSent
	Now         clock.Clock
	Keep        time.Duration // how long events are kept; 0: for ever
}

const (
	// gather is how long the feed waits after a gathering before the next: so long an
	// event may wait for its number under load, and so many fewer rows the journal has.
	gather = 20 * time.Millisecond
	// tableReads bounds how many read the feed's tables at the same time: there are
	// four reading connections for everything, and a thousand clients may come back at once.
	tableReads = 2
)

// New makes a Feed that goes on where the journal ends. Run must be
// started for it to grow.
func New(ctx context.Context, ports Ports, log *slog.Logger) (*Feed, error) {
	log, ports.Now = defaults.Log(log), ports.Now.Given()
	f := &Feed{
		journal: ports.Journal, ports: ports, log: log, pages: make(chan struct{}, tableReads), logs: map[operational.FeedSource]source{},
		sources: []source{
			{operational.FeedLearning, ports.Learning}, {operational.FeedOperational, ports.Operational}, {operational.FeedMessages, ports.Messages},
		},
	}
	for _, s := range f.sources {
		f.logs[s.name] = s
	}
	return f, f.load(ctx)
}

// load reads the journal's end. A log that ends before what has a number was
// replaced by an older copy of itself; then its numbers are given up.
func (f *Feed) load(ctx context.Context) error {
	last, ends, err := f.journal.FeedEnds(ctx)
	if err != nil {
		return err
	}
	known := map[operational.FeedSource]int64{}
	for _, s := range f.sources {
		end, err := s.log.LastEvent(ctx)
		if err != nil {
			return err
		}
		if run, ok := ends[s.name]; ok {
			known[s.name] = run.End()
		}
		if known[s.name] <= end {
			continue
		}
		f.log.Warn("a log ends before what the feed told of it; its numbers are given up", "log", s.name, "told", known[s.name], "end", end)
		if err := f.journal.CutFeed(ctx, s.name, end); err != nil {
			return err
		}
		if last, _, err = f.journal.FeedEnds(ctx); err != nil {
			return err
		}
		known[s.name] = end
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last, f.ends, f.loaded = last, known, true
	f.tail.reset(f.end())
	return nil
}

// end is the last number; f.mu is held.
func (f *Feed) end() int64 {
	if f.last.Count == 0 {
		return 0
	}
	return f.last.Last()
}

// End returns the last number that was announced, 0 before the first.
func (f *Feed) End() int64 {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.end()
}

// Ends returns the last seq of each log that was announced.
func (f *Feed) Ends() map[operational.FeedSource]int64 {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return maps.Clone(f.ends)
}

// FeedBell implements Service.
func (f *Feed) FeedBell() *committer.Bell { return &f.bell }

// Run gives numbers to what happens until ctx ends, and returns nil.
func (f *Feed) Run(ctx context.Context) error {
	var sweeping sync.WaitGroup
	sweeping.Go(func() { f.sweeping(ctx) })
	defer sweeping.Wait()
	for {
		rung := make([]<-chan struct{}, len(f.sources))
		for i, s := range f.sources {
			rung[i] = s.log.EventBell().Wait()
		}
		// An event that comes alone is told of at once; what follows it waits for the next gathering.
		pace := time.NewTimer(gather)
		if err := f.step(ctx); err != nil && ctx.Err() == nil {
			f.log.Error("the feed cannot go on; trying again", "after", f.End(), "error", err)
			pace.Reset(follow.RetryAfter)
		} else if ctx.Err() == nil {
			select {
			case <-rung[0]:
			case <-rung[1]:
			case <-rung[2]:
			case <-ctx.Done():
			}
		}
		select {
		case <-pace.C:
		case <-ctx.Done():
			pace.Stop()
			return nil
		}
	}
}

// step numbers what the logs have that has no number yet, and announces it.
func (f *Feed) step(ctx context.Context) error {
	if !f.loaded { // what failed may have been stored all the same
		if err := f.load(ctx); err != nil {
			return err
		}
		f.bell.Ring()
	}
	runs, ends, err := f.gather(ctx)
	if err != nil || len(runs) == 0 {
		return err
	}
	if err := f.journal.AppendFeed(ctx, runs); err != nil {
		f.loaded = false
		return err
	}
	f.announce(ctx, runs[len(runs)-1], ends)
	f.bell.Ring()
	return nil
}

// gather returns the runs that take up what the logs hold beyond what has a
// number. It looks at no event: only at where each log ends.
func (f *Feed) gather(ctx context.Context) ([]operational.FeedRun, map[operational.FeedSource]int64, error) {
	var runs []operational.FeedRun
	last, ends := f.last, map[operational.FeedSource]int64{}
	for _, s := range f.sources {
		end, err := s.log.LastEvent(ctx)
		if err != nil {
			return nil, nil, err
		}
		known := f.ends[s.name]
		ends[s.name] = max(known, end)
		if end <= known {
			continue
		}
		if last.Source == s.name && last.Count > 0 && last.End() == known {
			last.Count += end - known // the same row of the journal grows
		} else {
			last = operational.FeedRun{First: last.First + last.Count, Count: end - known, Source: s.name, Start: known + 1}
			last.First = max(last.First, 1)
		}
		if n := len(runs); n > 0 && runs[n-1].First == last.First {
			runs[n-1] = last
		} else {
			runs = append(runs, last)
		}
	}
	return runs, ends, nil
}
