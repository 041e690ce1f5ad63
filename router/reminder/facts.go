package reminder

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/operational"
)

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
