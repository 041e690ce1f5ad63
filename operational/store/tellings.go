package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

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

// toldItem is an item as it is stored.
type toldItem struct {
	operational.ToldItem
	Tokens   int      `json:"tokens,omitempty"`
	Gives    []string `json:"gives,omitempty"`
	Judged   bool     `json:"judged,omitempty"`
	Used     bool     `json:"used,omitempty"`
	Went     bool     `json:"went,omitempty"`
	Repeated bool     `json:"repeated,omitempty"`
}

func itemsText(items []operational.ToldItem) (string, error) {
	stored := make([]toldItem, len(items))
	for i, item := range items {
		r := item.ToldResult
		stored[i] = toldItem{item, item.Tokens, item.Gives, r.Judged, r.Used, r.Went, r.Repeated}
	}
	text, err := json.Marshal(stored)
	return string(text), err
}

func (r tellingRow) telling() (t operational.Telling, err error) {
	t = operational.Telling{Number: r.Number, Agent: r.AgentID, Project: r.Project, SessionID: r.SessionID, Moment: r.Moment, About: r.About, Tokens: r.Tokens, At: fromMillis(r.At)}
	var stored []toldItem
	if err := json.Unmarshal([]byte(r.Items), &stored); err != nil {
		return t, fmt.Errorf("items of telling %d: %w", r.Number, err)
	}
	for _, s := range stored {
		item := s.ToldItem
		item.Tokens, item.Gives = s.Tokens, s.Gives
		item.ToldResult = operational.ToldResult{Judged: s.Judged, Used: s.Used, Went: s.Went, Repeated: s.Repeated}
		t.Items = append(t.Items, item)
	}
	return t, nil
}

// AddTellings implements operational.TellingStore.
func (s *Store) AddTellings(ctx context.Context, tellings []operational.Telling, days []operational.ToldDay, keep operational.ToldKeep) error {
	rows := make([]tellingRow, len(tellings))
	for i, t := range tellings {
		items, err := itemsText(t.Items)
		if err != nil {
			return err
		}
		rows[i] = tellingRow{AgentID: t.Agent, Project: t.Project, SessionID: t.SessionID, Moment: t.Moment, About: t.About, Items: items, Tokens: t.Tokens, At: millis(t.At)}
	}
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		if err := cmp.Or(tx.Create(&rows).Error, addToldDays(tx, days)); err != nil {
			return err
		}
		return cmp.Or(
			tx.Exec("DELETE FROM tellings WHERE number <= ?", rows[len(rows)-1].Number-keep.Tellings).Error,
			tx.Exec("DELETE FROM told_days WHERE day < ?", keep.Since).Error,
			tx.Exec("DELETE FROM told_days WHERE number <= (SELECT max(number) FROM told_days) - ?", keep.Days).Error,
		)
	}, nil) // no event, and so no bell
}

// addToldDays adds to the rows of days. A row that is there is changed without a new number: of numbers the oldest are removed.
func addToldDays(tx *gorm.DB, days []operational.ToldDay) error {
	for _, d := range days {
		changed := tx.Exec(`UPDATE told_days SET title = ?, shown = shown + ?, judged = judged + ?, used = used + ?, prevented = prevented + ?, repeated = repeated + ?, tokens = tokens + ?
			WHERE day = ? AND project = ? AND moment = ? AND kind = ? AND item = ?`,
			d.Title, d.Shown, d.Judged, d.Used, d.Prevented, d.Repeated, d.Tokens, d.Day, d.Project, d.Moment, d.Kind, d.ID)
		if changed.Error != nil {
			return changed.Error
		}
		if changed.RowsAffected > 0 || d.Shown == 0 { // of what is no longer kept nothing is counted
			continue
		}
		err := tx.Exec(`INSERT INTO told_days (day, project, moment, kind, item, title, own, shown, judged, used, prevented, repeated, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			d.Day, d.Project, d.Moment, d.Kind, d.ID, d.Title, d.Own, d.Shown, d.Judged, d.Used, d.Prevented, d.Repeated, d.Tokens).Error
		if err != nil {
			return err
		}
	}
	return nil
}

// SettleTellings implements operational.TellingStore.
func (s *Store) SettleTellings(ctx context.Context, tellings []operational.Telling, days []operational.ToldDay) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		for _, t := range tellings {
			items, err := itemsText(t.Items)
			if err != nil {
				return err
			}
			if err := tx.Exec("UPDATE tellings SET items = ? WHERE number = ?", items, t.Number).Error; err != nil {
				return err
			}
		}
		return addToldDays(tx, days)
	}, nil)
}

// Tellings implements operational.TellingStore.
func (s *Store) Tellings(ctx context.Context, q operational.TellingQuery) (tellings []operational.Telling, err error) {
	read := s.read.WithContext(ctx)
	for _, only := range []struct {
		is    bool
		where string
		value any
	}{
		{q.Before > 0, "number < ?", q.Before},
		{q.Agent != "", "agent_id = ?", q.Agent},
		{q.Project != "", "project = ?", q.Project},
		{q.SessionID != "", "session_id = ?", q.SessionID},
		{q.Check != "", "moment = 'command' AND about = ?", q.Check},
		{len(q.Moments) > 0, "moment IN ?", q.Moments},
		{!q.Since.IsZero(), "at >= ?", millis(q.Since)},
		{!q.Until.IsZero(), "at < ?", millis(q.Until)},
	} {
		if only.is {
			read = read.Where(only.where, only.value)
		}
	}
	if len(q.Items) > 0 {
		where, args := make([]string, len(q.Items)), make([]any, len(q.Items))
		for i, item := range q.Items {
			text, err := json.Marshal(item)
			if err != nil {
				return nil, err
			}
			// An item is stored as an object that begins with these two members; in a text the quotes would be escaped.
			where[i], args[i] = "{position}(items, ?) > 0", strings.TrimSuffix(string(text), "}")
		}
		read = read.Where("("+strings.Join(where, " OR ")+")", args...)
	}
	var rows []tellingRow
	if err := read.Order("number DESC").Limit(q.Limit).Find(&rows).Error; err != nil {
		return nil, err
	}
	for _, r := range rows {
		t, err := r.telling()
		if err != nil {
			return nil, err
		}
		tellings = append(tellings, t)
	}
	return tellings, nil
}

// toldColumns are the figures of days, summed up.
const toldColumns = "CAST(sum(shown) AS BIGINT) AS shown, CAST(sum(judged) AS BIGINT) AS judged, CAST(sum(used) AS BIGINT) AS used, " +
	"CAST(sum(prevented) AS BIGINT) AS prevented, CAST(sum(repeated) AS BIGINT) AS repeated, CAST(sum(tokens) AS BIGINT) AS tokens"

type toldDayRow struct {
	Day       int64
	Moment    operational.ToldMoment
	Kind      string
	Item      string
	Title     string
	Shown     int
	Judged    int
	Used      int
	Prevented int
	Repeated  int
	Tokens    int
}

func toldDays(rows []toldDayRow) []operational.ToldDay {
	days := make([]operational.ToldDay, len(rows))
	for i, r := range rows {
		days[i] = operational.ToldDay{
			Day: r.Day, Moment: r.Moment, Kind: r.Kind, ID: r.Item, Title: r.Title,
			ToldCounts: operational.ToldCounts{Shown: r.Shown, Judged: r.Judged, Used: r.Used, Prevented: r.Prevented, Repeated: r.Repeated, Tokens: r.Tokens},
		}
	}
	return days
}

// scannedDays is from how many days on all rows are read one after the other: to find most of them through the index takes twice as long.
const scannedDays = 7

// ToldSums implements operational.TellingStore.
func (s *Store) ToldSums(ctx context.Context, q operational.ToldQuery) (sums operational.ToldSums, err error) {
	where := func(kinds string) *gorm.DB {
		days := "day >= ? AND day < ?"
		if q.Until-q.Since >= scannedDays && q.Items == nil {
			days = "{unindexed}day >= ? AND {unindexed}day < ?"
		}
		read := s.read.WithContext(ctx).Table("told_days").Where(days, q.Since, q.Until).Where(kinds)
		if q.Projects != nil {
			read = read.Where("project IN ?", q.Projects)
		}
		if q.Own {
			read = read.Where("own")
		}
		if q.Items != nil {
			var kinds, ids []string
			for _, item := range q.Items {
				kinds, ids = append(kinds, item.Kind), append(ids, item.ID)
			}
			read = read.Where("item IN ? AND kind IN ?", ids, kinds)
		}
		return read
	}
	var sessions int64
	var items, days, around []toldDayRow
	reads := []func() error{
		func() error { return where("kind = '' AND item <> ''").Distinct("item").Count(&sessions).Error },
		func() error {
			return where("kind <> ''").Select("moment, kind, item, max(title) AS title, " + toldColumns).Group("moment, kind, item").Order("moment, kind, item").Find(&items).Error
		},
		// Of items and of the words around them apart: together the rows of both would be sorted with all their columns.
		func() error {
			return where("kind <> ''").Select("day, moment, 'all' AS kind, " + toldColumns).Group("day, moment").Find(&days).Error
		},
		func() error {
			return where("kind = ''").Select("day, moment, CAST(sum(tokens) AS BIGINT) AS tokens").Group("day, moment").Find(&around).Error
		},
	}
	errs := make([]error, len(reads))
	var reading sync.WaitGroup
	for i, read := range reads { // at once: each takes a core
		reading.Go(func() { errs[i] = read() })
	}
	reading.Wait()
	err = cmp.Or(errs...)
	return operational.ToldSums{Sessions: int(sessions), Items: toldDays(items), Days: toldDays(append(days, around...))}, err
}

// ToldOfUse implements operational.TellingStore.
func (s *Store) ToldOfUse(ctx context.Context, items []operational.ToldRef) (of []operational.ToldRef, err error) {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = item.ID
	}
	var rows []toldDayRow
	err = s.read.WithContext(ctx).Table("told_days").Distinct("kind", "item").Where("item IN ? AND (used > 0 OR prevented > 0)", ids).Find(&rows).Error
	for _, r := range rows {
		of = append(of, operational.ToldRef{Kind: r.Kind, ID: r.Item})
	}
	return of, err
}
