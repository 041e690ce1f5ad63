// Package reminder watches for what reminders wait for: events, conditions on facts, facts that expire, agents that
// come. The reminders themselves, and when they are due by time, are operational's.
package reminder

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
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
// time: it follows the event logs of both databases and the signals, judges
// conditions over facts, and makes a reminder of each fact that expires and
// says how it can be verified, which it ends when that was done. What it has handled is handled again after a
// kill, to no effect: a reminder comes due by its state, and is made by its key.
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
			if err := w.factChanged(ctx, e); err != nil {
				return false, err
			}
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

// factChanged has conditions judged again, and makes
// a reminder of a fact that expired and can be verified; such reminders it ends, too.
func (w *Watch) factChanged(ctx context.Context, e eventlog.Event) error {
	var f fact.Event
	if err := json.Unmarshal(e.Data, &f); err != nil {
		w.log.Error("an event of a fact cannot be read and is passed over", "seq", e.Seq, "type", e.Type, "error", err)
		return nil
	}
	w.changed.Ring()
	if err := settle(ctx, w.ports.Reminders, e, f); err != nil {
		return err
	}
	if e.Type != fact.EventExpired || f.Probe == "" {
		return nil
	}
	_, err := w.ports.Reminders.Schedule(ctx, probe(f, e))
	switch errs.CodeOf(err) {
	case errs.Invalid, errs.TooLarge, errs.Conflict:
		w.log.Warn("no reminder was made of a fact that expired", "persona", f.Persona, "key", f.Key, "error", err)
		return nil
	}
	return err
}

// Bounds of what a probe's reminder repeats, in bytes; its context has the whole.
const (
	maxTaskKey   = 200
	maxTaskProbe = 1 << 10
)

// probe asks to verify a fact: of who stored it, or of whoever works
// for its persona. The router itself never runs a probe.
func probe(fact fact.Event, e eventlog.Event) operational.ReminderDraft {
	// Marshalling strings, numbers and times of this era cannot fail.
	content, _ := json.Marshal(map[string]any{
		"persona": fact.Persona, "key": fact.Key, "category": fact.Category, "version": fact.Version, "ttl": fact.TTL,
		"expired_at": fact.ExpiresAt, "probe": fact.Probe,
	})
	draft := operational.ReminderDraft{
		Persona: fact.Persona,
		Task: "Verify the fact " + check.Clip(fact.Key, maxTaskKey) + ": it has expired. Run or open its probe (" + check.Clip(fact.Probe, maxTaskProbe) +
			"), then store what it says, by call_tool with remember_fact, and complete this task.",
		Trigger: "time:+0s", Context: content,
		IdempotencyKey: probeKeys(e.Subject) + strconv.FormatInt(fact.Version, 10),
	}
	if check.AgentID("agent_id", e.Agent) == nil {
		draft.CreatedBy = e.Agent
	}
	return draft
}

// settle ends the reminders of older versions of a fact: what was to be verified was
// stored again, or is gone. An event that is handled again, after a kill, ends
// no reminder of a version that came after it.
func settle(ctx context.Context, reminders *operational.Reminders, e eventlog.Event, f fact.Event) error {
	status, note := operational.ReminderCompleted, fmt.Sprintf("The fact was stored again, as version %d.", f.Version)
	switch e.Type {
	case fact.EventStored, fact.EventUpdated:
	case fact.EventDeleted:
		status, note = operational.ReminderCancelled, "The fact was deleted."
	default:
		return nil
	}
	return reminders.Settle(ctx, probeKeys(e.Subject), status, note, func(r operational.Reminder) bool {
		var of probeContext // another's, if somebody else made it under a key like ours
		if json.Unmarshal(r.Context, &of) != nil || fact.ID(of.Persona, of.Key) != e.Subject {
			return false
		}
		return of.Version < f.Version || of.Version == f.Version && e.Type == fact.EventDeleted
	})
}

// probeContext is what settle reads of a probe's reminder.
type probeContext struct {
	Persona string `json:"persona"`
	Key     string `json:"key"`
	Version int64  `json:"version"`
}

// probeKeys is how the idempotency keys of a fact's reminders begin; its
// version follows. A key may be as long as a fact's, and an idempotency key not.
func probeKeys(factID string) string {
	return fmt.Sprintf("fact.expired:%x:", sha256.Sum256([]byte(factID)))
}
