package store

import (
	"context"

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
		var rows []struct {
			Number int64
			Open   bool
		}
		open = 0
		q := tx.Table("reminders").Select("number, "+isOpen+" AS open").Where("persona = ? AND number <= ?", clearing.Persona, clearing.Through)
		q = given(q, "trigger_type = ?", clearing.TriggerType)
		if err := q.Limit(clearing.Limit).Find(&rows).Error; err != nil {
			return err
		}
		if all = len(rows); all == 0 {
			return nil
		}
		numbers := make([]int64, all)
		for i, row := range rows {
			numbers[i] = row.Number
			if row.Open {
				open++
			}
		}
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
	return s.holdings(ctx, `SELECT persona, trigger_type AS category, count(*) FILTER (WHERE `+isOpen+`) AS count, count(*) FILTER (WHERE NOT `+isOpen+`) AS expired,
		sum(octet_length(task) + coalesce(octet_length(context), 0)) AS bytes FROM reminders`, " GROUP BY persona, trigger_type", persona)
}

// SessionHoldings counts sessions by their persona and status. An empty persona stands for everybody's.
func (s *Store) SessionHoldings(ctx context.Context, persona string) ([]tally.Tally, error) {
	return s.holdings(ctx, `SELECT persona, status AS category, count(*) AS count,
		sum(octet_length(goal) + octet_length(summary) + coalesce(octet_length(handover), 0) + coalesce(octet_length(data), 0)) AS bytes FROM sessions`,
		" GROUP BY persona, status", persona)
}

func (s *Store) holdings(ctx context.Context, text, group, persona string) ([]tally.Tally, error) {
	where, args := "", []any{}
	if persona != "" {
		where, args = " WHERE persona = ?", []any{persona}
	}
	var list []tally.Tally
	return list, s.Read.WithContext(ctx).Raw(text+where+group, args...).Scan(&list).Error
}
