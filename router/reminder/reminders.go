// Package reminder watches for what reminders wait for: events, conditions on facts, agents that come. The reminders
// themselves, and when they are due by time, are operational's.
package reminder

import (
	"context"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/follow"
)

// Watch lets reminders come due that wait for something else than the
// time: it follows the event logs of both databases and the signals, and judges
// conditions over facts. What it has handled is handled again after a
// kill, to no effect: a reminder comes due by its state.
type Watch struct {
	ports     Ports
	log       *slog.Logger
	now       clock.Clock
	followers []*follow.Follower
	changed   committer.Bell // facts have
}

// Ports are what a Watch reads and writes.
type Ports struct {
	Reminders   *operational.Reminders
	Cursors     follow.Cursors
	Learning    follow.EventLog // learning.db
	Operational follow.EventLog // operational.db
	Signals     follow.EventLog // the messages
	Episodes    interface {
		Episodes(ctx context.Context, ids []string) ([]episode.Episode, error)
	}
	Facts interface {
		Fact(ctx context.Context, persona, key string) (fact.Fact, bool, error)
	}
}

// NewWatch makes a Watch that stands where the last one ended.
// The first one of a data folder begins with what happens next.
func NewWatch(ctx context.Context, ports Ports, now clock.Clock, log *slog.Logger) (*Watch, error) {
	log = defaults.Log(log)
	w := &Watch{ports: ports, log: log, now: now}
	add := func(name string, events follow.EventLog, handle func(ctx context.Context, events []eventlog.Event, cursor operational.Cursor) (bool, error)) {
		w.followers = append(w.followers, &follow.Follower{Name: name, Log: events, Cursors: ports.Cursors, Logger: log, Handle: handle})
	}
	add("reminders.learning", ports.Learning, w.learned)
	add("reminders.operational", awaitedLog{ports.Operational, ports.Reminders}, w.hears(operational.SourceOperational))
	add("reminders.signals", awaitedLog{ports.Signals, ports.Reminders}, w.hears(operational.SourceSignals))
	for _, f := range w.followers {
		if err := f.Begin(ctx, f.Log.LastEvent); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Run watches until ctx ends, and returns nil.
func (w *Watch) Run(ctx context.Context) error {
	ctx = principal.With(ctx, principal.System())
	var all errgroup.Group
	for _, f := range w.followers {
		all.Go(func() error { return f.Run(ctx) })
	}
	all.Go(func() error { return w.judge(ctx) })
	return all.Wait()
}

// awaitedLog is a log of which nothing is read while no reminder waits for an
// event: under load there are thousands of them in a second.
type awaitedLog struct {
	follow.EventLog
	reminders *operational.Reminders
}

// Events implements follow.EventLog. What was there before it was asked whether
// anybody waits is nothing that a reminder scheduled later would hear of.
func (l awaitedLog) Events(ctx context.Context, after int64, limit int) ([]eventlog.Event, error) {
	last, err := l.LastEvent(ctx)
	if err != nil || last <= after {
		return nil, err
	}
	any, err := l.reminders.AnyAwaited(ctx)
	if err != nil {
		return nil, err
	}
	if !any {
		return []eventlog.Event{{Seq: last}}, nil
	}
	return l.EventLog.Events(ctx, after, limit)
}

// hears handles events whose types are all that reminders wait for.
func (w *Watch) hears(source operational.EventSource) func(ctx context.Context, events []eventlog.Event, cursor operational.Cursor) (bool, error) {
	return func(ctx context.Context, events []eventlog.Event, _ operational.Cursor) (bool, error) {
		occurrences := make([]operational.Occurrence, 0, len(events))
		for _, e := range events {
			if e.Agent == router.MailAgent && source == operational.SourceSignals || e.Type == "" {
				continue // what the router itself sends tells of an event that is in a log
			}
			occurrences = append(occurrences, operational.Occurrence{Seq: e.Seq, Name: e.Type})
		}
		_, err := w.ports.Reminders.Hear(ctx, source, occurrences)
		return false, err
	}
}

// learned handles events of learning.db.
func (w *Watch) learned(ctx context.Context, events []eventlog.Event, _ operational.Cursor) (bool, error) {
	occurrences := make([]operational.Occurrence, 0, len(events))
	var episodes []string
	recorded := map[string]int64{}
	for _, e := range events {
		occurrences = append(occurrences, operational.Occurrence{Seq: e.Seq, Name: e.Type})
		switch e.Type {
		case learning.EventEpisodeRecorded:
			episodes = append(episodes, e.Subject)
			recorded[e.Subject] = e.Seq
		case fact.EventStored, fact.EventUpdated, fact.EventDeleted, fact.EventExpired:
			w.changed.Ring()
		}
	}
	any, err := w.ports.Reminders.AnyAwaited(ctx)
	if err != nil || !any {
		return false, err
	}
	if len(episodes) > 0 {
		found, err := w.ports.Episodes.Episodes(ctx, episodes)
		if err != nil {
			return false, err
		}
		for _, e := range found {
			if e.Event != "" {
				occurrences = append(occurrences, operational.Occurrence{Seq: recorded[e.ID], Name: e.Event})
			}
		}
	}
	_, err = w.ports.Reminders.Hear(ctx, operational.SourceLearning, occurrences)
	return false, err
}
