package operational

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/tally"
)

// Taken is what became of a reminder or a task that was taken in.
type Taken struct {
	Key       string
	Number    int64 // of one that was stored
	Duplicate bool
	Err       error // it was refused
}

// takenPrefix begins the idempotency keys of reminders of other routers.
const takenPrefix = "imported-"

// maxFired bounds how often a reminder may say that it came due.
const maxFired = 1 << 40

// Take takes in reminders of another router, with what became of them there;
// dryRun only says what would become of them. What is pending and whose time
// has passed comes due at once. A reminder gets a number of this router; it is
// known again by what it says and when it was made. It needs ScopeCaptain.
func (s *Reminders) Take(ctx context.Context, reminders []Reminder, dryRun bool) ([]Taken, error) {
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return nil, err
	}
	now := s.now.Stamp()
	taken := make([]Taken, len(reminders))
	seen, err := s.madeAlready(ctx, reminders)
	if err != nil {
		return nil, err
	}
	for i, given := range reminders {
		r, err := s.taken(given, now)
		if err == nil && r.Status == ReminderPending {
			err = s.roomFor(ctx, r)
		}
		if taken[i].Err = err; err != nil {
			if errs.CodeOf(err) == errs.Internal {
				return taken, err
			}
			continue
		}
		taken[i].Key = keyOfTaken(given)
		if taken[i].Duplicate = seen[keyOfTaken(r)]; taken[i].Duplicate {
			continue
		}
		if dryRun {
			there, err := s.store.ReminderKeyed(ctx, r.CreatedBy, taken[i].Key)
			if err != nil {
				return taken, err
			}
			taken[i].Duplicate = there || seen[taken[i].Key]
			seen[taken[i].Key] = true
			continue
		}
		stored, existed, err := s.create(ctx, r, taken[i].Key, func(r Reminder) eventlog.Event {
			return reminderEvent(EventReminderScheduled, r, principal.Of(ctx).AgentID, s.now.Stamp())
		})
		if err != nil {
			return taken, err
		}
		taken[i].Number, taken[i].Duplicate = stored.Number, existed
	}
	return taken, nil
}

// madeAlready returns the keys of what this router has of the times at which
// the given ones were made. An export that comes back to where it began meets the reminders that
// it was made of, which nobody gave a key.
func (s *Reminders) madeAlready(ctx context.Context, given []Reminder) (map[string]bool, error) {
	times := make([]time.Time, len(given))
	for i, r := range given {
		times[i] = r.CreatedAt.UTC().Truncate(time.Millisecond)
	}
	there, err := s.store.RemindersMade(ctx, times)
	keys := make(map[string]bool, len(there))
	for _, r := range there {
		keys[keyOfTaken(r)] = true
	}
	return keys, err
}

// keyOfTaken is the same for the same reminder, whatever number a router gave it.
func keyOfTaken(r Reminder) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s\x00%s\x00%s", r.CreatedAt.UnixMilli(), r.Persona, r.CreatedBy, r.TriggerValue, r.Task))
	return takenPrefix + hex.EncodeToString(sum[:16])
}

// taken checks a reminder as Schedule checks a draft, and keeps where it stands.
func (s *Reminders) taken(given Reminder, now time.Time) (Reminder, error) {
	if err := cmp.Or(
		check.OneOf("status", given.Status, ReminderStatuses()),
		check.OptionalAgent("created_by", given.CreatedBy),
		check.Names("delivered_to", given.DeliveredTo, "message_id", given.MessageID),
		check.Text("note", given.Note, MaxReminderNote),
	); err != nil {
		return given, err
	}
	if given.Fired < 0 || given.Fired > maxFired {
		return given, errs.InvalidField("fired", "must lie between 0 and %d", int64(maxFired))
	}
	draft := ReminderDraft{
		Persona: given.Persona, ConversationID: given.ConversationID, Task: given.Task, Trigger: string(given.TriggerType) + ":" + given.TriggerValue,
		Recurring: given.Recurring, Timezone: given.Timezone, Context: given.Context, AgentID: given.AgentID, Project: given.Project,
	}
	r, err := draft.reminderOf(now, s.options.Condition)
	if err != nil {
		return r, err
	}
	redactEach(&given.Note)
	r.TriggerValue, r.Status, r.CreatedBy = given.TriggerValue, given.Status, given.CreatedBy
	r.Fired, r.FiredAt, r.Missed, r.DeliveredTo, r.MessageID, r.Note = given.Fired, given.FiredAt, given.Missed, given.DeliveredTo, given.MessageID, given.Note
	r.ScheduledFor, r.CreatedAt, r.UpdatedAt = given.ScheduledFor, past(given.CreatedAt, now), past(given.UpdatedAt, now)
	switch {
	case !r.Status.Open():
		r.Next = nil
	case given.Next != nil:
		next := given.Next.UTC().Truncate(time.Millisecond)
		r.Next = &next
	case given.Status == ReminderDue:
		r.Next = nil
	}
	return r, nil
}

// past brings a time into the past and whole milliseconds.
func past(t, now time.Time) time.Time {
	if t = t.UTC().Truncate(time.Millisecond); t.After(now) || t.Year() < 1970 {
		return now
	}
	return t
}

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
