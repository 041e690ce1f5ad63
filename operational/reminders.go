package operational

import (
	"cmp"
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
)

// Bounds on what waits for something else than a time. Each of these is
// compared with all that happens.
const (
	MaxPendingConditions = 1000
	MaxEventPatterns     = 1000
)

// ReminderRecipients knows who is there. It answers from memory: it is asked inside transactions.
type ReminderRecipients interface {
	// Recipient returns the agent that a due reminder is for, or "" if nobody who fits is there.
	Recipient(r Reminder) string
	// Look looks who is there now, and returns the agents and the personas that have come since the last look.
	Look() []string
}

// ReminderMail puts reminders into mailboxes; comms.Mailbox does.
type ReminderMail interface {
	// Compose makes the message that Send would store.
	Compose(draft MessageDraft) (Message, error)
	// Announce tells of messages that were just stored. It never waits.
	Announce(messages []Message)
}

// ReminderOptions are what Reminders work with. The zero value keeps
// reminders and delivers them to nobody.
type ReminderOptions struct {
	Now        clock.Clock // time.Now if nil
	Log        *slog.Logger
	Mail       ReminderMail
	Recipients ReminderRecipients
	// Condition checks a condition; nil: none can be waited for.
	Condition func(expression string) error
	// Elsewhere returns the newest event of the other domain's log; nil: there is none.
	Elsewhere func(ctx context.Context) (int64, error)
}

// Reminders is the ReminderService beside the database. Run lets them come due.
type Reminders struct {
	store   ReminderStore
	now     clock.Clock
	log     *slog.Logger
	options ReminderOptions

	sooner committer.Bell // something may come due earlier than was known
	judged committer.Bell // a condition is waited for that was not judged yet
}

var _ ReminderService = (*Reminders)(nil)

// NewReminders makes Reminders.
func NewReminders(store ReminderStore, options ReminderOptions) *Reminders {
	options.Now = options.Now.Given()
	options.Log = defaults.Log(options.Log)
	return &Reminders{store: store, now: options.Now, log: options.Log, options: options}
}

func reminderSubject(number int64) string { return strconv.FormatInt(number, 10) }

// Schedule implements ReminderService.
func (s *Reminders) Schedule(ctx context.Context, draft ReminderDraft) (Reminder, error) {
	p := principal.Of(ctx)
	if err := p.Need(principal.ScopeAgent); err != nil {
		return Reminder{}, err
	}
	maker, err := p.ActingAs("created_by", draft.CreatedBy)
	if err != nil {
		return Reminder{}, err
	}
	now := s.now.Stamp()
	r, err := draft.reminderOf(now, s.options.Condition)
	if err != nil {
		return Reminder{}, err
	}
	r.CreatedBy = maker
	if err := s.roomFor(ctx, r); err != nil {
		return Reminder{}, err
	}
	stored, existed, err := s.create(ctx, r, draft.IdempotencyKey, func(r Reminder) eventlog.Event {
		return reminderEvent(EventReminderScheduled, r, maker, now)
	})
	if err != nil {
		return Reminder{}, err
	}
	if existed && !stored.same(r) {
		return Reminder{}, &errs.Error{Code: errs.Conflict, Field: "idempotency_key", Message: "was used for another reminder"}
	}
	stored.Redacted = r.Redacted
	return stored, nil
}

// create stores a reminder, with the event that made makes of it; existed: its maker has one of the key already.
func (s *Reminders) create(ctx context.Context, r Reminder, key string, made func(Reminder) eventlog.Event) (stored Reminder, existed bool, err error) {
	var elsewhere int64
	if r.TriggerType == TriggerEvent && s.options.Elsewhere != nil {
		if elsewhere, err = s.options.Elsewhere(ctx); err != nil {
			return stored, false, err
		}
	}
	stored, existed, err = s.store.CreateReminder(ctx, r, key, elsewhere, made)
	if err != nil || existed {
		return stored, existed, err
	}
	if r.TriggerType == TriggerCondition {
		s.judged.Ring()
	}
	s.comesSooner(stored)
	return stored, false, nil
}

// same tells whether another draft of the same key asks for the same.
func (r Reminder) same(other Reminder) bool {
	return r.Persona == other.Persona && r.Task == other.Task && r.TriggerType == other.TriggerType && r.TriggerValue == other.TriggerValue &&
		r.Recurring == other.Recurring && r.Timezone == other.Timezone && r.AgentID == other.AgentID && r.Project == other.Project &&
		string(r.Context) == string(other.Context)
}

// roomFor refuses what is compared with all that happens if there is too much of it.
func (s *Reminders) roomFor(ctx context.Context, r Reminder) error {
	switch {
	case r.TriggerType == TriggerEvent && isPattern(r.TriggerValue):
		list, err := s.awaited(ctx)
		if err != nil {
			return err
		}
		if len(list.patterns) >= MaxEventPatterns {
			return errs.Errorf(errs.RateLimited, "%d patterns of events are waited for already: wait for a name without * and ?, or cancel some", MaxEventPatterns)
		}
	case r.TriggerType == TriggerCondition:
		n, err := s.store.CountConditions(ctx)
		if err != nil {
			return err
		}
		if n >= MaxPendingConditions {
			return errs.Errorf(errs.RateLimited, "%d conditions are waited for already: cancel some", MaxPendingConditions)
		}
	}
	return nil
}

// Reminder implements ReminderService.
func (s *Reminders) Reminder(ctx context.Context, number int64) (Reminder, error) {
	return reading(ctx, checkNumber(number), func() (Reminder, error) {
		r, err := s.store.Reminder(ctx, number)
		if err == nil && !r.Concerns(principal.Of(ctx)) {
			return Reminder{}, noReminder(number) // the same as of one that there is not
		}
		return r, err
	})
}

// Concerns tells whether p may see the reminder: as its recipient, as its maker, or as a
// captain. Every agent may see a reminder without a recipient. A token that may only read
// sees no reminders, because they are as private as mail.
func (r Reminder) Concerns(p principal.Principal) bool {
	own := p.Is(r.AgentID) || p.Is(r.CreatedBy)
	return p.Has(principal.ScopeCaptain) || p.Has(principal.ScopeAgent) && (own || r.AgentID == "")
}

// list returns those reminders of a filter that concern the caller.
func (s *Reminders) list(ctx context.Context, filter ReminderFilter) ([]Reminder, error) {
	p := principal.Of(ctx)
	switch {
	case p.Has(principal.ScopeCaptain):
		filter.Seen = nil
	case p.Has(principal.ScopeAgent):
		filter.Seen = &p.AgentID
	default:
		return []Reminder{}, nil
	}
	return s.store.ListReminders(ctx, filter)
}

func noReminder(number int64) error {
	return errs.Errorf(errs.NotFound, "there is no reminder %d", number)
}

func checkNumber(number int64) error {
	if number < 1 {
		return errs.InvalidField("id", "must be a reminder's number")
	}
	return nil
}

// List implements ReminderService.
func (s *Reminders) List(ctx context.Context, filter ReminderFilter) ([]Reminder, error) {
	return reading(ctx, filter.check(), func() ([]Reminder, error) { return s.list(ctx, filter) })
}

func (f *ReminderFilter) check() error {
	err := check.SetLimit(&f.Limit, DefaultLimit, MaxLimit)
	if err == nil && f.Persona != "" {
		f.Persona, err = check.Persona(f.Persona)
	}
	if err := cmp.Or(err, check.OptionalAgent("agent_id", f.AgentID), check.Each("status", f.Status, ReminderStatuses())); err != nil {
		return err
	}
	if f.After < 0 {
		return errs.InvalidField("after", "may not be negative")
	}
	return check.Name("project", f.Project)
}

// Pending implements ReminderService.
func (s *Reminders) Pending(ctx context.Context, query PendingQuery) ([]Reminder, error) {
	p := principal.Of(ctx)
	if err := p.Need(principal.ScopeRead); err != nil {
		return nil, err
	}
	persona, err := check.Persona(query.Persona)
	if err != nil {
		return nil, err
	}
	filter := ReminderFilter{Persona: persona, AgentID: query.AgentID, Status: []ReminderStatus{ReminderDue}, Limit: query.Limit}
	if query.IncludeScheduled {
		filter.Status = []ReminderStatus{ReminderDue, ReminderPending}
	}
	if err := filter.check(); err != nil {
		return nil, err
	}
	list, err := s.list(ctx, filter)
	if err != nil || query.AgentID == "" || p.ActAs(query.AgentID) != nil {
		return list, err
	}
	return list, s.told(ctx, list, query.AgentID)
}

// told marks what nobody was told of as delivered to the agent that sees it
// here. What is for everybody's persona waits for its maker all the same.
func (s *Reminders) told(ctx context.Context, list []Reminder, agent string) error {
	var numbers []int64
	for i, r := range list {
		if r.Status == ReminderDue && r.DeliveredTo == "" && (r.Persona != check.DefaultPersona || r.CreatedBy == agent) {
			numbers = append(numbers, r.Number)
			list[i].DeliveredTo = agent
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	now := s.now.Stamp()
	_, _, err := s.store.ChangeReminders(ctx, ReminderPick{Numbers: numbers, Limit: len(numbers)}, func(r *Reminder) *ReminderChange {
		if r.Status != ReminderDue || r.DeliveredTo != "" {
			return nil
		}
		r.DeliveredTo, r.UpdatedAt = agent, now
		return &ReminderChange{Event: reminderEvent(EventReminderDelivered, *r, agent, now)}
	}, nil)
	return err
}

// Complete implements ReminderService.
func (s *Reminders) Complete(ctx context.Context, number int64, note ReminderNote) (Reminder, error) {
	return s.end(ctx, number, note, EventReminderCompleted, func(r *Reminder) error {
		switch {
		case r.Status == ReminderCompleted:
			return nil
		case r.Status == ReminderCancelled:
			return errs.Errorf(errs.Conflict, "reminder %d is cancelled", r.Number)
		case r.Recurring != "" && r.Next != nil:
			if r.Status == ReminderPending {
				return errs.Errorf(errs.Conflict, "reminder %d recurs and is not due: cancel it if it is not wanted any more", r.Number)
			}
			r.Status = ReminderPending
			next := *r.Next
			r.ScheduledFor, r.DeliveredTo, r.MessageID, r.Missed = &next, "", "", false
		default:
			r.Status, r.Next = ReminderCompleted, nil
		}
		return nil
	})
}

// Cancel implements ReminderService.
func (s *Reminders) Cancel(ctx context.Context, number int64, note ReminderNote) (Reminder, error) {
	return s.end(ctx, number, note, EventReminderCancelled, func(r *Reminder) error {
		if r.Status == ReminderCompleted {
			return errs.Errorf(errs.Conflict, "reminder %d is completed", r.Number)
		}
		r.Status, r.Next = ReminderCancelled, nil
		return nil
	})
}

// Restore implements ReminderService.
func (s *Reminders) Restore(ctx context.Context, number int64, note ReminderNote) (Reminder, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeAgent), checkNumber(number)); err != nil {
		return Reminder{}, err
	}
	r, err := s.store.Reminder(ctx, number)
	if err == nil && !r.Status.Open() {
		err = s.roomFor(ctx, r)
	}
	if err != nil {
		return Reminder{}, err
	}
	return s.end(ctx, number, note, EventReminderRestored, func(r *Reminder) error {
		switch {
		case r.Status == ReminderCompleted:
			return errs.Errorf(errs.Conflict, "reminder %d is completed", r.Number)
		case r.Status.Open():
			return nil
		}
		r.Status, r.DeliveredTo, r.MessageID, r.Missed = ReminderPending, "", "", false
		if r.ScheduledFor != nil {
			r.at(*r.ScheduledFor)
		}
		return nil
	})
}

// end takes a step with a note. One that was taken already changes nothing.
func (s *Reminders) end(ctx context.Context, number int64, note ReminderNote, event string, step func(*Reminder) error) (Reminder, error) {
	if err := check.Text("note", note.Note, MaxReminderNote); err != nil {
		return Reminder{}, err
	}
	kinds := redactEach(&note.Note)
	r, err := s.change(ctx, number, note.AgentID, event, func(r *Reminder) error {
		before := r.Status
		if err := step(r); err != nil {
			return err
		}
		if note.Note != "" && r.Status != before {
			r.Note = note.Note
		}
		return nil
	})
	r.Redacted = kinds
	return r, err
}

// Edit implements ReminderService. A message that has told of it says what it said then.
func (s *Reminders) Edit(ctx context.Context, number int64, patch ReminderPatch) (Reminder, error) {
	var redaction redact.Redaction
	if patch.Task != nil {
		if err := check.Required("task", *patch.Task, MaxReminderTask); err != nil {
			return Reminder{}, err
		}
		task := strings.TrimSpace(*patch.Task)
		redaction.Text(&task)
		patch.Task = &task
	}
	if patch.Project != nil {
		if err := check.Name("project", *patch.Project); err != nil {
			return Reminder{}, err
		}
	}
	object, err := cleanContext(&redaction, patch.Context)
	if err != nil {
		return Reminder{}, err
	}
	r, err := s.change(ctx, number, patch.AgentID, EventReminderEdited, func(r *Reminder) error {
		if !r.Status.Open() {
			return errs.Errorf(errs.Conflict, "reminder %d is %s", r.Number, r.Status)
		}
		if patch.Task != nil {
			r.Task = *patch.Task
		}
		if patch.Project != nil {
			r.Project = *patch.Project
		}
		if len(patch.Context) > 0 {
			r.Context = object
		}
		return nil
	})
	r.Redacted = redaction.Kinds()
	return r, err
}

// Snooze implements ReminderService. What waits for an event or a condition
// can be snoozed once it is due; it then comes again by time.
func (s *Reminders) Snooze(ctx context.Context, number int64, snooze ReminderSnooze) (Reminder, error) {
	now := s.now.Stamp()
	var until time.Time
	switch {
	case snooze.For != "" && snooze.Until != nil:
		return Reminder{}, errs.InvalidField("until", "goes without for: say one of them")
	case snooze.For != "":
		span, err := parseSpan("for", snooze.For)
		if err != nil {
			return Reminder{}, err
		}
		if span < time.Second {
			return Reminder{}, errs.InvalidField("for", "is shorter than a second")
		}
		until = now.Add(span)
	case snooze.Until != nil:
		until = *snooze.Until
		if !until.After(now) || until.After(now.Add(MaxReminderAhead)) {
			return Reminder{}, errs.InvalidField("until", "must lie ahead, at most ten years")
		}
	default:
		return Reminder{}, errs.InvalidField("for", "is required, or until")
	}
	return s.change(ctx, number, snooze.AgentID, EventReminderSnoozed, func(r *Reminder) error {
		switch {
		case !r.Status.Open():
			return errs.Errorf(errs.Conflict, "reminder %d is %s", r.Number, r.Status)
		case r.Status == ReminderPending && r.Next == nil:
			return errs.Errorf(errs.Conflict, "reminder %d waits for an %s and is not due", r.Number, r.TriggerType)
		}
		r.Status, r.DeliveredTo, r.MessageID, r.Missed = ReminderPending, "", "", false
		r.at(until)
		return nil
	})
}

// change changes a reminder as whom it is for, as its maker, or as a captain.
// What is for nobody in particular any agent may change.
func (s *Reminders) change(ctx context.Context, number int64, agent, event string, step func(*Reminder) error) (Reminder, error) {
	p := principal.Of(ctx)
	if err := cmp.Or(p.Need(principal.ScopeAgent), checkNumber(number)); err != nil {
		return Reminder{}, err
	}
	acting, err := p.ActingAs("agent_id", agent)
	if err != nil {
		return Reminder{}, err
	}
	now := s.now.Stamp()
	r, err := s.store.ChangeReminder(ctx, number, func(r *Reminder) (*eventlog.Event, error) {
		if r.AgentID != "" && !p.Has(principal.ScopeCaptain) && acting != r.AgentID && (acting == "" || acting != r.CreatedBy) {
			return nil, errs.Errorf(errs.Forbidden, "reminder %d is for another agent: only that agent, who made it, or a captain may change it", r.Number)
		}
		before := *r
		if err := step(r); err != nil {
			return nil, err
		}
		if before.Status == r.Status && sameTime(before.Next, r.Next) && before.same(*r) {
			return nil, nil
		}
		r.UpdatedAt = now
		e := reminderEvent(event, *r, acting, now)
		return &e, nil
	})
	if err == nil {
		s.comesSooner(r)
	}
	return r, err
}

func sameTime(a, b *time.Time) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}

// Stats implements ReminderService.
func (s *Reminders) Stats(ctx context.Context) (ReminderStats, error) {
	return reading(ctx, nil, func() (ReminderStats, error) { return s.store.CountReminders(ctx) })
}
