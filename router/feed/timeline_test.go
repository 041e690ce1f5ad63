package feed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/feed"
	"github.com/skillrouter/skillrouter/router/routertest/fixture"
)

// ledger is checks of a guard, the first first.
type ledger []lesson.CheckRecord

func (l ledger) Ledger(ctx context.Context, filter lesson.LedgerFilter) (page guard.LedgerPage, err error) {
	before := int64(len(l)) + 1
	if filter.Cursor != "" {
		before, err = strconv.ParseInt(filter.Cursor, 10, 64)
	}
	for _, c := range slices.Backward(l[:before-1]) {
		switch {
		case filter.Agent != "" && c.Agent != filter.Agent, filter.Decision != "" && c.Decision != filter.Decision:
		case !filter.Since.IsZero() && c.At.Before(filter.Since), !filter.Until.IsZero() && !c.At.Before(filter.Until):
		case len(page.Checks) == filter.Limit:
			page.Next = strconv.FormatInt(page.Checks[len(page.Checks)-1].Number, 10)
			return page, err
		default:
			c.Withhold(principal.Of(ctx))
			page.Checks = append(page.Checks, c)
		}
	}
	return page, err
}

// atWork is a team at work, and its timeline.
func atWork(t *testing.T) (*feed.Timeline, *operational.Tellings) {
	t.Helper()
	b := fixture.Open(t)
	tellings := operational.NewTellings(b.Operational, operational.TellingOptions{})
	now := time.Now().UTC()
	checks := ledger{
		{Number: 1, ID: "c3", Agent: "e", Tool: "Bash", Action: `ls -la {"command":"ls -la","cwd":"/w"}`, Decision: rule.DecisionAllow, At: now.Add(-2 * time.Hour)},
		{Number: 2, ID: "c4", Agent: "e", Tool: "Edit", Action: `/w/main.go {"content":"package m…`, Decision: rule.DecisionAllow, At: now.Add(-2 * time.Hour)},
		{Number: 3, ID: "c1", Agent: "a", Action: "make test", Decision: rule.DecisionAllow, At: now.Add(-time.Hour)},
		{Number: 4, ID: "c2", Agent: "a", Action: "rm -rf /", Decision: rule.DecisionBlock, At: now, Matches: []rule.Match{{RuleID: "r", Title: "Never delete all"}}},
	}
	for i := range 5 {
		b.Task(t, fmt.Sprint("task ", i))
		b.Episode(t)
	}
	tellings.Note(operational.Telling{Agent: "a", Moment: operational.ToldAtCommand, Items: []operational.ToldItem{{Kind: "guard", ID: "r"}}}) // the check says it
	tellings.Note(operational.Telling{Agent: "a", Moment: operational.ToldBySearch, Items: []operational.ToldItem{{Kind: "knowledge", ID: "k"}}})
	b.Signal(t, "a", "b", "message")
	b.Signal(t, "c", "d", "message")
	tellings.Note(operational.Telling{Agent: "a", Moment: operational.ToldAtFailure, About: "npm test"})
	tellings.Note(operational.Telling{Agent: "a", Moment: operational.ToldAtFailure, About: "npm test\nnot found", Items: []operational.ToldItem{{Kind: "knowledge", ID: "k", Title: "Use pnpm"}}})
	tellings.Note(operational.Telling{Agent: "b", Moment: operational.ToldAtStart, Tokens: 7, Items: []operational.ToldItem{{Kind: "knowledge", ID: "k", Title: "Use pnpm"}}})
	return feed.NewTimeline(feed.TimelinePorts{
		Learning: b.Learning, Operational: b.Operational, Messages: b.Operational, Checks: checks, Tellings: tellings,
		Titles: map[string]func(context.Context, []string) (map[string]string, error){
			"episode": func(_ context.Context, ids []string) (map[string]string, error) {
				titles := map[string]string{}
				for _, id := range ids {
					titles[id] = "What happened"
				}
				return titles, nil
			},
		},
	}), tellings
}

// moments pages through a timeline.
func moments(t *testing.T, ctx context.Context, line *feed.Timeline, query feed.TimelineQuery) (all []feed.Moment) {
	t.Helper()
	for {
		page, err := line.Timeline(ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Moments...)
		if query.Before = page.Next; page.Next == "" {
			return all
		}
	}
}

func TestTimelineIsOneLine(t *testing.T) {
	line, _ := atWork(t)
	ctx := fixture.As(t, principal.ScopeCaptain, "")
	all := moments(t, ctx, line, feed.TimelineQuery{Limit: feed.MaxMoments})
	count := map[string]int{}
	for i, m := range all {
		count[m.Kind]++
		if i > 0 && m.At.After(all[i-1].At) {
			t.Errorf("%s of %s stands behind %s of %s", m.ID, m.At, all[i-1].ID, all[i-1].At)
		}
		if m.Kind == feed.KindMemory && m.Title != "What happened" {
			t.Errorf("an episode has the title %q", m.Title)
		}
	}
	if diff := cmp.Diff(map[string]int{feed.KindTask: 5, feed.KindMemory: 5, feed.KindMessage: 2, feed.KindCheck: 3, feed.KindBlock: 1, feed.KindTold: 2, feed.KindFailure: 1}, count); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	for _, limit := range []int{1, 2, 3, 7} {
		if diff := cmp.Diff(all, moments(t, ctx, line, feed.TimelineQuery{Limit: limit})); diff != "" {
			t.Errorf("in pages of %d (-at once +in pages):\n%s", limit, diff)
		}
	}
}

func TestTimelineFilters(t *testing.T) {
	line, _ := atWork(t)
	ctx := fixture.As(t, principal.ScopeCaptain, "")
	for name, one := range map[string]struct {
		query feed.TimelineQuery
		want  []string
	}{
		"blocks":                {feed.TimelineQuery{Kinds: []string{feed.KindBlock}}, []string{"a was stopped before rm -rf / block"}},
		"failures, told once":   {feed.TimelineQuery{Kinds: []string{feed.KindFailure}}, []string{"a failed at npm test failed"}},
		"a tool, in short":      {feed.TimelineQuery{Kinds: []string{feed.KindCheck}, Agent: "e"}, []string{"e checked Edit /w/main.go allow", "e checked Bash ls -la allow"}},
		"told by a search":      {feed.TimelineQuery{Kinds: []string{feed.KindTold}, Agent: "a"}, []string{"a searched, and was told 1 memory"}},
		"what one was told":     {feed.TimelineQuery{Kinds: []string{feed.KindTold}, Agent: "b"}, []string{"b began, and was told 1 memory"}},
		"checks in a range":     {feed.TimelineQuery{Kinds: []string{feed.KindCheck}, Range: "7d", Agent: "a"}, []string{"a was stopped before rm -rf / block", "a checked make test allow"}},
		"nothing in a range":    {feed.TimelineQuery{Range: "2001-01-01..2001-01-02"}, nil},
		"messages of one":       {feed.TimelineQuery{Kinds: []string{feed.KindMessage}, Agent: "d"}, []string{"c wrote"}},
		"messages in a range":   {feed.TimelineQuery{Kinds: []string{feed.KindMessage}, Agent: "d", Range: "1h"}, []string{"c wrote"}},
		"tasks of no project":   {feed.TimelineQuery{Kinds: []string{feed.KindTask}, Project: "q"}, nil},
		"kinds of both":         {feed.TimelineQuery{Kinds: []string{feed.KindBlock, feed.KindFailure}, Agent: "a"}, []string{"a failed at npm test failed", "a was stopped before rm -rf / block"}},
		"admin has no checks":   {feed.TimelineQuery{Kinds: []string{"admin"}}, nil},
		"nobody of such a name": {feed.TimelineQuery{Agent: "nobody", Kinds: []string{feed.KindTask, feed.KindCheck, feed.KindTold}}, nil},
	} {
		var got []string
		for _, m := range moments(t, ctx, line, one.query) {
			got = append(got, strings.Join(strings.Fields(fmt.Sprint(m.Agent, " ", m.Verb, " ", m.Title, " ", m.State)), " "))
		}
		if diff := cmp.Diff(one.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for field, query := range map[string]feed.TimelineQuery{
		"kind": {Kinds: []string{"nonsense"}}, "before": {Before: "1.2"}, "time_range": {Range: "never"}, "agent": {Agent: "no agent"}, "limit": {Limit: 1000},
	} {
		if _, err := line.Timeline(ctx, query); errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != field {
			t.Errorf("%+v: %v, and not a refusal of %s", query, err, field)
		}
	}
}

// TestTimelineShowsNoForeignTexts holds the walls between agents.
func TestTimelineShowsNoForeignTexts(t *testing.T) {
	line, _ := atWork(t)
	seen, err := json.Marshal(moments(t, fixture.As(t, principal.ScopeAgent, "b"), line, feed.TimelineQuery{}))
	if err != nil {
		t.Fatal(err)
	}
	text := string(seen)
	for _, foreign := range []string{"rm -rf", "npm test", `"agent_id":"c"`} {
		if strings.Contains(text, foreign) {
			t.Errorf("b sees %q in %s", foreign, text)
		}
	}
	for _, own := range []string{`"agent_id":"b","verb":"began`, "Use pnpm", `"to_agent_id":"b"`, `"withheld":true`} {
		if !strings.Contains(text, own) {
			t.Errorf("b does not see %q in %s", own, text)
		}
	}
	walled := principal.With(t.Context(), principal.Principal{Scopes: []principal.Scope{principal.ScopeCaptain}}.Bind([]string{"elsewhere"}))
	for _, m := range moments(t, walled, line, feed.TimelineQuery{}) {
		t.Errorf("a token that is bound to another project is told %s", m.ID)
	}
}

// vast is a log of which nothing fits.
type vast struct{ asked int }

func (v *vast) PastEvents(_ context.Context, q eventlog.Query) ([]eventlog.Event, int64, error) {
	v.asked++
	if q.Before == 0 {
		q.Before = 1 << 40
	}
	return nil, q.Before - int64(q.Reach), nil
}

func (v *vast) EventTime(context.Context, int64) (time.Time, bool, error) {
	return time.Time{}, false, nil
}
func (v *vast) LastEvent(context.Context) (int64, error) { return 1 << 40, nil }

func TestTimelineLooksAtEnough(t *testing.T) {
	log := &vast{}
	line := feed.NewTimeline(feed.TimelinePorts{Learning: log, Operational: log})
	ctx := fixture.As(t, principal.ScopeCaptain, "")
	first, err := line.Timeline(ctx, feed.TimelineQuery{Agent: "a"})
	if err != nil || len(first.Moments) > 0 || first.Next == "" || log.asked > 4 {
		t.Fatalf("%+v after %d looks: %v", first, log.asked, err)
	}
	second, err := line.Timeline(ctx, feed.TimelineQuery{Agent: "a", Before: first.Next})
	if err != nil || second.Next == "" || second.Next == first.Next {
		t.Errorf("the next page does not go on from %s: %s, %v", first.Next, second.Next, err)
	}
}

// TestTimelineTellsAFailureOnce: what a hook asks about a failure and what it records of it are one line, in pages of any size.
func TestTimelineTellsAFailureOnce(t *testing.T) {
	b := fixture.Open(t)
	tellings := operational.NewTellings(b.Operational, operational.TellingOptions{})
	record := func(title string) {
		if _, err := b.Episodes.Record(fixture.As(t, principal.ScopeCaptain, ""), episode.Draft{AgentID: "a", EventType: episode.EventError, Title: title, Content: title}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 { // one behind the other, with what somebody else did between them
		tellings.Note(operational.Telling{Agent: "a", Moment: operational.ToldAtFailure, About: fmt.Sprint("npm test ", i)})
		b.Task(t, fmt.Sprint("task ", i))
		record(fmt.Sprint("Failed: npm test ", i))
		record("What was decided")
	}
	line := feed.NewTimeline(feed.TimelinePorts{
		Learning: b.Learning, Operational: b.Operational, Messages: b.Operational, Checks: ledger{}, Tellings: tellings,
		Titles: map[string]func(context.Context, []string) (map[string]string, error){
			"episode": func(ctx context.Context, ids []string) (map[string]string, error) {
				found, err := b.Learning.Episodes(ctx, ids)
				titles := map[string]string{}
				for _, e := range found {
					titles[e.ID] = e.Title
				}
				return titles, err
			},
		},
	})
	want := []string{"made the task", "recorded What was decided", "failed at npm test"}
	for who, one := range map[string]string{"a": "failed at npm test", "b": "recorded Failed: npm test"} {
		for _, limit := range []int{1, 2, 3, 50} {
			var got []string
			for _, m := range moments(t, fixture.As(t, principal.ScopeAgent, who), line, feed.TimelineQuery{Limit: limit}) {
				if m.Type == "failed" && (m.About != "episode" || m.Subject == "") {
					t.Errorf("%s does not lead to its record", m.ID)
				}
				got = append(got, strings.TrimRight(m.Verb+" "+m.Title, " 012"))
			}
			want[2] = one
			slices.Sort(got)
			if wanted := slices.Sorted(slices.Values(slices.Repeat(want, 3))); !slices.EqualFunc(wanted, got, func(w, g string) bool { return strings.HasPrefix(g, w) }) {
				t.Errorf("%s, in pages of %d: %q", who, limit, got)
			}
		}
	}
}

// TestTimelineOfAReader: messages that a token may not see hide nothing else from it.
func TestTimelineOfAReader(t *testing.T) {
	b := fixture.Open(t)
	b.Task(t, "a task")
	for range 5 {
		b.Signal(t, "a", "b", "message")
	}
	line := feed.NewTimeline(feed.TimelinePorts{Learning: b.Learning, Operational: b.Operational, Messages: b.Operational})
	page, err := line.Timeline(fixture.As(t, principal.ScopeRead, ""), feed.TimelineQuery{Limit: 1})
	if err != nil || len(page.Moments) != 1 || page.Moments[0].Kind != feed.KindTask {
		t.Errorf("%+v, %v", page, err)
	}
}

// past is a log in memory: the types of its events, the first first.
type past []string

func (p past) PastEvents(_ context.Context, q eventlog.Query) (events []eventlog.Event, next int64, err error) {
	last := int64(len(p))
	if q.Before > 0 {
		last = min(last, q.Before-1)
	}
	floor := max(last+1-int64(q.Reach), q.After+1, 1)
	for seq := last; seq >= floor; seq-- {
		asked := func(one string) bool {
			return one == p[seq-1] || strings.HasSuffix(one, ".") && strings.HasPrefix(p[seq-1], one)
		}
		if len(q.Types) > 0 && !slices.ContainsFunc(q.Types, asked) {
			continue
		}
		events = append(events, eventlog.Event{Seq: seq, Type: p[seq-1], At: time.Unix(seq, 0)})
		if len(events) == q.Limit {
			return events, seq, nil
		}
	}
	if floor <= q.After+1 {
		return events, 0, nil
	}
	return events, floor, nil
}

func (p past) EventTime(context.Context, int64) (time.Time, bool, error) {
	return time.Time{}, false, nil
}
func (p past) LastEvent(context.Context) (int64, error) { return int64(len(p)), nil }

// TestTimelineLosesNoLog: while a page looks at enough of one log, the logs behind it are not over.
func TestTimelineLosesNoLog(t *testing.T) {
	many := func(count int, kind string) past { return slices.Repeat(past{kind}, count) }
	for name, c := range map[string]struct {
		query                 feed.TimelineQuery
		learning, operational past
		want                  []string
		first                 int // moments of the first page
	}{
		"two that are not told":      {feed.TimelineQuery{Limit: 1}, append(past{"fact.stored"}, many(2, lesson.EventActionChecked)...), past{"task.created"}, []string{"fact.stored", "task.created"}, 1},
		"hundreds that are not told": {feed.TimelineQuery{Limit: 1}, append(past{"fact.stored"}, many(900, lesson.EventActionChecked)...), past{"task.created"}, []string{"fact.stored", "task.created"}, 1},
		"of another kind":            {feed.TimelineQuery{Kinds: []string{"admin"}}, many(100, lesson.EventActionChecked), past{operational.EventTokenIssued}, []string{operational.EventTokenIssued}, 1},
		"behind a long log":          {feed.TimelineQuery{Kinds: []string{feed.KindTask}}, many(160_000, "fact.stored"), past{"task.created"}, []string{"task.created"}, 0},
		"a long log that is told":    {feed.TimelineQuery{Limit: 200}, many(450, "fact.stored"), nil, many(450, "fact.stored"), 200},
	} {
		line := feed.NewTimeline(feed.TimelinePorts{Learning: c.learning, Operational: c.operational})
		ctx := fixture.As(t, principal.ScopeAdmin, "")
		page, err := line.Timeline(ctx, c.query)
		if err != nil || len(page.Moments) != c.first {
			t.Errorf("%s: the first page has %d moments, want %d (%v)", name, len(page.Moments), c.first, err)
		}
		var got []string
		for _, m := range moments(t, ctx, line, c.query) {
			got = append(got, m.Type)
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestTimelineOfAKind: a token of a kind is told of the messages of the kind's sessions, and of no other kind's.
func TestTimelineOfAKind(t *testing.T) {
	b := fixture.Open(t)
	b.Signal(t, "claude-code:amber-fox", "b", "message")
	b.Signal(t, "b", "claude-code:amber-fox", "message")
	b.Signal(t, "claude-codex:calm-owl", "b", "message")
	line := feed.NewTimeline(feed.TimelinePorts{Learning: b.Learning, Operational: b.Operational, Messages: b.Operational})
	if all := moments(t, fixture.As(t, principal.ScopeAgent, "claude-code"), line, feed.TimelineQuery{Kinds: []string{feed.KindMessage}}); len(all) != 2 {
		t.Errorf("it is told %+v", all)
	}
}

// TestToldOfTheFeed tells events as a stream has them, those by the experience server's names too.
func TestToldOfTheFeed(t *testing.T) {
	for _, test := range []struct{ kind, name, data, want string }{
		{"lesson.reported", "lesson_extracted", `{"lesson_id": 1, "statement": "Never prune", "confidence": 0.5}`, "lesson: taught the lesson Never prune"},
		{"", "guard.checked", `{"decision": "block", "rule_ids": ["a", "b"]}`, "block: was stopped by rule a, b"},
		{"", "guard.checked", `{"decision": "warn", "rule_ids": ["a"]}`, "check: was warned by rule a"},
		{"", "message.sent", `{"signal": "pause", "to_agent_id": "codex"}`, "message: sent pause codex"},
		{"", "task.claimed", `{"number": 4, "title": "write it"}`, "task: took the task #4 write it"},
		{"", "some.other", ``, "admin: some other"},
	} {
		m := feed.Told(feed.Event{Event: eventlog.Event{Type: test.name, Data: []byte(test.data)}, Kind: test.kind})
		if got := strings.Join(strings.Fields(m.Kind+": "+m.Verb+" "+m.Title+" "+m.To), " "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
