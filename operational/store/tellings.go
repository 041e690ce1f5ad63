package store

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"

	"skillrouter/operational"
)

type tellingRow struct {
	Number    int64 `gorm:"primaryKey;autoIncrement"`
	AgentID   string
	Project   string
	SessionID string
	Moment    operational.ToldMoment
	About     string
	Items     string
	Tokens    int
	At        int64
}

func (tellingRow) TableName() string { return "tellings" }

// AddTellings implements operational.TellingStore.
func (s *Store) AddTellings(ctx context.Context, tellings []operational.Telling, most int64) error {
	rows := make([]tellingRow, len(tellings))
	for i, t := range tellings {
		items, err := json.Marshal(t.Items)
		if err != nil {
			return err
		}
		rows[i] = tellingRow{AgentID: t.Agent, Project: t.Project, SessionID: t.SessionID, Moment: t.Moment, About: t.About, Items: string(items), Tokens: t.Tokens, At: millis(t.At)}
	}
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Create(&rows).Error; err != nil {
			return err
		}
		return tx.Exec("DELETE FROM tellings WHERE number <= ?", rows[len(rows)-1].Number-most).Error
	}, nil) // no event, and so no bell
}

// Tellings implements operational.TellingStore.
func (s *Store) Tellings(ctx context.Context, q operational.TellingQuery) (tellings []operational.Telling, err error) {
	read := s.read.WithContext(ctx)
	if q.Before > 0 {
		read = read.Where("number < ?", q.Before)
	}
	if q.Agent != "" {
		read = read.Where("agent_id = ?", q.Agent)
	}
	if q.Project != "" {
		read = read.Where("project = ?", q.Project)
	}
	if q.Failed != nil && *q.Failed {
		read = read.Where("moment = ?", operational.ToldAtFailure)
	} else if q.Failed != nil {
		read = read.Where("moment <> ?", operational.ToldAtFailure)
	}
	if !q.Since.IsZero() {
		read = read.Where("at >= ?", millis(q.Since))
	}
	if !q.Until.IsZero() {
		read = read.Where("at < ?", millis(q.Until))
	}
	var rows []tellingRow
	if err := read.Order("number DESC").Limit(q.Limit).Find(&rows).Error; err != nil {
		return nil, err
	}
	for _, r := range rows {
		t := operational.Telling{Number: r.Number, Agent: r.AgentID, Project: r.Project, SessionID: r.SessionID, Moment: r.Moment, About: r.About, Tokens: r.Tokens, At: fromMillis(r.At)}
		if err := json.Unmarshal([]byte(r.Items), &t.Items); err != nil {
			return nil, fmt.Errorf("items of telling %d: %w", r.Number, err)
		}
		tellings = append(tellings, t)
	}
	return tellings, nil
}
