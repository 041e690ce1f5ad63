package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillrouter"
	"skillrouter/cmd/app"
	"skillrouter/cmd/app/apptest"
	"skillrouter/operational"
)

// counted are figures over time with a clock that a test moves.
type counted struct {
	*operational.Figures
	t  *testing.T
	at time.Time
}

func count(t *testing.T, s operational.FigureStore, at time.Time, looks ...operational.FigureLook) *counted {
	t.Helper()
	c := &counted{t: t, at: at}
	c.Figures = operational.NewFigures(s, operational.FigureOptions{Now: func() time.Time { return c.at }, Looks: looks})
	return c
}

// noon is a time within an hour of some day.
var noon = time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)

func (c *counted) n(figure operational.Figure, name string, n, part int64) {
	c.Count(figure, name, operational.FigureCounts{Count: n, Part: part})
}

func (c *counted) report(q operational.FigureQuery) operational.FigureReport {
	c.t.Helper()
	r, err := c.Figures.Figures(skillrouter.WithPrincipal(c.t.Context(), skillrouter.System()), q)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// bytesOf is how much of a database is in use.
func bytesOf(t *testing.T, db *app.Database) int64 {
	t.Helper()
	var pages, free, size int64
	for pragma, to := range map[string]*int64{"page_count": &pages, "freelist_count": &free, "page_size": &size} {
		if err := db.Read.Raw("PRAGMA " + pragma).Scan(to).Error; err != nil {
			t.Fatal(err)
		}
	}
	return (pages - free) * size
}

// TestFiguresOfABusyTeam counts 95 days of a team that works day and night, in more projects, with more tools and under more rules than
// have room: 90 days are kept, within 5 MB, and nothing is lost of the sums.
func TestFiguresOfABusyTeam(t *testing.T) {
	apptest.FilesOnly(t)
	t.Parallel()
	s, db := database(t)
	f := count(t, s, noon)
	before := bytesOf(t, db)
	name := func(figure operational.Figure, i int) string {
		return fmt.Sprintf("%08d-0000-7000-8000-%012d", len(figure), i) // as long as the id of a rule
	}
	const many = 40
	for hour := range 95 * 24 {
		for _, figure := range []operational.Figure{
			operational.FigureCalls, operational.FigureRules, operational.FigureChecks, operational.FigureSearches, operational.FigureFailures, operational.FigureRepeats, operational.FigureTokens,
		} {
			for i := range many {
				f.n(figure, name(figure, i), 1_000, 900)
			}
		}
		for _, bound := range operational.LatencyBounds() {
			f.n(operational.FigureLatency, operational.LatencyName(bound), 100_000, 0)
		}
		f.n(operational.FigureLatency, "", 1, 0)
		f.n(operational.FigureSignals, "", 10_000, 0)
		f.Count(operational.FigureAgents, "", operational.FigureCounts{Count: 60, Part: 1800, Most: int64(hour)})
		if f.at.Hour() == 23 {
			f.report(operational.FigureQuery{Days: 1}) // writes
		}
		f.at = f.at.Add(time.Hour)
	}
	f.at = f.at.Add(-time.Hour)
	year := f.report(operational.FigureQuery{Days: 90})
	got := bytesOf(t, db) - before
	t.Logf("%d bytes", got)
	if got > 5_000_000 || got < 1_000_000 {
		t.Errorf("90 days take %d bytes", got)
	}
	var rows, hours, oldest int64
	if err := db.Read.Raw("SELECT count(*), count(DISTINCT hour), min(hour) FROM figures").Row().Scan(&rows, &hours, &oldest); err != nil {
		t.Fatal(err)
	}
	if first := f.at.Truncate(24*time.Hour).AddDate(0, 0, -89); oldest != first.Unix()/3600 {
		t.Errorf("the oldest row is of %v, not of %v", time.Unix(oldest*3600, 0).UTC(), first)
	}
	t.Logf("%d rows of %d hours", rows, hours)
	if len(year.Points) != 90 || year.Step != 24 || year.Total.Checks != int64(many*1000*(89*24+f.at.Hour()+1)) {
		t.Errorf("%d points of %d hours, %d checks", len(year.Points), year.Step, year.Total.Checks)
	}
	if len(year.Tools) != operational.MaxFigureNames+1 || year.Tools[0].Name != "" || year.Tools[0].Count != (many-operational.MaxFigureNames)*1000*int64(89*24+f.at.Hour()+1) {
		t.Errorf("%d tools, the first %q with %d", len(year.Tools), year.Tools[0].Name, year.Tools[0].Count)
	}
	if want := int64(95*24 - 1); year.Total.Team.Agents != want || year.Total.Blocks != year.Total.Checks*9/10 {
		t.Errorf("%d agents, %d blocks of %d checks", year.Total.Team.Agents, year.Total.Blocks, year.Total.Checks)
	}
	week := f.report(operational.FigureQuery{})
	if len(week.Points) != 7*24 || week.Step != 1 || week.Total.Tokens != 7*24*many*1000 {
		t.Errorf("a week has %d points of %d hours, %d tokens", len(week.Points), week.Step, week.Total.Tokens)
	}
	for i, p := range week.Points {
		if p.Checks != many*1000 || !p.At.Equal(week.Since.Add(time.Duration(i)*time.Hour)) {
			t.Fatalf("hour %d is %+v", i, p)
		}
	}
}

// TestFiguresGoOn restarts the router within an hour: the hour's row is added to, and its names stay bounded.
func TestFiguresGoOn(t *testing.T) {
	t.Parallel()
	s := open(t)
	over, end := context.WithCancel(t.Context())
	end() // Run reads what it must know, and writes what waits
	for life := range 3 {
		f := count(t, s, noon)
		if life > 0 {
			if err := f.Run(over); err != nil {
				t.Fatal(err)
			}
		}
		f.n(operational.FigureChecks, "shop", 2, 1)
		for i := range operational.MaxFigureNames {
			f.n(operational.FigureCalls, fmt.Sprint("tool ", life, i), 1, 0)
		}
		f.Count(operational.FigureAgents, "", operational.FigureCounts{Count: 1, Part: 3, Most: int64(3 - life)})
		if err := f.Run(over); err != nil {
			t.Fatal(err)
		}
		f.n(operational.FigureChecks, "shop", 100, 1) // and is killed
	}
	r := count(t, s, noon).report(operational.FigureQuery{Days: 1})
	if last := r.Points[len(r.Points)-1]; last.Checks != 6 || last.Blocks != 3 || last.Team.Agents != 3 || last.Team.Calls != 3*operational.MaxFigureNames || r.Total.Checks != 6 {
		t.Errorf("the hour is %+v, %+v", last, last.Team)
	}
	if len(r.Tools) != operational.MaxFigureNames+1 {
		t.Errorf("%d tools are told apart", len(r.Tools))
	}
}

// broken is a store whose disk is full for a while.
type broken struct {
	operational.FigureStore
	full bool
}

func (b *broken) AddFigures(ctx context.Context, rows []operational.FigureRow, keep operational.FigureKeep) error {
	if b.full {
		return errors.New("the disk is full")
	}
	return b.FigureStore.AddFigures(ctx, rows, keep)
}

// TestFiguresWait counts on while the disk takes nothing, within a bound, and writes it once then.
func TestFiguresWait(t *testing.T) {
	t.Parallel()
	b := &broken{FigureStore: open(t), full: true}
	f := count(t, b, noon)
	for range 3 {
		f.n(operational.FigureChecks, "p", 1, 0)
		if r := f.report(operational.FigureQuery{Days: 1}); r.Total.Checks != 0 {
			t.Errorf("%d checks were written", r.Total.Checks)
		}
	}
	b.full = false
	for range 2 {
		if r := f.report(operational.FigureQuery{Days: 1}); r.Total.Checks != 3 {
			t.Errorf("%d checks", r.Total.Checks)
		}
	}
	b.full = true
	for hour := range 100_000 { // eleven years
		f.at = noon.Add(time.Duration(hour) * time.Hour)
		f.n(operational.FigureChecks, "p", 1, 0)
	}
	b.full = false
	f.report(operational.FigureQuery{Days: 1})
	rows, err := b.FigureRows(t.Context(), operational.FigureRange{Until: 1 << 40, Step: 1})
	if err != nil || len(rows) > 5000 {
		t.Errorf("%d rows waited, %v", len(rows), err)
	}
}

// TestFiguresOfProjects keeps projects apart, and the team's figures from them.
func TestFiguresOfProjects(t *testing.T) {
	t.Parallel()
	s := open(t)
	sent := int64(0)
	f := count(t, s, noon, func(_ context.Context, add func(operational.Figure, string, operational.FigureCounts)) {
		add(operational.FigureSignals, "", operational.FigureCounts{Count: sent})
		sent = 0
	})
	f.n(operational.FigureChecks, "shop", 5, 1)
	f.n(operational.FigureChecks, "bank", 7, 0)
	f.n(operational.FigureChecks, "", 1, 0)
	f.n(operational.FigureSearches, "shop", 4, 3)
	f.n(operational.FigureRules, "shop", 9, 9) // a rule of that name
	f.n(operational.FigureCalls, "shop", 9, 9)
	f.n(operational.FigureLatency, operational.LatencyName(.0004), 50, 0)
	f.n(operational.FigureLatency, operational.LatencyName(.02), 49, 0)
	f.n(operational.FigureLatency, operational.LatencyName(77), 1, 0)
	sent = 6
	shop := f.report(operational.FigureQuery{Project: "shop"})
	if want := (operational.FigureSums{Checks: 5, Blocks: 1, Searches: 4, Found: 3}); shop.Total != want || len(shop.Rules) != 0 || len(shop.Tools) != 0 {
		t.Errorf("shop has %+v, %v", shop.Total, shop.Rules)
	}
	all := f.report(operational.FigureQuery{})
	team := all.Total.Team
	if all.Total.Checks != 13 || team.Signals != 6 || team.Calls != 9 || team.Answers != 100 || team.Median != .5 || team.Slow < 23 || team.Slow > 25 {
		t.Errorf("the team has %+v, %+v", all.Total, team)
	}
	if len(all.Rules) != 1 || all.Rules[0].Points[len(all.Points)-1] != 9 {
		t.Errorf("rules %+v", all.Rules)
	}

	for what, c := range map[string]struct {
		who  skillrouter.Principal
		q    operational.FigureQuery
		code skillrouter.Code
	}{
		"bound to a project": {skillrouter.System().Bind([]string{"shop"}), operational.FigureQuery{Project: "shop"}, skillrouter.Forbidden},
		"without any scope":  {skillrouter.Principal{}, operational.FigureQuery{}, skillrouter.Unauthenticated},
		"too many days":      {skillrouter.System(), operational.FigureQuery{Days: 91}, skillrouter.Invalid},
		"less than no days":  {skillrouter.System(), operational.FigureQuery{Days: -1}, skillrouter.Invalid},
		"no name":            {skillrouter.System(), operational.FigureQuery{Project: "a\nb"}, skillrouter.Invalid},
	} {
		_, err := f.Figures.Figures(skillrouter.WithPrincipal(t.Context(), c.who), c.q)
		if got := skillrouter.CodeOf(err); err == nil || got != c.code && c.who.Scopes != nil {
			t.Errorf("%s: %v (%s)", what, err, got)
		}
	}
}

// TestFiguresOfHostileNames counts names that nobody should keep under none.
func TestFiguresOfHostileNames(t *testing.T) {
	t.Parallel()
	s := open(t)
	f := count(t, s, noon)
	for i := range 10_000 {
		f.n(operational.FigureChecks, fmt.Sprint("project ", i), 1, 0)
		f.n(operational.FigureSearches, strings.Repeat("x", 65+i), 1, 0)
	}
	r := f.report(operational.FigureQuery{Days: 1})
	rows, err := s.FigureRows(t.Context(), operational.FigureRange{Until: 1 << 40, Step: 1, Apart: []operational.Figure{operational.FigureChecks, operational.FigureSearches}})
	if err != nil || len(rows) != operational.MaxFigureNames+2 || r.Total.Checks != 10_000 || r.Total.Searches != 10_000 {
		t.Errorf("%d rows, %d checks, %d searches, %v", len(rows), r.Total.Checks, r.Total.Searches, err)
	}
}

// TestFiguresOfTellings has tellings say what they keep, and it is what their own days have.
func TestFiguresOfTellings(t *testing.T) {
	t.Parallel()
	s := open(t)
	f := count(t, s, noon)
	tellings := operational.NewTellings(s, operational.TellingOptions{Now: func() time.Time { return f.at }, Over: f.CountAt})
	item := []operational.ToldItem{{Kind: "incident", ID: "i", Title: "npm", Tokens: 20}}
	tellings.Note(operational.Telling{Agent: "a", Project: "shop", SessionID: "s", Moment: operational.ToldAtStart, Items: item, Tokens: 30})
	tellings.Note(operational.Telling{Agent: "a", Project: "shop", Moment: operational.ToldAtFailure, About: "make", Items: item})
	tellings.Note(operational.Telling{Agent: "a", Project: "shop", Moment: operational.ToldAtFailure, About: "nothing is known of this"})
	settle := func(result operational.ToldResult) {
		f.at = f.at.Add(3 * time.Hour)
		err := tellings.Settle(t.Context(), operational.TellingQuery{SessionID: "s", Limit: 10}, func(told []operational.Telling) {
			for i := range told {
				told[i].Items[0].ToldResult = result
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	begin := f.at
	same := func(want operational.FigureSums) {
		t.Helper()
		r := f.report(operational.FigureQuery{Days: 1, Project: "shop"})
		at := slices.IndexFunc(r.Points, func(p operational.FigurePoint) bool { return p.At.Equal(begin.Truncate(time.Hour)) })
		if diff := cmp.Diff(want, r.Points[at].FigureSums) + cmp.Diff(want, r.Total); diff != "" {
			t.Error(diff)
		}
		sums, err := tellings.Sums(t.Context(), operational.ToldQuery{Until: 1 << 40})
		var day operational.ToldCounts
		for _, d := range sums.Days {
			day.Add(d.ToldCounts)
		}
		if err != nil || int64(day.Prevented) != r.Total.Prevented || int64(day.Repeated) != r.Total.Repeated || int64(day.Tokens) != r.Total.Tokens {
			t.Errorf("the days have %+v, %v", day, err)
		}
	}
	settle(operational.ToldResult{Judged: true, Went: true})
	want := operational.FigureSums{Failures: 2, Answered: 1, Tokens: 50, Prevented: 1}
	same(want)
	settle(operational.ToldResult{Judged: true, Went: true})
	same(want)
	settle(operational.ToldResult{Judged: true, Went: true, Repeated: true}) // it happened all the same, later
	want.Prevented, want.Repeated = 0, 1
	same(want)
}
