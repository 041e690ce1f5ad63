package operational

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/strictjson"
)

// Pace of what comes due.
const (
	// fireBatch is the most reminders that come due in one transaction, for which the other
	// writers wait: some ten milliseconds.
	fireBatch = 256
	// fireGather is the least time between two transactions, so that under load many
	// reminders share one. One that comes after a pause does not wait for it.
	fireGather = 50 * time.Millisecond
	// fireLook is the longest that the clock is not looked at: it may be set, and the
	// machine may sleep, and no timer tells of either.
	fireLook = time.Second
)

// Run makes reminders due until ctx ends, and returns nil. It begins with those that should
// have come due while the router did not run, and marks them as missed.
func (s *Reminders) Run(ctx context.Context) error {
	for {
		err := s.CatchUp(ctx)
		if err == nil || ctx.Err() != nil {
			break
		}
		s.log.Error("missed reminders could not come due; trying again", "error", err)
		_ = committer.Pause(ctx, fireLook)
	}
	for ctx.Err() == nil {
		sooner := s.sooner.Wait()
		fired, err := s.Tick(ctx)
		if err != nil {
			if ctx.Err() == nil {
				s.log.Error("reminders could not come due; trying again", "error", err)
			}
			_ = committer.Pause(ctx, fireLook)
			continue
		}
		if fired > 0 {
			_ = committer.Pause(ctx, fireGather)
			continue
		}
		_ = committer.PauseUntil(ctx, s.untilNext(ctx), sooner)
	}
	return nil
}

// comesSooner rings if a reminder comes before Run looks at the clock by itself.
func (s *Reminders) comesSooner(r Reminder) {
	if r.Next != nil && r.Next.Before(s.now().Add(fireLook)) {
		s.sooner.Ring()
	}
}

// untilNext is how long nothing can come due by time, at most fireLook.
func (s *Reminders) untilNext(ctx context.Context) time.Duration {
	next, err := s.store.NextReminder(ctx)
	if err != nil || next == nil {
		return fireLook
	}
	return min(max(next.Sub(s.now()), 0), fireLook)
}

// CatchUp makes the reminders due that should have come due while the router did not run,
// and marks them as missed. Run calls it first.
func (s *Reminders) CatchUp(ctx context.Context) error {
	if err := s.look(ctx); err != nil {
		return err
	}
	last, err := s.store.LastReminder(ctx)
	if err != nil || last == 0 {
		return err
	}
	now := s.now()
	_, err = s.fireAll(ctx, ReminderPick{By: &now, Through: last, Limit: fireBatch}, true)
	return err
}

// Tick makes each reminder due whose time has come, once, and tells agents that came since
// of those that were due before. It returns how many came due. Run calls it.
func (s *Reminders) Tick(ctx context.Context) (fired int, err error) {
	if err := s.look(ctx); err != nil {
		return 0, err
	}
	now := s.now()
	return s.fireAll(ctx, ReminderPick{By: &now, Limit: fireBatch}, false)
}

func (s *Reminders) fireAll(ctx context.Context, pick ReminderPick, missed bool) (fired int, err error) {
	for {
		picked, n, err := s.fire(ctx, pick, missed)
		if fired += n; err != nil || picked < pick.Limit {
			return fired, err
		}
	}
}

// fire lets those that are picked come due, each with its message, in one transaction.
func (s *Reminders) fire(ctx context.Context, pick ReminderPick, missed bool) (picked, fired int, err error) {
	now := s.now.Stamp()
	return s.store.ChangeReminders(ctx, pick, func(r *Reminder) *ReminderChange {
		if !r.comesDue(now) {
			return nil
		}
		r.Missed = missed
		change := &ReminderChange{Message: s.deliver(r)}
		change.Event = reminderEvent(EventReminderDue, *r, "", now)
		return change
	}, s.announce)
}

func (s *Reminders) announce(messages []Message) {
	if s.options.Mail != nil && len(messages) > 0 {
		s.options.Mail.Announce(messages)
	}
}

// comesDue lets a reminder come due, and tells whether it does. One that
// recurs gets its next time, which lies after both the present and the time it
// came due at: a clock that is set back repeats nothing, one that is set
// forward leaves out what it jumped over.
func (r *Reminder) comesDue(now time.Time) bool {
	if !r.Status.Open() || r.Status == ReminderDue && r.Next == nil {
		return false
	}
	r.Status, r.FiredAt, r.UpdatedAt = ReminderDue, &now, now
	r.Fired++
	r.DeliveredTo, r.MessageID, r.Missed = "", "", false
	if r.TriggerType == TriggerCondition {
		r.Note = ""
	}
	after := now
	if r.Next != nil {
		came := *r.Next
		r.ScheduledFor = &came
		if came.After(after) {
			after = came
		}
	}
	r.Next = nil
	if r.Recurring == "" {
		return true
	}
	recurrence, err := ParseRecurrence("recurring", r.Recurring, r.Timezone)
	if err != nil { // it was read when it was scheduled; a zone may have gone since
		r.Note = errs.MessageOf(err)
		return true
	}
	if next, ok := recurrence.Next(after); ok {
		r.Next = &next
	}
	return true
}

// deliver finds whom a due reminder is for, and makes the message to them; nil
// if nobody is there.
func (s *Reminders) deliver(r *Reminder) *Message {
	to := r.AgentID
	if to == "" && s.options.Recipients != nil {
		to = s.options.Recipients.Recipient(*r)
	}
	return s.deliverTo(r, to)
}

// deliverTo makes the message to an agent; nil if that is nobody.
func (s *Reminders) deliverTo(r *Reminder, to string) *Message {
	if s.options.Mail == nil || to == "" {
		return nil
	}
	draft := reminderMessage(*r, to)
	message, err := s.options.Mail.Compose(draft)
	if err != nil {
		s.log.Error("a reminder is no message, and is only listed", "id", r.Number, "error", err)
		return nil
	}
	r.DeliveredTo, r.MessageID = to, message.ID
	return &message
}

// RouterName is whom the router's own messages are from.
const RouterName = "skillrouter"

// reminderMessage is how a reminder arrives in a mailbox. That of a recurring
// one waits until the next one comes: whoever is away finds the latest alone.
func reminderMessage(r Reminder, to string) MessageDraft {
	said := map[string]any{
		"id": r.Number, "task": r.Task, "persona": r.Persona, "trigger": string(r.TriggerType) + ":" + r.TriggerValue, "fired": r.Fired,
	}
	for name, value := range map[string]string{
		"conversation_id": r.ConversationID, "project": r.Project, "created_by": r.CreatedBy, "recurring": r.Recurring,
	} {
		if value != "" {
			said[name] = value
		}
	}
	if r.ScheduledFor != nil {
		said["scheduled_for"] = r.ScheduledFor
	}
	if r.Missed {
		said["missed"] = true
	}
	if len(r.Context) > 0 {
		said["context"] = json.RawMessage(r.Context)
	}
	content, err := strictjson.Plain(said)
	if err != nil {
		content = json.RawMessage(fmt.Sprintf(`{"id":%d}`, r.Number)) // the reminder itself has the rest
	}
	draft := MessageDraft{From: RouterName, To: to, Signal: SignalReminder, Context: content, ThreadID: "reminder:" + reminderSubject(r.Number)}
	if r.Next != nil {
		lasts := min(max(r.Next.Sub(*r.FiredAt).Round(time.Second), time.Second), MaxReminderAhead)
		draft.TTLSeconds = int64(lasts / time.Second)
	}
	return draft
}

// look looks who is there, and tells those who have come since the last look
// of what is due for them and was delivered to nobody.
func (s *Reminders) look(ctx context.Context) error {
	if s.options.Recipients == nil || s.options.Mail == nil {
		return nil
	}
	came := s.options.Recipients.Look()
	for after := int64(0); len(came) > 0; {
		picked, _, err := s.handOver(ctx, ReminderPick{Waiting: came, After: after, Limit: fireBatch}, func(r *Reminder) *Message {
			after = r.Number
			return s.deliver(r)
		})
		if err != nil || picked < fireBatch {
			return err
		}
	}
	return nil
}

// handOver delivers those that are picked, as message finds and notes; nil: to nobody.
func (s *Reminders) handOver(ctx context.Context, pick ReminderPick, message func(r *Reminder) *Message) (picked, changed int, err error) {
	now := s.now.Stamp()
	return s.store.ChangeReminders(ctx, pick, func(r *Reminder) *ReminderChange {
		made := message(r)
		if made == nil {
			return nil
		}
		r.UpdatedAt = now
		return &ReminderChange{Event: reminderEvent(EventReminderDelivered, *r, r.DeliveredTo, now), Message: made}
	}, s.announce)
}

// AtWork delivers to an agent what waits for whoever works on its project. It is for the router itself and checks no right.
func (s *Reminders) AtWork(ctx context.Context, agentID, project string) error {
	_, _, err := s.handOver(ctx, ReminderPick{Project: project, Limit: fireBatch}, func(r *Reminder) *Message { return s.deliverTo(r, agentID) })
	return err
}

// Judge makes the numbered reminders due whose conditions hold. For the others it notes why
// their conditions could not be evaluated. It is for the router itself and checks no right.
func (s *Reminders) Judge(ctx context.Context, holds []int64, failed map[int64]string) error {
	for numbers := range slices.Chunk(holds, fireBatch) {
		if _, _, err := s.fire(ctx, ReminderPick{Numbers: numbers, Limit: len(numbers)}, false); err != nil {
			return err
		}
	}
	now := s.now.Stamp()
	for numbers := range slices.Chunk(slices.Collect(maps.Keys(failed)), fireBatch) {
		if _, _, err := s.store.ChangeReminders(ctx, ReminderPick{Numbers: numbers, Limit: len(numbers)}, func(r *Reminder) *ReminderChange {
			why := check.Head(strings.ToValidUTF8(failed[r.Number], ""), MaxReminderNote)
			if redactEach(&why); r.Status != ReminderPending || r.Note == why {
				return nil
			}
			r.Note, r.UpdatedAt = why, now
			return &ReminderChange{Event: reminderEvent(EventReminderUnjudged, *r, "", now)}
		}, nil); err != nil {
			return err
		}
	}
	return nil
}

// ConditionBell rings when another condition is waited for.
func (s *Reminders) ConditionBell() *committer.Bell { return &s.judged }

// Conditions returns pending reminders that wait for conditions, by number, after a number. It is the router's own,
// and asks for no right.
func (s *Reminders) Conditions(ctx context.Context, after int64, limit int) ([]Reminder, error) {
	return s.store.PendingConditions(ctx, after, limit)
}
