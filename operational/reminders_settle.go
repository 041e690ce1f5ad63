package operational

import (
	"context"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
)

// mostSettled is how many reminders Settle ends at once.
const mostSettled = 200

// Settle ends open reminders because what they ask for has happened without
// them: of those whose idempotency keys begin with key, the ones that are moot.
// It is the router's own, and asks for no right.
func (s *Reminders) Settle(ctx context.Context, key string, status ReminderStatus, note string, moot func(Reminder) bool) error {
	kind := EventReminderCompleted
	if status == ReminderCancelled {
		kind = EventReminderCancelled
	}
	note = check.Head(strings.ToValidUTF8(note, ""), MaxReminderNote)
	_, _, err := s.store.ChangeReminders(ctx, ReminderPick{Key: key, Limit: mostSettled}, func(r *Reminder) *ReminderChange {
		if !r.Status.Open() || !moot(*r) {
			return nil
		}
		r.Status, r.Next, r.Note, r.UpdatedAt = status, nil, note, s.now.Stamp()
		return &ReminderChange{Event: reminderEvent(kind, *r, "", r.UpdatedAt)}
	}, nil)
	return err
}
