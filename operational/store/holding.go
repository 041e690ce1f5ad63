package store

import (
	"context"
	"maps"
	"slices"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/tally"
	"github.com/skillrouter/skillrouter/operational"
)

// isOpen is which reminders are not done with.
const isOpen = "status IN ('pending', 'due')"

// FindIDs finds ids by their beginning or end, by what people call what has them.
func (s *Store) FindIDs() map[string]func(ctx context.Context, part string, most int) ([]string, error) {
	return s.Log.FindIDs(map[string]string{"escalations": "escalations", "messages": "messages", "sessions": "sessions", "tasks": "tasks"})
}

// ClearReminders implements operational.ReminderStore.
func (s *Store) ClearReminders(ctx context.Context, clearing operational.ReminderClearing, told func(count int) eventlog.Event) (open, all int, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		open = 0
		var c table.Conditions
		c.Add("persona = ? AND number <= ?", clearing.Persona, clearing.Through)
		c.Equal("trigger_type", string(clearing.TriggerType))
		rows, err := table.Tallied[int64](tx, "SELECT number, CASE WHEN "+isOpen+" THEN 1 ELSE 0 END FROM reminders "+c.Text+" LIMIT ?", c.With(clearing.Limit)...)
		if all = len(rows); err != nil || all == 0 {
			return err
		}
		for _, isOne := range rows {
			open += int(isOne)
		}
		numbers := slices.Collect(maps.Keys(rows))
		if err := tx.Exec("DELETE FROM reminders WHERE number IN ?", numbers).Error; err != nil {
			return err
		}
		return table.AppendEvents(tx, told(all))
	}, nil)
	return open, all, err
}

// ReminderHoldings counts reminders by their persona and the type of their
// trigger; those that are done with are counted apart. An empty persona stands
// for everybody's.
func (s *Store) ReminderHoldings(ctx context.Context, persona string) ([]tally.Tally, error) {
	var c table.Conditions
	c.Equal("persona", persona)
	return table.List(s.Read.WithContext(ctx), (*tally.Tally).Columns, `SELECT persona, trigger_type, count(*) FILTER (WHERE NOT `+isOpen+`), count(*) FILTER (WHERE `+isOpen+`),
		sum(octet_length(task) + coalesce(octet_length(context), 0)) FROM reminders `+c.Text+" GROUP BY persona, trigger_type", c.Args...)
}

// SessionHoldings counts sessions by their persona and status. An empty persona stands for everybody's.
func (s *Store) SessionHoldings(ctx context.Context, persona string) ([]tally.Tally, error) {
	var c table.Conditions
	c.Equal("persona", persona)
	return table.List(s.Read.WithContext(ctx), (*tally.Tally).Columns, `SELECT persona, status, 0, count(*),
		sum(octet_length(goal) + octet_length(summary) + coalesce(octet_length(handover), 0) + coalesce(octet_length(data), 0)) FROM sessions `+c.Text+" GROUP BY persona, status", c.Args...)
}
