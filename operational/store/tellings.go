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
	db := s.Read.WithContext(ctx)
	var c table.Conditions
	c.Add("kind = ''")
	c.Below("number", q.Before)
	c.Equal("agent_id", q.Agent)
	c.Equal("project", q.Project)
	c.Equal("session_id", q.SessionID)
	c.Given("moment = 'command' AND about = ?", q.Check)
	table.GivenAny(&c, "moment", q.Moments)
	c.Between("at", q.Since, q.Until)
	if len(q.Items) > 0 {
		where, args := anyOf(q.Items)
		c.Add("number IN (SELECT telling FROM told WHERE "+where+")", args...)
	}
	rows, err := told.List(db, c.Text+" ORDER BY number DESC LIMIT ?", c.With(q.Limit)...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	tellings, at, numbers := make([]operational.Telling, len(rows)), map[int64]int{}, make([]any, len(rows))
	for i, r := range rows {
		tellings[i] = operational.Telling{
			Number: r.Number, Agent: r.AgentID, Project: r.Project, SessionID: r.SessionID, Moment: r.Moment, About: r.About, Tokens: r.Tokens, Around: r.Tokens, At: r.At,
		}
		at[r.Number], numbers[i] = i, r.Number
	}
	items, err := told.List(db, "WHERE telling IN ("+table.Marks(len(numbers))+") ORDER BY number", numbers...)
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
const toldCounts = "CAST(sum(shown) AS BIGINT), CAST(sum(judged) AS BIGINT), CAST(sum(used) AS BIGINT), " +
	"count(*) FILTER (WHERE went > repeated), CAST(sum(repeated) AS BIGINT), CAST(sum(tokens) AS BIGINT)"

// ToldSums implements operational.TellingStore.
func (s *Store) ToldSums(ctx context.Context, q operational.ToldQuery) (sums operational.ToldSums, err error) {
	db := s.Read.WithContext(ctx)
	var c table.Conditions
	c.Add("at >= ? AND at < ?", q.Since*dayLength, q.Until*dayLength)
	if q.Projects != nil {
		table.Among(&c, "project", q.Projects)
	}
	if q.Own {
		c.Add("own")
	}
	if q.Items != nil {
		items, args := anyOf(q.Items)
		c.Add(items, args...)
	}
	sum := func(columns, rows, group string) ([]operational.ToldSum, error) {
		return table.List(db, func(t *operational.ToldSum) []any {
			return []any{&t.Day, &t.Moment, &t.Kind, &t.ID, &t.Title, &t.Shown, &t.Judged, &t.Used, &t.Prevented, &t.Repeated, &t.Tokens}
		}, "SELECT "+columns+", "+toldCounts+" FROM told "+c.Text+" AND "+rows+" GROUP BY "+group, c.Args...)
	}
	sums.Sessions, err = table.Scalar[int](db, "SELECT count(DISTINCT session_id) FROM told "+c.Text+" AND kind = '' AND shown > 0 AND session_id <> ''", c.Args...)
	if err == nil {
		sums.Items, err = sum("0, moment, kind, item, max(title)", "kind <> ''", "moment, kind, item ORDER BY moment, kind, item")
	}
	if err == nil {
		sums.Days, err = sum("at / 86400000, moment, CASE WHEN kind = '' THEN '' ELSE 'item' END, '', ''", "shown > 0", "1, 2, 3")
	}
	return sums, err
}
