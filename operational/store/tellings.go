package store

import (
	"cmp"
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/operational"
)

// toldRow is a telling (Telling 0 and no Kind), or an item of one. What all items have from their telling is in its row alone, but for
// what sums are made by.
type toldRow struct {
	Number    int64
	Telling   int64
	At        time.Time
	AgentID   string
	Project   string
	SessionID string
	Moment    operational.ToldMoment
	About     string
	Kind      string
	Item      string
	Title     string
	Own       bool
	Gives     []string
	Shown     int // 0: nothing was told, as of a failure that nothing is known of
	Judged    int
	Used      int
	Went      int
	Repeated  int
	Tokens    int // of a telling: those of the words around its items
}

var told = table.Of[toldRow]("told").Numbered("number")

// AddTellings implements operational.TellingStore.
func (s *Store) AddTellings(ctx context.Context, tellings []operational.Telling, keep operational.ToldKeep) error {
	return s.Commit.Write(ctx, func(tx *gorm.DB) error {
		var last int64
		for _, t := range tellings {
			row := toldRow{
				At: t.At, AgentID: t.Agent, Project: t.Project, SessionID: t.SessionID, Moment: t.Moment, About: t.About, Own: true,
				Shown: min(len(t.Items), 1), Tokens: t.Around,
			}
			if err := told.Insert(tx, &row); err != nil {
				return err
			}
			last = row.Number
			items := make([]toldRow, len(t.Items))
			for i, item := range t.Items {
				items[i] = toldRow{
					Telling: row.Number, At: row.At, Project: t.Project, Moment: t.Moment, Kind: item.Kind, Item: item.ID, Title: item.Title, Own: item.Own,
					Gives: item.Gives, Shown: 1, Tokens: item.Tokens,
				}
			}
			if _, err := told.InsertAll(tx, items, ""); err != nil {
				return err
			}
		}
		return cmp.Or(
			tx.Exec("DELETE FROM told WHERE number <= ?", last-keep.Rows).Error,
			tx.Exec("DELETE FROM told WHERE at < ?", keep.Since*dayLength).Error,
		)
	}, nil) // no event, and so no bell
}

// dayLength is how many milliseconds a day has.
const dayLength = int64(24 * time.Hour / time.Millisecond)

// SettleTold implements operational.TellingStore.
func (s *Store) SettleTold(ctx context.Context, items []operational.ToldItem) error {
	const is = "CASE WHEN ? THEN 1 ELSE 0 END"
	return s.Commit.Write(ctx, func(tx *gorm.DB) error {
		for _, i := range items {
			err := tx.Exec("UPDATE told SET judged = "+is+", used = "+is+", went = "+is+", repeated = "+is+" WHERE number = ?", i.Judged, i.Used, i.Went, i.Repeated, i.Number).Error
			if err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

// anyOf selects the rows of some items.
func anyOf(items []operational.ToldRef) (where string, args []any) {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i], args = "kind = ? AND item = ?", append(args, item.Kind, item.ID)
	}
	return "(" + strings.Join(parts, " OR ") + ")", args
}

// Tellings implements operational.TellingStore.
func (s *Store) Tellings(ctx context.Context, q operational.TellingQuery) ([]operational.Telling, error) {
	read := s.Read.WithContext(ctx).Where("kind = ''")
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
		{!q.Since.IsZero(), "at >= ?", table.Millis(q.Since)},
		{!q.Until.IsZero(), "at < ?", table.Millis(q.Until)},
	} {
		if only.is {
			read = read.Where(only.where, only.value)
		}
	}
	if len(q.Items) > 0 {
		where, args := anyOf(q.Items)
		read = read.Where("number IN (SELECT telling FROM told WHERE "+where+")", args...)
	}
	rows, err := told.Find(read.Order("number DESC").Limit(q.Limit))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	tellings, at, numbers := make([]operational.Telling, len(rows)), map[int64]int{}, make([]int64, len(rows))
	for i, r := range rows {
		tellings[i] = operational.Telling{
			Number: r.Number, Agent: r.AgentID, Project: r.Project, SessionID: r.SessionID, Moment: r.Moment, About: r.About, Tokens: r.Tokens, Around: r.Tokens, At: r.At,
		}
		at[r.Number], numbers[i] = i, r.Number
	}
	items, err := told.Find(s.Read.WithContext(ctx).Where("telling IN ?", numbers).Order("number"))
	if err != nil {
		return nil, err
	}
	for _, r := range items {
		item := operational.ToldItem{Kind: r.Kind, ID: r.Item, Title: r.Title, Own: r.Own, Tokens: r.Tokens, Gives: r.Gives, Number: r.Number}
		item.ToldResult = operational.ToldResult{Judged: r.Judged > 0, Used: r.Used > 0, Went: r.Went > 0, Repeated: r.Repeated > 0}
		t := &tellings[at[r.Telling]]
		t.Items, t.Tokens = append(t.Items, item), t.Tokens+item.Tokens
	}
	return tellings, nil
}

// toldCounts are the figures of rows, summed up. What an item warns of was prevented if it did not happen where it could have.
const toldCounts = "CAST(sum(shown) AS BIGINT) AS shown, CAST(sum(judged) AS BIGINT) AS judged, CAST(sum(used) AS BIGINT) AS used, " +
	"count(*) FILTER (WHERE went > repeated) AS prevented, CAST(sum(repeated) AS BIGINT) AS repeated, CAST(sum(tokens) AS BIGINT) AS tokens"

// ToldSums implements operational.TellingStore.
func (s *Store) ToldSums(ctx context.Context, q operational.ToldQuery) (sums operational.ToldSums, err error) {
	where := func(kinds string) *gorm.DB {
		read := s.Read.WithContext(ctx).Table("told").Where("at >= ? AND at < ?", q.Since*dayLength, q.Until*dayLength).Where(kinds)
		if q.Projects != nil {
			read = read.Where("project IN ?", q.Projects)
		}
		if q.Own {
			read = read.Where("own")
		}
		if q.Items != nil {
			items, args := anyOf(q.Items)
			read = read.Where(items, args...)
		}
		return read
	}
	var sessions int64
	err = cmp.Or(
		where("kind = '' AND shown > 0 AND session_id <> ''").Distinct("session_id").Count(&sessions).Error,
		where("kind <> ''").Select("moment, kind, item AS id, max(title) AS title, "+toldCounts).Group("moment, kind, item").Order("moment, kind, item").Find(&sums.Items).Error,
		where("shown > 0").Select("at / 86400000 AS day, moment, CASE WHEN kind = '' THEN '' ELSE 'item' END AS kind, "+toldCounts).Group("1, 2, 3").Find(&sums.Days).Error,
	)
	sums.Sessions = int(sessions)
	return sums, err
}
