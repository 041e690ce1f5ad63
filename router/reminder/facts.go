package reminder

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"skillrouter/internal/eventlog"
	"skillrouter/learning/fact"
	"skillrouter/operational"
)

// factNews is what became of facts that may have been reminded of: the last
// of each, by how the keys of its reminders begin.
type factNews map[string]factTold

type factTold struct {
	version int64
	gone    bool
}

// note takes in an event of a fact.
func (n factNews) note(e eventlog.Event, f fact.Event) {
	switch e.Type {
	case fact.EventStored, fact.EventUpdated:
		n[probeKeys(e.Subject)] = factTold{version: f.Version}
	case fact.EventDeleted:
		n[probeKeys(e.Subject)] = factTold{version: f.Version, gone: true}
	}
}

// settle ends the reminders of older versions: what was to be verified was
// stored again, or is gone. Events that are handled again, after a kill, end
// no reminder of a version that came after them.
func (n factNews) settle(ctx context.Context, reminders *operational.Reminders) error {
	if len(n) == 0 {
		return nil
	}
	return reminders.Settle(ctx, slices.Collect(maps.Keys(n)), func(r operational.Reminder) (operational.ReminderStatus, string) {
		var of probeContext
		if json.Unmarshal(r.Context, &of) != nil {
			return "", "" // somebody else made it, under a key like ours
		}
		told, ok := n[probeKeys(fact.ID(of.Persona, of.Key))]
		switch {
		case !ok || told.version < of.Version || told.version == of.Version && !told.gone:
			return "", ""
		case told.gone:
			return operational.ReminderCancelled, "The fact was deleted."
		}
		return operational.ReminderCompleted, fmt.Sprintf("The fact was stored again, as version %d.", told.version)
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
