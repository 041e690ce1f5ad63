package value_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/routertest/fixture"
	"github.com/skillrouter/skillrouter/router/value"
)

// world is a router's tellings with a clock that a test moves.
type world struct {
	*operational.Tellings
	*value.Values
	at time.Time
}

func open(t testing.TB) *world {
	t.Helper()
	d := &world{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return d.at }
	d.Tellings = operational.NewTellings(fixture.OpenStore(t), operational.TellingOptions{Now: now})
	d.Values = value.New(d.Tellings, now)
	return d
}

// tell tells a session an item of a project as it begins.
func (d *world) tell(session, project, kind, id string) {
	d.Tellings.Note(operational.Telling{
		Agent: "a", Project: project, SessionID: session, Moment: operational.ToldAtStart, Tokens: 10,
		Items: []operational.ToldItem{{Kind: kind, ID: id, Title: "title of " + id, Own: !strings.HasPrefix(id, "foreign"), Tokens: 7, Gives: []string{"make " + id}}},
	})
}

type nothing struct{}

func (nothing) Happened(context.Context, history.Draft, []string) (map[string]history.Happened, error) {
	return nil, nil
}

// learn learns a session that ran some commands, which went well.
func (d *world) learn(t *testing.T, session, project string, commands ...string) {
	t.Helper()
	draft := history.Draft{Project: project, Session: session, Steps: []history.Step{{Command: "ls", Outcome: history.Worked}}}
	for _, command := range commands {
		draft.Steps = append(draft.Steps, history.Step{Command: command, Outcome: history.Worked})
	}
	if err := d.Learned(t.Context(), draft, nothing{}); err != nil {
		t.Fatal(err)
	}
}

func (d *world) report(t testing.TB, who principal.Principal, query value.Query) value.Report {
	t.Helper()
	r, err := d.Value(principal.With(t.Context(), who), query)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestClockBehind learns sessions of an agent whose clock is a day behind: nothing shows what was done after the start.
func TestClockBehind(t *testing.T) {
	t.Parallel()
	d := open(t)
	before, after := d.at.AddDate(0, 0, -1), d.at.Add(time.Minute)
	for session, at := range map[string]time.Time{"behind": before, "right": after} {
		d.tell(session, "p", "knowledge", "one")
		draft := history.Draft{Project: "p", Session: session, Steps: []history.Step{{Command: "ls", Outcome: history.Worked, At: &at}}}
		if err := d.Learned(t.Context(), draft, nothing{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.report(t, principal.System(), value.Query{}).Total; got.Shown != 2 || got.Judged != 1 {
		t.Errorf("%+v", got)
	}
}

// TestRetirement proposes what was told often and never used, as far as that is known, and nothing else.
func TestRetirement(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.tell("long ago", "p", "knowledge", "once-used")
	d.learn(t, "long ago", "p", "make once-used")
	d.at = d.at.AddDate(0, 0, 30)
	for i := range value.RetireAfter {
		s := fmt.Sprint("s", i)
		for _, id := range []string{"never", "once-used", "often-used"} {
			d.tell(s, "p", "knowledge", id)
		}
		d.tell(s, "p", "guard", "rule")
		d.tell(s, "p", "lesson", "unread")
		if i > 0 {
			d.tell(s, "p", "procedure", "nearly")
		}
		if i > 0 { // the record of the first was not read
			d.learn(t, s, "p", "cd x && make often-used -j2")
		}
	}
	propose := func() (ids []string) {
		for _, i := range d.report(t, principal.System(), value.Query{}).Items {
			if i.Retire {
				ids = append(ids, i.Command)
			}
		}
		return ids
	}
	if got := propose(); len(got) != 0 {
		t.Errorf("proposed before it is known what came of all: %q", got)
	}
	d.learn(t, "s0", "other") // of another project: it says nothing
	if got := propose(); len(got) != 0 {
		t.Errorf("proposed by another project's session: %q", got)
	}
	d.learn(t, "s0", "p")
	if got, want := propose(), []string{"skillrouter knowledge delete never", "skillrouter lessons retire unread told often and never used"}; !slices.Equal(got, want) {
		t.Errorf("proposed are %q", got)
	}
}

// TestLearnedAgain learns a record twice, and in parts: nothing counts twice, and what was used stays so.
func TestLearnedAgain(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.tell("s", "p", "knowledge", "k")
	for range 2 {
		d.learn(t, "s", "p", "make k")
		d.learn(t, "s", "p", "make other")
	}
	want := value.Counts{Shown: 1, Judged: 1, Used: 1, Tokens: 10}
	if got := d.report(t, principal.System(), value.Query{}); got.Total != want || got.Around != 3 || got.Sessions != 1 || got.Days[6].Counts != want {
		t.Errorf("%+v", got)
	}
	for _, days := range []int{-1, operational.RetainedDays + 1} {
		if _, err := d.Value(principal.With(t.Context(), principal.System()), value.Query{Days: days}); errs.CodeOf(err) != errs.Invalid {
			t.Errorf("%d days: %v", days, err)
		}
	}
}

// TestGuarded judges warnings by what was done then; an outcome that is told twice counts once.
func TestGuarded(t *testing.T) {
	t.Parallel()
	d := open(t)
	for i, c := range []struct {
		outcome lesson.Outcome
		result  learning.Result
	}{{"heeded", ""}, {"overridden", "failure"}, {"overridden", "success"}, {"", ""}} {
		id := fmt.Sprint("c", i)
		d.Checked("a", rule.Action{Project: "p"}, guard.Checked{CheckID: id, Decision: rule.DecisionWarn, Matches: []rule.Match{{RuleID: "r", Title: "t", Lane: rule.LaneIncident}}})
		if c.outcome != "" {
			settled := guard.Settled{CheckID: id, Outcome: c.outcome, Result: c.result}
			d.Settled(settled)
			settled.Duplicate = true
			d.Settled(settled)
		}
	}
	d.Checked("a", rule.Action{Project: "p"}, guard.Checked{CheckID: "fine", Decision: rule.DecisionAllow})
	got := d.report(t, principal.System(), value.Query{}).Total
	if want := (value.Counts{Shown: 4, Judged: 3, Used: 1, Prevented: 1, Repeated: 1, Tokens: got.Tokens}); got != want || got.Tokens == 0 {
		t.Errorf("%+v", got)
	}
}

// TestWalls shows a caller that is bound to projects what was told in these, and nothing of others or of none.
func TestWalls(t *testing.T) {
	t.Parallel()
	d := open(t)
	for _, project := range []string{"shop", "blog", ""} {
		d.tell("s"+project, project, "knowledge", "k"+project)
	}
	d.tell("sshop", "shop", "knowledge", "foreign") // of another project, or of none
	bound := principal.Principal{AgentID: "w", Scopes: []principal.Scope{principal.ScopeAgent}}.Bind([]string{"shop"})
	for query, want := range map[value.Query]int{{}: 1, {Project: "shop"}: 1, {Project: "blog"}: 0} {
		if got := d.report(t, bound, query); got.Total.Shown != want || got.Sessions != want || len(got.Items) != want || want == 1 && got.Items[0].ID != "kshop" {
			t.Errorf("%+v: %+v", query, got)
		}
	}
	if got := d.report(t, principal.System(), value.Query{}); got.Total.Shown != 4 || got.Sessions != 3 {
		t.Errorf("unbound: %+v", got)
	}
}

// TestBounds keeps days and tellings within their bounds, and what waits too.
func TestBounds(t *testing.T) {
	t.Parallel()
	d := open(t)
	d.tell("old", "p", "knowledge", "old")
	d.report(t, principal.System(), value.Query{})
	d.at = d.at.AddDate(0, 0, operational.RetainedDays)
	d.Tellings.Note(operational.Telling{Project: "p", SessionID: "new", Moment: operational.ToldAsked, Items: slices.Repeat([]operational.ToldItem{
		{Kind: "knowledge", ID: "k", Title: strings.Repeat("t", 1<<20), Text: strings.Repeat("x", 1<<20), Gives: slices.Repeat([]string{strings.Repeat("g", 1000)}, 100)},
	}, 500)})
	d.report(t, principal.System(), value.Query{}) // it is written
	d.at = d.at.AddDate(0, 0, -1)                  // the old day is asked for
	got := d.report(t, principal.System(), value.Query{Days: operational.RetainedDays})
	if len(got.Items) != 0 {
		t.Errorf("the old day is kept: %+v", got.Items)
	}
	d.at = d.at.AddDate(0, 0, 1)
	got = d.report(t, principal.System(), value.Query{})
	if len(got.Items) != 1 || got.Items[0].Shown != operational.MaxToldItems || len(got.Items[0].Title) > operational.MaxToldText || got.Total.Tokens > 1<<20 {
		t.Errorf("%d items, %+v", len(got.Items), got.Total)
	}
}

// BenchmarkReport makes a report over a week with 100,000 tellings of 500 items, five in each.
func BenchmarkReport(b *testing.B) {
	d := open(b)
	week := d.at
	for i := range 100_000 {
		d.at = week.Add(-time.Duration(i%7) * 24 * time.Hour)
		told := operational.Telling{Agent: "a", Project: fmt.Sprint("p", i%5), SessionID: fmt.Sprint("s", i/20), Moment: operational.ToldMoments()[i%4], Tokens: 500}
		for j := range 5 {
			told.Items = append(told.Items, operational.ToldItem{Kind: "knowledge", ID: fmt.Sprint("k", (i*7+j*31)%500), Title: "How something is done in this project", Tokens: 90})
		}
		d.Tellings.Note(told)
		if i%1000 == 999 {
			if _, err := d.Sums(b.Context(), operational.ToldQuery{}); err != nil {
				b.Fatal(err)
			}
		}
	}
	d.at = week
	b.ResetTimer()
	for b.Loop() {
		if got := d.report(b, principal.System(), value.Query{}); got.Total.Shown != 500_000 {
			b.Fatalf("%+v", got.Total)
		}
	}
}

// BenchmarkNote notes a telling of five items: what a hook's call pays.
func BenchmarkNote(b *testing.B) {
	d := open(b)
	items := slices.Repeat([]operational.ToldItem{{Kind: "knowledge", ID: "k", Title: "How something is done in this project", Tokens: 90, Gives: []string{"make test"}}}, 5)
	for b.Loop() {
		d.Tellings.Note(operational.Telling{Agent: "a", Project: "p", SessionID: "s", Moment: operational.ToldAtPrompt, Items: items})
	}
}
