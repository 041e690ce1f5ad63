package operational

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
)

// heardNames is the most names that are asked for at once.
const heardNames = 200

// Occurrence is something that happened, at its place in the log that tells of it.
type Occurrence struct {
	Seq  int64
	Name string
}

// awaitedEvents is what pending reminders wait for.
type awaitedEvents struct {
	names    map[string]bool
	patterns []string
}

// awaited returns what is waited for.
func (s *Reminders) awaited(ctx context.Context) (*awaitedEvents, error) {
	texts, err := s.store.AwaitedEvents(ctx)
	if err != nil {
		return nil, err
	}
	list := &awaitedEvents{names: map[string]bool{}}
	for _, text := range texts {
		if isPattern(text) {
			list.patterns = append(list.patterns, text)
		} else {
			list.names[text] = true
		}
	}
	return list, nil
}

// awaits returns what of it fits the occurrences, with the greatest place of each.
func (a *awaitedEvents) awaits(occurrences []Occurrence) map[string]int64 {
	found := map[string]int64{}
	for _, o := range occurrences {
		if strings.HasPrefix(o.Name, ownEvents) {
			continue
		}
		if a.names[o.Name] {
			found[o.Name] = max(found[o.Name], o.Seq)
		}
		for _, pattern := range a.patterns {
			if fitsEvent(pattern, o.Name) {
				found[pattern] = max(found[pattern], o.Seq)
			}
		}
	}
	return found
}

// AnyAwaited tells whether any reminder waits for an event. It is the
// router's own, and asks for no right.
func (s *Reminders) AnyAwaited(ctx context.Context) (bool, error) {
	texts, err := s.store.AwaitedEvents(ctx)
	return len(texts) > 0, err
}

// Hear makes the reminders due that wait for what happened in a log, and returns how many. A
// reminder does not wait for what happened before it was scheduled. After it has come due,
// the same events change nothing. It is for the router itself and checks no right.
func (s *Reminders) Hear(ctx context.Context, source EventSource, occurrences []Occurrence) (int, error) {
	list, err := s.awaited(ctx)
	if err != nil {
		return 0, err
	}
	return s.hear(ctx, Heard{Source: source, Awaits: list.awaits(occurrences)})
}

// hear lets come due what waits, in steps.
func (s *Reminders) hear(ctx context.Context, heard Heard) (fired int, err error) {
	for names := range slices.Chunk(slices.Sorted(maps.Keys(heard.Awaits)), heardNames) {
		part := Heard{Source: heard.Source, Awaits: map[string]int64{}}
		for _, name := range names {
			part.Awaits[name] = heard.Awaits[name]
		}
		n, err := s.fireAll(ctx, ReminderPick{Heard: &part, Limit: fireBatch}, false)
		if fired += n; err != nil {
			return fired, err
		}
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
	list, err := s.awaited(ctx)
	if err != nil {
		return 0, err
	}
	return s.hear(ctx, Heard{Awaits: list.awaits([]Occurrence{{Name: happening.Name}})})
}
