package operational

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/internal/redact"
)

// heardNames is the most names that are asked for at once.
const heardNames = 200

// Occurrence is something that happened, at its place in the log that tells of it.
type Occurrence struct {
	Seq  int64
	Name string
}

// awaited is what pending reminders wait for, kept in memory until that
// changes. While something is being scheduled it is read from the database: an
// event may be committed and read before its writer hears that its reminder is.
type awaited struct {
	mu     sync.Mutex
	known  *awaitedEvents
	turn   int // grows with each change
	coming int // reminders that are being scheduled
}

type awaitedEvents struct {
	names    map[string]bool
	patterns []string
}

// begin says that something is being scheduled, until end is called.
func (a *awaited) begin() (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.coming++
	a.known = nil
	a.turn++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.coming--
		a.turn++
	}
}

// changed says that something is waited for no more.
func (a *awaited) changed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known = nil
	a.turn++
}

// list returns what is waited for.
func (a *awaited) list(ctx context.Context, store ReminderStore) (*awaitedEvents, error) {
	a.mu.Lock()
	known, turn := a.known, a.turn
	a.mu.Unlock()
	if known != nil {
		return known, nil
	}
	texts, err := store.AwaitedEvents(ctx)
	if err != nil {
		return nil, err
	}
	known = &awaitedEvents{names: map[string]bool{}}
	for _, text := range texts {
		if isPattern(text) {
			known.patterns = append(known.patterns, text)
		} else {
			known.names[text] = true
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turn == turn && a.coming == 0 {
		a.known = known
	}
	return known, nil
}

// awaits returns what of it fits the occurrences, with the greatest place of each.
func (a *awaitedEvents) awaits(occurrences []Occurrence) map[string]int64 {
	found := map[string]int64{}
	tried := map[string][]string{} // patterns by name: names repeat
	for _, o := range occurrences {
		if strings.HasPrefix(o.Name, ownEvents) {
			continue
		}
		if a.names[o.Name] {
			found[o.Name] = max(found[o.Name], o.Seq)
		}
		fits, seen := tried[o.Name]
		if !seen {
			for _, pattern := range a.patterns {
				if fitsEvent(pattern, o.Name) {
					fits = append(fits, pattern)
				}
			}
			tried[o.Name] = fits
		}
		for _, pattern := range fits {
			found[pattern] = max(found[pattern], o.Seq)
		}
	}
	return found
}

// AnyAwaited tells whether any reminder waits for an event. It is the
// router's own, and asks for no right.
func (s *Reminders) AnyAwaited(ctx context.Context) (bool, error) {
	list, err := s.awaited.list(ctx, s.store)
	return err == nil && len(list.names)+len(list.patterns) > 0, err
}

// Hear makes the reminders due that wait for what happened in a log, and returns how many. A
// reminder does not wait for what happened before it was scheduled. After it has come due,
// the same events change nothing. It is for the router itself and checks no right.
func (s *Reminders) Hear(ctx context.Context, source EventSource, occurrences []Occurrence) (int, error) {
	list, err := s.awaited.list(ctx, s.store)
	if err != nil {
		return 0, err
	}
	return s.hear(ctx, Heard{Source: source, Awaits: list.awaits(occurrences)})
}

// hear lets come due what waits, in steps.
func (s *Reminders) hear(ctx context.Context, heard Heard) (fired int, err error) {
	defer func() {
		if fired > 0 {
			s.awaited.changed()
		}
	}()
	for names := range slices.Chunk(slices.Sorted(maps.Keys(heard.Awaits)), heardNames) {
		part := Heard{Source: heard.Source, Awaits: map[string]int64{}}
		for _, name := range names {
			part.Awaits[name] = heard.Awaits[name]
		}
		n := 0
		if err := s.fireAll(ctx, ReminderPick{Heard: &part, Limit: fireBatch}, false, &n); err != nil {
			return fired + n, err
		}
		fired += n
	}
	return fired, nil
}

// Happened implements ReminderService.
func (s *Reminders) Happened(ctx context.Context, happening Happening) (int, error) {
	p := principal.Of(ctx)
	if err := cmp.Or(p.Need(principal.ScopeAgent), checkEvent("name", happening.Name)); err != nil {
		return 0, err
	}
	if isPattern(happening.Name) {
		return 0, errs.InvalidField("name", "may not hold * or ?: it is the name of one event")
	}
	if _, err := p.ActingAs("agent_id", happening.AgentID); err != nil {
		return 0, err
	}
	if err := check.Name("project", happening.Project); err != nil {
		return 0, err
	}
	if _, err := cleanContext(new(redact.Redaction), happening.Data); err != nil {
		return 0, errs.InvalidField("data", "must be a JSON object of at most %d bytes", MaxReminderContext)
	}
	list, err := s.awaited.list(ctx, s.store)
	if err != nil {
		return 0, err
	}
	return s.hear(ctx, Heard{Awaits: list.awaits([]Occurrence{{Name: happening.Name}})})
}
