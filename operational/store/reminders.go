package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/tally"
	"github.com/skillrouter/skillrouter/operational"
)

var _ operational.ReminderStore = (*Store)(nil)

var reminders = table.Of[operational.Reminder]("reminders", "Next next_at", "Redacted").Numbered("number")

// changeable are the columns that a change of a reminder writes.
var changeable = []string{
	"task", "context", "project", "status", "scheduled_for", "next_at", "fired", "fired_at", "missed", "delivered_to", "message_id", "note", "updated_at",
}

// CreateReminder implements operational.ReminderStore.
func (s *Store) CreateReminder(ctx context.Context, r operational.Reminder, key string, learning int64,
	made func(operational.Reminder) eventlog.Event,
) (stored operational.Reminder, existed bool, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		existed = false
		stored = r
		var operations, signals int64
		var ofKey any
		if key != "" {
			ofKey = key
			before, found, err := reminders.One(tx, "WHERE created_by = ? AND idempotency_key = ?", r.CreatedBy, key)
			if existed = found; err != nil || found {
				stored = before
				return err
			}
		}
		if r.TriggerType == operational.TriggerEvent {
			if _, err := table.One(tx, []any{&operations, &signals},
				"SELECT (SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(seq), 0) FROM messages)"); err != nil {
				return err
			}
		}
		if err := reminders.Insert(tx, &stored, "heard_operational", operations, "heard_learning", learning, "heard_signals", signals, "idempotency_key", ofKey); err != nil {
			return err
		}
		return table.AppendEvents(tx, made(stored))
	}, nil)
	return stored, existed, err
}

// Reminder implements operational.ReminderStore.
func (s *Store) Reminder(ctx context.Context, number int64) (operational.Reminder, error) {
	return need(reminders, s.Read.WithContext(ctx), noReminder(number), "WHERE number = ?", number)
}

func noReminder(number int64) string { return fmt.Sprintf("there is no reminder %d", number) }

// ListReminders implements operational.ReminderStore.
func (s *Store) ListReminders(ctx context.Context, filter operational.ReminderFilter) ([]operational.Reminder, error) {
	var c table.Conditions
	switch {
	case filter.AgentID != "" && filter.Persona != "":
		c.Add("(agent_id = ? OR agent_id = '' AND persona = ?)", filter.AgentID, filter.Persona)
	case filter.AgentID != "":
		c.Add("(agent_id = ? OR agent_id = '' AND (delivered_to = ? OR created_by = ?))", filter.AgentID, filter.AgentID, filter.AgentID)
	default:
		c.Equal("persona", filter.Persona)
	}
	if filter.Seen != nil {
		own, args := ofAgent("agent_id", *filter.Seen)
		made, more := ofAgent("created_by", *filter.Seen)
		c.Add("(agent_id = '' OR "+own+" OR "+made+")", append(args, more...)...)
	}
	table.GivenAny(&c, "status", filter.Status)
	if filter.Open {
		c.Add(isOpen)
	}
	c.Equal("project", filter.Project)
	order := "status = 'due' DESC, number"
	if filter.After > 0 {
		c.Add("number > ?", filter.After)
		order = "number"
	}
	return reminders.List(s.Read.WithContext(ctx), c.Text+" ORDER BY "+order+" LIMIT ?", c.With(filter.Limit)...)
}

// ChangeReminder implements operational.ReminderStore.
func (s *Store) ChangeReminder(ctx context.Context, number int64, change func(*operational.Reminder) (*eventlog.Event, error)) (operational.Reminder, error) {
	return changing[operational.Reminder]{of: reminders, where: "WHERE number = ?", args: []any{number}, missing: noReminder(number), by: "number", only: changeable}.
		change(ctx, s, func(_ *gorm.DB, r *operational.Reminder) (*eventlog.Event, error) { return change(r) })
}

// ChangeReminders implements operational.ReminderStore.
func (s *Store) ChangeReminders(ctx context.Context, pick operational.ReminderPick, change func(*operational.Reminder) *operational.ReminderChange,
	stored func([]operational.Message),
) (picked, changed int, err error) {
	// What is not there needs no transaction. This is asked all the time.
	if none, err := s.nothingToPick(ctx, pick); err != nil || none {
		return 0, 0, err
	}
	var messages []operational.Message
	err = s.write(ctx, func(tx *gorm.DB) error {
		c, order := selected(pick)
		list, err := reminders.List(tx, c.Text+order+" LIMIT ?", c.With(pick.Limit)...)
		if err != nil {
			return err
		}
		picked = len(list)
		after := make([]operational.Reminder, 0, len(list))
		var appends []*operational.MessageAppend
		var events []eventlog.Event
		for i := range list {
			c := change(&list[i])
			if c == nil {
				continue
			}
			after = append(after, list[i])
			events = append(events, c.Event)
			if c.Message != nil {
				appends = append(appends, &operational.MessageAppend{Message: *c.Message})
			}
		}
		changed = len(after)
		if err := reminders.UpdateAll(tx, after, "number", changeable...); err != nil {
			return err
		}
		if err := insertMessages(tx, appends); err != nil {
			return err
		}
		messages = make([]operational.Message, len(appends))
		for i, a := range appends {
			messages[i] = a.Message
		}
		return table.AppendEvents(tx, events...)
	}, func() {
		if len(messages) > 0 {
			s.mailed.Ring()
			if stored != nil {
				stored(messages)
			}
		}
	})
	return picked, changed, err
}

// nothingToPick tells, without the committer, that no reminder is picked.
func (s *Store) nothingToPick(ctx context.Context, pick operational.ReminderPick) (bool, error) {
	c, order := selected(pick)
	found, err := table.One(s.Read.WithContext(ctx), []any{new(int64)}, "SELECT number FROM reminders "+c.Text+order+" LIMIT 1", c.Args...)
	return !found, err
}

// heardColumn is where a reminder's place in a log is.
var heardColumn = map[operational.EventSource]string{
	operational.SourceOperational: "heard_operational",
	operational.SourceLearning:    "heard_learning",
	operational.SourceSignals:     "heard_signals",
}

// selected is the reminders of a pick, and their order.
func selected(pick operational.ReminderPick) (c table.Conditions, order string) {
	order = " ORDER BY number"
	switch {
	case pick.By != nil:
		c.Add("next_at <= ?", table.Millis(*pick.By))
		order = " ORDER BY next_at, number"
		if pick.Through > 0 {
			c.Add("number <= ?", pick.Through)
		}
	case len(pick.Waiting) > 0: // each side has its index
		of, args := table.Marks(len(pick.Waiting)), table.Anys(pick.Waiting)
		c.Add("status = 'due' AND delivered_to = '' AND (persona IN ("+of+") OR created_by IN ("+of+")) AND number > ?", append(slices.Concat(args, args), pick.After)...)
	case pick.Project != "":
		c.Add("status = 'due' AND delivered_to = '' AND persona = ? AND project = ? AND agent_id = '' AND created_by = ''", check.DefaultPersona, pick.Project)
	case pick.Heard != nil:
		heard(&c, *pick.Heard)
	case pick.Key != "": // by the index, whose clause is repeated word for word. U+10FFFF is greater than whatever a key goes on with
		c.Add("status IN ('pending', 'due') AND idempotency_key IS NOT NULL AND idempotency_key >= ? AND idempotency_key < ?", pick.Key, pick.Key+"\U0010FFFF")
	default:
		table.Among(&c, "number", pick.Numbers)
	}
	return c, order
}

// heard selects those that wait for what happened after they were scheduled.
func heard(c *table.Conditions, h operational.Heard) {
	var either []string
	var args []any
	for name, seq := range h.Awaits {
		condition := "trigger_value = ?"
		args = append(args, name)
		if column := heardColumn[h.Source]; column != "" {
			condition += " AND " + column + " < ?"
			args = append(args, seq)
		}
		either = append(either, condition)
	}
	c.Add("status = 'pending' AND trigger_type = 'event' AND next_at IS NULL AND ("+strings.Join(either, " OR ")+")", args...)
}

// NextReminder implements operational.ReminderStore.
func (s *Store) NextReminder(ctx context.Context) (*time.Time, error) {
	next, err := table.Scalar[*int64](s.Read.WithContext(ctx), "SELECT min(next_at) FROM reminders WHERE next_at IS NOT NULL")
	return table.FromMillisOrNil(next), err
}

// LastReminder implements operational.ReminderStore.
func (s *Store) LastReminder(ctx context.Context) (int64, error) {
	return table.Scalar[int64](s.Read.WithContext(ctx), "SELECT coalesce(max(number), 0) FROM reminders")
}

// AwaitedEvents implements operational.ReminderStore.
func (s *Store) AwaitedEvents(ctx context.Context) ([]string, error) {
	return table.List(s.Read.WithContext(ctx), table.Value[string], "SELECT DISTINCT trigger_value FROM reminders WHERE status = 'pending' AND trigger_type = 'event'")
}

const pendingConditions = "status = 'pending' AND trigger_type = 'condition' AND next_at IS NULL"

// CountConditions implements operational.ReminderStore.
func (s *Store) CountConditions(ctx context.Context) (int, error) {
	n, err := table.Scalar[int64](s.Read.WithContext(ctx), "SELECT count(*) FROM reminders WHERE "+pendingConditions)
	return int(n), err
}

// PendingConditions implements operational.ReminderStore.
func (s *Store) PendingConditions(ctx context.Context, after int64, limit int) ([]operational.Reminder, error) {
	return reminders.List(s.Read.WithContext(ctx), "WHERE "+pendingConditions+" AND number > ? ORDER BY number LIMIT ?", after, limit)
}

// CountReminders implements operational.ReminderStore.
func (s *Store) CountReminders(ctx context.Context) (operational.ReminderStats, error) {
	stats := operational.ReminderStats{Personas: map[string]map[operational.ReminderStatus]int64{}}
	rows, err := table.List(s.Read.WithContext(ctx), (*tally.Tally).Columns, "SELECT persona, status, 0, count(*), 0 FROM reminders GROUP BY persona, status")
	if err != nil {
		return stats, err
	}
	for _, row := range rows {
		if stats.Personas[row.Persona] == nil {
			stats.Personas[row.Persona] = map[operational.ReminderStatus]int64{}
		}
		stats.Personas[row.Persona][operational.ReminderStatus(row.Category)] = row.Count
	}
	stats.Next, err = s.NextReminder(ctx)
	return stats, err
}

// RemindersAfter returns reminders of a project (of all, if it is empty) whose number is greater than after, in order.
func (s *Store) RemindersAfter(ctx context.Context, project string, after int64, limit int) ([]operational.Reminder, error) {
	var c table.Conditions
	c.Add("number > ?", after)
	c.Equal("project", project)
	return reminders.List(s.Read.WithContext(ctx), c.Text+" ORDER BY number LIMIT ?", c.With(limit)...)
}

// RemindersMade implements operational.ReminderStore. It passes over the whole
// table once for every table.Lookups, which an import asks for together.
func (s *Store) RemindersMade(ctx context.Context, times []time.Time) ([]operational.Reminder, error) {
	return table.InParts(times, func(part []time.Time) ([]operational.Reminder, error) {
		made := make([]any, len(part))
		for i, t := range part {
			made[i] = table.Millis(t)
		}
		return reminders.List(s.Read.WithContext(ctx), "WHERE created_at IN ("+table.Marks(len(part))+")", made...)
	})
}

// ReminderKeyed implements operational.ReminderStore.
func (s *Store) ReminderKeyed(ctx context.Context, maker, key string) (bool, error) {
	return table.Scalar[bool](s.Read.WithContext(ctx), "SELECT EXISTS (SELECT 1 FROM reminders WHERE created_by = ? AND idempotency_key = ?)", maker, key)
}

// maxWaiting bounds how many waiting messages are counted of one agent; past
// it the number says no more than "too many".
const maxWaiting = 1000

// Waiting counts, for each of the agents, the messages that it has not
// acknowledged, up to maxWaiting. Agents that are not known have none.
func (s *Store) Waiting(ctx context.Context, agents []string, now time.Time) (map[string]int, error) {
	counts := make(map[string]int, len(agents))
	for _, agent := range agents {
		n, err := table.Scalar[int64](s.Read.WithContext(ctx), "SELECT count(*) FROM (SELECT 1 FROM agents a JOIN messages ON messages.seq > a.acked_seq AND messages.to_agent IN (a.id, '')"+
			" WHERE a.id = ? AND (messages.expires_at IS NULL OR messages.expires_at > ?) AND "+waitingFor+" LIMIT ?) AS waiting", agent, table.Millis(now), maxWaiting)
		if err != nil {
			return nil, err
		}
		counts[agent] = int(n)
	}
	return counts, nil
}
