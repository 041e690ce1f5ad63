package operational

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/tally"
)

// reminderClearStep is how many reminders one transaction of Clear deletes, so
// that no write waits for more than a few milliseconds behind it.
const reminderClearStep = 200

// EventRemindersCleared is the type of the event of a step of Clear. Its
// Subject is the persona, its Data a RemindersCleared.
const EventRemindersCleared = "reminder.cleared"

// RemindersCleared is the Data of EventRemindersCleared.
type RemindersCleared struct {
	Persona     string      `json:"persona"`
	TriggerType TriggerType `json:"trigger_type,omitempty"`
	Count       int         `json:"count"`
}

// ReminderClearing is which reminders ClearReminders deletes.
type ReminderClearing struct {
	Persona     string
	TriggerType TriggerType // empty: all
	Through     int64       // only those of this number or a lesser one
	Limit       int
}

// Clear deletes reminders of a persona, of one type of trigger or, if that is empty, of all
// types. It deletes those that were there when it was called, at most most of them, also
// those that are done. It returns how many were open. Delivered messages stay in their
// mailboxes. It needs ScopeCaptain.
func (s *Reminders) Clear(ctx context.Context, persona, triggerType string, most int) (deleted int64, err error) {
	return tally.Clear(ctx, persona, most, reminderClearStep, s.store.LastReminder, func(ctx context.Context, persona string, last int64, limit int) (int64, int, error) {
		clearing := ReminderClearing{Persona: persona, TriggerType: TriggerType(triggerType), Through: last, Limit: limit}
		open, all, err := s.store.ClearReminders(ctx, clearing, func(count int) eventlog.Event {
			return eventOf(EventRemindersCleared, persona, principal.Of(ctx).AgentID, "", s.now.Stamp(), RemindersCleared{persona, clearing.TriggerType, count})
		})
		return int64(open), all, err
	})
}
