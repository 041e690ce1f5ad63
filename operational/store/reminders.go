package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"gorm.io/gorm"

	"skillrouter/internal/eventlog"
	"skillrouter/operational"
)

var _ operational.ReminderStore = (*Store)(nil)

// reminderRow is a row of reminders.
type reminderRow struct {
	Number           int64 `gorm:"primaryKey;autoIncrement"`
	Persona          string
	ConversationID   string
	Task             string
	TriggerType      string
	TriggerValue     string
	Recurring        string
	Timezone         string
	Status           string
	Context          *string
	AgentID          string
	CreatedBy        string
	Project          string
	ScheduledFor     *int64
	NextAt           *int64
	Fired            int64
	FiredAt          *int64
	Missed           bool
	DeliveredTo      string
	MessageID        string
	Note             string
	HeardOperational int64
	HeardLearning    int64
	HeardSignals     int64
	IdempotencyKey   *string
	CreatedAt        int64 `gorm:"autoCreateTime:false"`
	UpdatedAt        int64 `gorm:"autoUpdateTime:false"`
}

func (reminderRow) TableName() string { return "reminders" }

// changing are the columns that a change of a reminder writes: each with its place in a list of values, and what stands there.
var changing = []struct {
	column, place string
	value         func(*reminderRow) any
}{
	{"task", "?", func(r *reminderRow) any { return r.Task }},
	{"context", "CAST(? AS TEXT)", func(r *reminderRow) any { return r.Context }},
	{"project", "?", func(r *reminderRow) any { return r.Project }},
	{"status", "?", func(r *reminderRow) any { return r.Status }},
	{"scheduled_for", "CAST(? AS BIGINT)", func(r *reminderRow) any { return r.ScheduledFor }},
	{"next_at", "CAST(? AS BIGINT)", func(r *reminderRow) any { return r.NextAt }},
	{"fired", "CAST(? AS BIGINT)", func(r *reminderRow) any { return r.Fired }},
	{"fired_at", "CAST(? AS BIGINT)", func(r *reminderRow) any { return r.FiredAt }},
	{"missed", "CAST(? AS BOOLEAN)", func(r *reminderRow) any { return r.Missed }},
	{"delivered_to", "?", func(r *reminderRow) any { return r.DeliveredTo }},
	{"message_id", "?", func(r *reminderRow) any { return r.MessageID }},
	{"note", "?", func(r *reminderRow) any { return r.Note }},
	{"updated_at", "CAST(? AS BIGINT)", func(r *reminderRow) any { return r.UpdatedAt }},
}

func rowOfReminder(r operational.Reminder) reminderRow {
	row := reminderRow{
		Number: r.Number, Persona: r.Persona, ConversationID: r.ConversationID, Task: r.Task, TriggerType: string(r.TriggerType),
		TriggerValue: r.TriggerValue, Recurring: r.Recurring, Timezone: r.Timezone, Status: string(r.Status), AgentID: r.AgentID,
		CreatedBy: r.CreatedBy, Project: r.Project, ScheduledFor: millisPtr(r.ScheduledFor), NextAt: millisPtr(r.Next), Fired: r.Fired,
		FiredAt: millisPtr(r.FiredAt), Missed: r.Missed, DeliveredTo: r.DeliveredTo, MessageID: r.MessageID, Note: r.Note,
		CreatedAt: millis(r.CreatedAt), UpdatedAt: millis(r.UpdatedAt),
	}
	if len(r.Context) > 0 {
		text := string(r.Context)
		row.Context = &text
	}
	return row
}

func (row reminderRow) reminder() operational.Reminder {
	r := operational.Reminder{
		Number: row.Number, Persona: row.Persona, ConversationID: row.ConversationID, Task: row.Task,
		TriggerType: operational.TriggerType(row.TriggerType), TriggerValue: row.TriggerValue, Recurring: row.Recurring, Timezone: row.Timezone,
		Status: operational.ReminderStatus(row.Status), AgentID: row.AgentID, CreatedBy: row.CreatedBy, Project: row.Project,
		ScheduledFor: fromMillisPtr(row.ScheduledFor), Next: fromMillisPtr(row.NextAt), Fired: row.Fired, FiredAt: fromMillisPtr(row.FiredAt),
		Missed: row.Missed, DeliveredTo: row.DeliveredTo, MessageID: row.MessageID, Note: row.Note,
		CreatedAt: fromMillis(row.CreatedAt), UpdatedAt: fromMillis(row.UpdatedAt),
	}
	if row.Context != nil {
		r.Context = json.RawMessage(*row.Context)
	}
	return r
}

// CreateReminder implements operational.ReminderStore.
func (s *Store) CreateReminder(ctx context.Context, r operational.Reminder, key string, learning int64,
	made func(operational.Reminder) eventlog.Event,
) (stored operational.Reminder, existed bool, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		existed = false
		row := rowOfReminder(r)
		row.HeardLearning = learning
		if key != "" {
			row.IdempotencyKey = &key
			var before []reminderRow
			if err := tx.Where("created_by = ? AND idempotency_key = ?", r.CreatedBy, key).Limit(1).Find(&before).Error; err != nil {
				return err
			}
			if existed = len(before) > 0; existed {
				stored = before[0].reminder()
				return nil
			}
		}
		if r.TriggerType == operational.TriggerEvent {
			err := tx.Raw("SELECT coalesce(max(seq), 0) FROM events").Scan(&row.HeardOperational).Error
			if err != nil {
				return err
			}
			if err := tx.Raw("SELECT coalesce(max(seq), 0) FROM messages").Scan(&row.HeardSignals).Error; err != nil {
				return err
			}
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		stored = row.reminder()
		return appendEvent(tx, made(stored))
	}, nil)
	return stored, existed, err
}

// Reminder implements operational.ReminderStore.
func (s *Store) Reminder(ctx context.Context, number int64) (operational.Reminder, error) {
	var row reminderRow
	if err := s.read.WithContext(ctx).Where("number = ?", number).Take(&row).Error; err != nil {
		return operational.Reminder{}, notFound(err, "there is no reminder %d", number)
	}
	return row.reminder(), nil
}

// ListReminders implements operational.ReminderStore.
func (s *Store) ListReminders(ctx context.Context, filter operational.ReminderFilter) ([]operational.Reminder, error) {
	q := s.read.WithContext(ctx)
	switch {
	case filter.AgentID != "" && filter.Persona != "":
		q = q.Where("agent_id = ? OR agent_id = '' AND persona = ?", filter.AgentID, filter.Persona)
	case filter.AgentID != "":
		q = q.Where("agent_id = ? OR agent_id = '' AND (delivered_to = ? OR created_by = ?)", filter.AgentID, filter.AgentID, filter.AgentID)
	case filter.Persona != "":
		q = q.Where("persona = ?", filter.Persona)
	}
	if filter.Seen != nil {
		own, args := ofAgent("agent_id", *filter.Seen)
		made, more := ofAgent("created_by", *filter.Seen)
		q = q.Where("agent_id = '' OR "+own+" OR "+made, append(args, more...)...)
	}
	q = givenAny(q, "status IN ?", filter.Status)
	if filter.Open {
		q = q.Where("status IN ('pending', 'due')")
	}
	q = given(q, "project = ?", filter.Project)
	if filter.After > 0 {
		q = q.Where("number > ?", filter.After).Order("number")
	} else {
		q = q.Order("status = 'due' DESC, number")
	}
	return listOf(q.Limit(filter.Limit), reminderRow.reminder)
}

// ChangeReminder implements operational.ReminderStore.
func (s *Store) ChangeReminder(ctx context.Context, number int64, change func(*operational.Reminder) (*eventlog.Event, error)) (operational.Reminder, error) {
	var r operational.Reminder
	err := s.write(ctx, func(tx *gorm.DB) error {
		var row reminderRow
		if err := tx.Where("number = ?", number).Take(&row).Error; err != nil {
			return refuse(notFound(err, "there is no reminder %d", number))
		}
		r = row.reminder()
		event, err := change(&r)
		if err != nil || event == nil {
			return refuse(err)
		}
		after := rowOfReminder(r)
		if err := tx.Model(&reminderRow{}).Where("number = ?", number).Select(changingColumns()).Updates(&after).Error; err != nil {
			return err
		}
		return appendEvent(tx, *event)
	}, nil)
	if err != nil {
		return operational.Reminder{}, err
	}
	return r, nil
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
		list, err := pickReminders(tx, pick)
		if err != nil {
			return err
		}
		picked = len(list)
		after := make([]reminderRow, 0, len(list))
		var appends []*operational.MessageAppend
		var events []eventlog.Event
		for i := range list {
			c := change(&list[i])
			if c == nil {
				continue
			}
			after = append(after, rowOfReminder(list[i]))
			events = append(events, c.Event)
			if c.Message != nil {
				appends = append(appends, &operational.MessageAppend{Message: *c.Message})
			}
		}
		changed = len(after)
		if err := updateReminders(tx, after); err != nil {
			return err
		}
		for rest := appends; len(rest) > 0; {
			n := min(len(rest), appendBatch)
			if err := insertMessages(tx, rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		messages = make([]operational.Message, len(appends))
		for i, a := range appends {
			messages[i] = a.Message
		}
		return appendEvents(tx, events)
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
	var found []int64
	err := selected(s.read.WithContext(ctx), pick).Select("number").Limit(1).Find(&found).Error
	return len(found) == 0, err
}

func pickReminders(tx *gorm.DB, pick operational.ReminderPick) ([]operational.Reminder, error) {
	return listOf(selected(tx, pick).Limit(pick.Limit), reminderRow.reminder)
}

// heardColumn is where a reminder's place in a log is.
var heardColumn = map[operational.EventSource]string{
	operational.SourceOperational: "heard_operational",
	operational.SourceLearning:    "heard_learning",
	operational.SourceSignals:     "heard_signals",
}

// selected is the reminders of a pick, in their order.
func selected(db *gorm.DB, pick operational.ReminderPick) *gorm.DB {
	q := db.Model(&reminderRow{})
	switch {
	case pick.By != nil:
		q = q.Where("next_at <= ?", millis(*pick.By)).Order("next_at, number")
		if pick.Through > 0 {
			q = q.Where("number <= ?", pick.Through)
		}
	case pick.Waiting != nil:
		// Each side has its index; together they are read once.
		q = q.Where("number IN (SELECT number FROM reminders WHERE status = 'due' AND delivered_to = '' AND persona IN (?) "+
			"UNION SELECT number FROM reminders WHERE status = 'due' AND delivered_to = '' AND created_by IN (?))",
			orNone(pick.Waiting.Personas), orNone(pick.Waiting.Makers)).Order("number")
	case pick.Heard != nil:
		return heard(q, *pick.Heard)
	case len(pick.Keys) > 0:
		return keyed(q, pick.Keys, pick.After)
	default:
		q = q.Where("number IN ?", pick.Numbers).Order("number")
	}
	return q
}

// orNone keeps an empty list from being no SQL: a space is nobody's name.
func orNone(list []string) []string {
	if len(list) == 0 {
		return []string{" "}
	}
	return list
}

// heard selects those that wait for what happened after they were scheduled.
func heard(q *gorm.DB, h operational.Heard) *gorm.DB {
	var condition strings.Builder
	var args []any
	for name, seq := range h.Awaits {
		if condition.Len() > 0 {
			condition.WriteString(" OR ")
		}
		condition.WriteString("trigger_value = ?")
		args = append(args, name)
		if column := heardColumn[h.Source]; column != "" {
			condition.WriteString(" AND " + column + " < ?")
			args = append(args, seq)
		}
	}
	return q.Where("status = 'pending' AND trigger_type = 'event' AND next_at IS NULL AND ("+condition.String()+")", args...).Order("number")
}

// keyed selects open reminders by how their keys begin. Joined so, each key is
// one look into the index, whose clause is repeated word for word; with OR, all
// reminders would be read. U+10FFFF is greater than whatever a key goes on with.
func keyed(q *gorm.DB, keys []string, after int64) *gorm.DB {
	args := make([]any, 0, 2*len(keys)+1)
	for _, key := range keys {
		args = append(args, key, key+"\U0010FFFF")
	}
	args = append(args, after)
	return q.Where("number IN (WITH k(low, high) AS (VALUES (?,?)"+strings.Repeat(",(?,?)", len(keys)-1)+") SELECT r.number FROM k CROSS JOIN reminders r "+
		"WHERE r.status IN ('pending', 'due') AND r.idempotency_key IS NOT NULL AND r.idempotency_key >= k.low AND r.idempotency_key < k.high) AND number > ?", args...).Order("number")
}

// reminderBatch is how many reminders one UPDATE writes: see seenBatch.
const reminderBatch = 40

func changingColumns() []string {
	columns := make([]string, len(changing))
	for i, c := range changing {
		columns[i] = c.column
	}
	return columns
}

// updateReminders writes the changing columns of many reminders.
func updateReminders(tx *gorm.DB, rows []reminderRow) error {
	columns, values := changingColumns(), "(CAST(? AS BIGINT)"
	set := make([]string, len(changing))
	for i, c := range changing {
		set[i] = c.column + " = d." + c.column
		values += ", " + c.place
	}
	values += ")"
	for len(rows) > 0 {
		n := min(len(rows), reminderBatch)
		args := make([]any, 0, n*(len(changing)+1))
		for i := range rows[:n] {
			args = append(args, rows[i].Number)
			for _, c := range changing {
				args = append(args, c.value(&rows[i]))
			}
		}
		err := tx.Exec("WITH d(number, "+strings.Join(columns, ", ")+") AS (VALUES "+values+strings.Repeat(","+values, n-1)+
			") UPDATE reminders SET "+strings.Join(set, ", ")+" FROM d WHERE reminders.number = d.number", args...).Error
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// NextReminder implements operational.ReminderStore.
func (s *Store) NextReminder(ctx context.Context) (*time.Time, error) {
	var next *int64
	err := s.read.WithContext(ctx).Raw("SELECT min(next_at) FROM reminders WHERE next_at IS NOT NULL").Scan(&next).Error
	return fromMillisPtr(next), err
}

// LastReminder implements operational.ReminderStore.
func (s *Store) LastReminder(ctx context.Context) (int64, error) {
	var last int64
	err := s.read.WithContext(ctx).Raw("SELECT coalesce(max(number), 0) FROM reminders").Scan(&last).Error
	return last, err
}

// AwaitedEvents implements operational.ReminderStore.
func (s *Store) AwaitedEvents(ctx context.Context) ([]string, error) {
	var names []string
	err := s.read.WithContext(ctx).Raw("SELECT DISTINCT trigger_value FROM reminders WHERE status = 'pending' AND trigger_type = 'event'").Scan(&names).Error
	return names, err
}

const pendingConditions = "status = 'pending' AND trigger_type = 'condition' AND next_at IS NULL"

// CountConditions implements operational.ReminderStore.
func (s *Store) CountConditions(ctx context.Context) (int, error) {
	var n int64
	err := s.read.WithContext(ctx).Model(&reminderRow{}).Where(pendingConditions).Count(&n).Error
	return int(n), err
}

// PendingConditions implements operational.ReminderStore.
func (s *Store) PendingConditions(ctx context.Context, persona string, after int64, limit int) ([]operational.Reminder, error) {
	q := s.read.WithContext(ctx).Where(pendingConditions+" AND number > ?", after).Order("number").Limit(limit)
	q = given(q, "persona = ?", persona)
	return listOf(q, reminderRow.reminder)
}

// CountReminders implements operational.ReminderStore.
func (s *Store) CountReminders(ctx context.Context) (operational.ReminderStats, error) {
	stats := operational.ReminderStats{Personas: map[string]map[operational.ReminderStatus]int64{}}
	var rows []struct {
		Persona string
		Status  operational.ReminderStatus
		N       int64
	}
	err := s.read.WithContext(ctx).Raw("SELECT persona, status, count(*) AS n FROM reminders GROUP BY persona, status").Scan(&rows).Error
	if err != nil {
		return stats, err
	}
	for _, row := range rows {
		if stats.Personas[row.Persona] == nil {
			stats.Personas[row.Persona] = map[operational.ReminderStatus]int64{}
		}
		stats.Personas[row.Persona][row.Status] = row.N
	}
	stats.Next, err = s.NextReminder(ctx)
	return stats, err
}
