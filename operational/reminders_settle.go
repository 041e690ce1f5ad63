package operational

import (
	"context"
	"slices"
	"strings"

	"skillrouter/internal/check"
)

// settleBatch is how many reminders one transaction of Settle ends, and
// settleKeys how many beginnings of keys one query looks for.
const (
	settleBatch = 200
	settleKeys  = 100
)

// Settle ends open reminders because what they ask for has happened without
// them: of those whose idempotency keys begin with one of keys, the ones for
// which ended names a status that is no open one, with the note that it names.
// ended may be called twice for one. It is the router's own, and asks for no right.
func (s *Reminders) Settle(ctx context.Context, keys []string, ended func(Reminder) (status ReminderStatus, note string)) error {
	for some := range slices.Chunk(keys, settleKeys) {
		pick := ReminderPick{Keys: some, Limit: settleBatch}
		for picked := settleBatch; picked == settleBatch; {
			var err error
			last := pick.After
			picked, _, err = s.store.ChangeReminders(ctx, pick, func(r *Reminder) *ReminderChange {
				last = max(last, r.Number)
				return s.settled(r, ended)
			}, nil)
			if err != nil {
				return err
			}
			pick.After = last
		}
	}
	return nil
}

func (s *Reminders) settled(r *Reminder, ended func(Reminder) (ReminderStatus, string)) *ReminderChange {
	status, note := ended(*r)
	kind := EventReminderCompleted
	switch {
	case !r.Status.Open() || status.Open() || status == "":
		return nil
	case status == ReminderCancelled:
		kind = EventReminderCancelled
	}
	r.Status, r.Next, r.Note, r.UpdatedAt = status, nil, check.Head(strings.ToValidUTF8(note, ""), MaxReminderNote), s.now.Stamp()
	redactEach(&r.Note)
	return &ReminderChange{Event: reminderEvent(kind, *r, "", r.UpdatedAt)}
}
