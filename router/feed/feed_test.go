package feed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	operationalstore "github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router/feed"
	"github.com/skillrouter/skillrouter/router/routertest/fixture"
)

// start runs a new Feed, as after a start, until stop is called.
func start(t *testing.T, ports feed.Ports) (f *feed.Feed, stop func()) {
	t.Helper()
	f, err := feed.New(t.Context(), ports, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f, fixture.Run(t, f.Run)
}

// everything pages through the feed until it has count events.
func everything(t *testing.T, ctx context.Context, f *feed.Feed, query feed.Query, count int) []feed.Event {
	t.Helper()
	var events []feed.Event
	for {
		rung := f.FeedBell().Wait()
		page, err := f.Feed(ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		if page.Seen < query.After && query.After <= f.End() {
			t.Fatalf("a page after %d saw up to %d", query.After, page.Seen)
		}
		events, query.After = append(events, page.Events...), page.Seen
		switch {
		case len(events) > count:
			t.Fatalf("the feed has %d events, and should have %d", len(events), count)
		case page.More:
		case len(events) == count:
			return events
		default:
			select {
			case <-rung:
			case <-t.Context().Done():
				t.Fatal("the feed does not get on")
			}
		}
	}
}

// search.inOrder fails unless the numbers grow.
func inOrder(t *testing.T, events []feed.Event) {
	t.Helper()
	for i := 1; i < len(events); i++ {
		if events[i].Seq <= events[i-1].Seq {
			t.Fatalf("number %d comes after %d", events[i].Seq, events[i-1].Seq)
		}
	}
}

// told are the events of the feed that the tests write, without the agents' own.
var told = []string{operational.EventTaskCreated, operational.EventMessageSent, learning.EventEpisodeRecorded}

func TestNumbersThreeLogsOnOneLine(t *testing.T) {
	b := fixture.Open(t)
	f, stop := start(t, b.FeedPorts())
	ctx := fixture.As(t, principal.ScopeCaptain, "")
	query := feed.Query{Types: told}
	const each = 40
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range each {
			b.Task(t, fmt.Sprint("task ", i))
		}
	})
	writing.Go(func() {
		for i := range each {
			b.Signal(t, "x", "y", fmt.Sprint("signal-", i))
		}
	})
	writing.Go(func() {
		for range each {
			b.Episode(t)
		}
	})
	writing.Wait()
	live := everything(t, ctx, f, query, 3*each)
	inOrder(t, live)
	count := map[string]int{}
	for _, e := range live {
		count[e.Source]++
	}
	if diff := cmp.Diff(map[string]int{"learning": each, "operational": each, "messages": each}, count); diff != "" {
		t.Error(diff)
	}
	stop()
	again, _ := start(t, b.FeedPorts())
	if diff := cmp.Diff(live, everything(t, ctx, again, query, 3*each)); diff != "" {
		t.Errorf("after a restart the events have other numbers (-before +after):\n%s", diff)
	}
	b.Task(t, "late")
	all := everything(t, ctx, again, query, 3*each+1)
	if last := all[len(all)-1]; last.Seq <= live[len(live)-1].Seq || last.Type != operational.EventTaskCreated {
		t.Errorf("what happened after the restart is %+v", last)
	}
	for after := range all { // whatever page one begins with, the rest is the same
		from := feed.Query{Types: told, After: all[after].Seq, Limit: 1 + rand.IntN(50)}
		if diff := cmp.Diff(all[after+1:], everything(t, ctx, again, from, len(all)-after-1), cmp.Transformer("nil", func(list []feed.Event) []feed.Event {
			return append([]feed.Event{}, list...)
		})); diff != "" {
			t.Fatalf("after %d: %s", from.After, diff)
		}
	}
}

// tornJournal fails in the ways that a kill or a full disk can.
type tornJournal struct {
	feed.Journal
	mood atomic.Int32 // 0: well; 1: fails before it stores; 2: stores and fails
}

var errTorn = errors.New("the journal is torn")

func (j *tornJournal) AppendFeed(ctx context.Context, runs []operational.FeedRun) error {
	switch j.mood.Swap(0) {
	case 1:
		return errTorn
	case 2:
		return errors.Join(j.Journal.AppendFeed(ctx, runs), errTorn)
	}
	return j.Journal.AppendFeed(ctx, runs)
}

// TestKilledBetweenSteps stops the feed, as a kill does, before and after
// its journal is written: what was announced keeps its number, and nothing
// comes twice or not at all.
func TestKilledBetweenSteps(t *testing.T) {
	b := fixture.Open(t)
	ports := b.FeedPorts()
	torn := &tornJournal{Journal: ports.Journal}
	ports.Journal = torn
	ctx := fixture.As(t, principal.ScopeCaptain, "")
	query := feed.Query{Types: told}
	var seen []feed.Event
	for round := range 12 {
		f, err := feed.New(t.Context(), ports, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(seen, everything(t, ctx, f, query, len(seen))); diff != "" && len(seen) > 0 && round%3 != 2 {
			t.Fatalf("round %d: %s", round, diff)
		}
		b.Task(t, fmt.Sprint("task ", round))
		b.Signal(t, "x", "y", fmt.Sprint("signal-", round))
		if round%2 == 0 {
			b.Episode(t)
		}
		torn.mood.Store(int32(round % 3))
		err = feed.Step(ctx, f)
		page, readErr := f.Feed(ctx, query)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if round%3 != 0 {
			if !errors.Is(err, errTorn) {
				t.Fatalf("round %d: the step ended with %v", round, err)
			}
			if len(page.Events) != len(seen) {
				t.Fatalf("round %d: announced before it was stored", round)
			}
		} else if err != nil {
			t.Fatal(err)
		}
		// The next start numbers what this one could not.
		next, err := feed.New(t.Context(), ports, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := feed.Step(ctx, next); err != nil {
			t.Fatal(err)
		}
		now := everything(t, ctx, next, query, len(seen)+2+(round+1)%2)
		inOrder(t, now)
		if diff := cmp.Diff(seen, now[:len(seen)]); diff != "" && len(seen) > 0 {
			t.Fatalf("round %d: what was announced has changed: %s", round, diff)
		}
		seen = now
	}
}

// TestGoesOnAfterFailure lets the journal fail under a running feed.
func TestGoesOnAfterFailure(t *testing.T) {
	b := fixture.Open(t)
	ports := b.FeedPorts()
	torn := &tornJournal{Journal: ports.Journal}
	ports.Journal = torn
	f, _ := start(t, ports)
	for mood := range int32(3) {
		torn.mood.Store(mood)
		b.Task(t, "one more")
		inOrder(t, everything(t, fixture.As(t, principal.ScopeCaptain, ""), f, feed.Query{Types: told}, int(mood)+1))
	}
}

// shortLog is a log of which the newest rows were lost.
type shortLog struct {
	feed.Log
	end int64
}

func (l shortLog) LastEvent(context.Context) (int64, error) { return l.end, nil }

// TestSweep removes what is older than it is kept, as far as all who follow the logs have come: what is younger keeps its number, also after a restart, and
// what comes next has the next one. Whoever reads from before the beginning gets what there is.
func TestSweep(t *testing.T) {
	b := fixture.Open(t)
	ctx := fixture.As(t, principal.ScopeCaptain, "")
	ports := b.FeedPorts()
	later := time.Now()
	ports.Now, ports.Keep = func() time.Time { return later }, 30*24*time.Hour
	f, stop := start(t, ports)
	for n := range 20 {
		b.Task(t, fmt.Sprint("task ", n))
		b.Signal(t, "x", "y", fmt.Sprint("signal-", n))
		b.Episode(t)
	}
	query := feed.Query{Types: told}
	before := everything(t, ctx, f, query, 60)
	count := func() (n int) {
		for _, log := range []feed.Log{ports.Learning, ports.Operational} {
			events, err := log.Events(ctx, 0, 1000)
			if err != nil {
				t.Fatal(err)
			}
			n += len(events)
		}
		return n
	}
	all := count()
	if err := f.Sweep(ctx); err != nil || count() != all {
		t.Fatalf("%d of %d events are there (%v)", count(), all, err)
	}
	later = later.Add(31 * 24 * time.Hour)
	for _, name := range []string{"slow.learning", "slow.operational"} {
		if err := b.Operational.SaveCursor(ctx, operational.Cursor{Name: name, Seq: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Sweep(ctx); err != nil || count() != all-2 {
		t.Fatalf("one who follows is behind: %d of %d events are there (%v)", count(), all, err)
	}
	for _, name := range []string{"slow.learning", "slow.operational"} {
		if err := b.Operational.SaveCursor(ctx, operational.Cursor{Name: name, Seq: 1 << 40}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Sweep(ctx); err != nil || count() != 2 {
		t.Fatalf("%d events are there, and the newest of each log should be (%v)", count(), err)
	}
	runs, err := ports.Journal.FeedRuns(ctx, 1, 1000)
	if err != nil || len(runs) > 3 {
		t.Errorf("the journal has %d runs (%v)", len(runs), err)
	}
	b.Task(t, "new")
	b.Episode(t)
	rest := everything(t, ctx, f, feed.Query{Types: told, After: before[len(before)-1].Seq}, 2)
	inOrder(t, append(before[len(before)-1:], rest...))
	stop()
	again, _ := start(t, ports)
	if diff := cmp.Diff(rest, everything(t, ctx, again, feed.Query{Types: told, After: before[len(before)-1].Seq}, 2)); diff != "" {
		t.Errorf("after a restart:\n%s", diff)
	}
	page, err := again.Feed(ctx, feed.Query{Types: told})
	if err != nil || len(page.Events) < 2 || page.Events[len(page.Events)-1].Seq != rest[1].Seq {
		t.Errorf("from the beginning: %+v (%v)", page, err)
	}
}

// TestOfAnOlderLog has learning.db replaced by a copy from before: the
// numbers of what is lost stand for nothing, and none is given twice.
func TestOfAnOlderLog(t *testing.T) {
	b := fixture.Open(t)
	ctx := fixture.As(t, principal.ScopeCaptain, "")
	ports := b.FeedPorts()
	f, stop := start(t, ports)
	for range 10 {
		b.Episode(t)
	}
	before := everything(t, ctx, f, feed.Query{Types: told}, 10)
	stop()
	old := ports
	old.Learning = shortLog{ports.Learning, 4}
	if _, err := feed.New(t.Context(), old, nil); err != nil {
		t.Fatal(err)
	}
	f, _ = start(t, ports) // the six rows from 5 on are the same rows here, and others for all that the feed knows
	after := everything(t, ctx, f, feed.Query{Types: told}, 10)
	if diff := cmp.Diff(before[:4], after[:4]); diff != "" {
		t.Error(diff)
	}
	if after[4].Seq <= before[9].Seq {
		t.Errorf("number %d was given before", after[4].Seq)
	}
}

func TestExperienceNames(t *testing.T) {
	previous := 0.5
	l := lesson.Event{Number: 7, Title: "Do not", Confidence: 0.75, Previous: &previous, Reason: "it failed"}
	for kind, want := range map[string]struct {
		data any
		name string
		text string
	}{
		lesson.EventExperienceRecorded: {lesson.ExperienceEvent{EpisodeID: 3, OperationType: "build", Utility: 0.25}, "experience_recorded", `{"episode_id":3,"utility_score":0.25}`},
		lesson.EventPatternEmerged:     {lesson.PatternEvent{Number: 4, Description: "builds fail"}, "pattern_emerged", `{"pattern_id":4,"description":"builds fail"}`},
		lesson.EventReported:           {l, "lesson_extracted", `{"lesson_id":7,"statement":"Do not","confidence":0.75}`},
		lesson.EventValidated:          {l, "lesson_validated", `{"lesson_id":7,"previous_confidence":0.5,"new_confidence":0.75}`},
		lesson.EventApplied:            {l, "lesson_validated", `{"lesson_id":7,"previous_confidence":0.5,"new_confidence":0.75}`},
		lesson.EventRetired:            {l, "lesson_deprecated", `{"lesson_id":7,"reason":"it failed"}`},
	} {
		data, err := json.Marshal(want.data)
		if err != nil {
			t.Fatal(err)
		}
		name, text, ok := feed.ExperienceName(eventlog.Event{Type: kind, Data: data})
		if !ok || name != want.name || string(text) != want.text {
			t.Errorf("%s is %s %s, and should be %s %s", kind, name, text, want.name, want.text)
		}
	}
	for _, e := range []eventlog.Event{
		{Type: lesson.EventEdited, Data: json.RawMessage(`{}`)},
		{Type: lesson.EventReported, Data: json.RawMessage(`{"number":`)},
		{Type: lesson.EventExperienceRecorded},
	} {
		if name, _, ok := feed.ExperienceName(e); ok {
			t.Errorf("%+v is called %s", e, name)
		}
	}
}

func TestIdentity(t *testing.T) {
	b := fixture.Open(t)
	f, _ := start(t, b.FeedPorts())
	b.Signal(t, "a", "b", "to-b")
	b.Signal(t, "b", "a", "to-a")
	b.Signal(t, "b", "c", "to-c")
	b.Signal(t, "c", "", "to-all")
	b.Task(t, "shared")
	tokens, err := operational.OpenTokens(t.Context(), b.Operational, time.Now, operational.DigestOf("x"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Issue(principal.With(t.Context(), principal.System()), operational.TokenDraft{Scopes: []principal.Scope{principal.ScopeRead}}); err != nil {
		t.Fatal(err)
	}
	types := append([]string{"token.*"}, told...)
	admin := everything(t, fixture.As(t, principal.ScopeAdmin, ""), f, feed.Query{Types: types}, 6)
	for _, e := range admin {
		if strings.Contains(string(e.Data), "secret plan") {
			t.Errorf("an event tells what a message says: %s", e.Data)
		}
	}
	for name, c := range map[string]struct {
		scope principal.Scope
		agent string
		want  []string
	}{
		"captain":           {principal.ScopeCaptain, "", []string{"to-b", "to-a", "to-c", "to-all", "shared"}},
		"reader":            {principal.ScopeRead, "", []string{"shared"}},
		"reader of a name":  {principal.ScopeRead, "a", []string{"shared"}},
		"agent a":           {principal.ScopeAgent, "a", []string{"to-b", "to-a", "to-all", "shared"}},
		"agent c":           {principal.ScopeAgent, "c", []string{"to-c", "to-all", "shared"}},
		"agent without one": {principal.ScopeAgent, "", []string{"shared"}},
	} {
		ctx := fixture.As(t, c.scope, c.agent)
		var got []string
		for _, e := range everything(t, ctx, f, feed.Query{Types: types}, len(c.want)) {
			var data struct{ Signal, Title string }
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			got = append(got, data.Signal+data.Title)
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		reader, err := f.Follow(ctx, feed.Query{Types: types})
		if err != nil {
			t.Fatal(err)
		}
		items, err := reader.Take(ctx)
		reader.Close()
		if err != nil || len(items) != len(c.want) {
			t.Errorf("%s follows %d events, and should %d (%v)", name, len(items), len(c.want), err)
		}
	}
	if _, err := f.Feed(t.Context(), feed.Query{}); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("a caller without a right: %v", err)
	}
	if _, err := f.Follow(t.Context(), feed.Query{}); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("a follower without a right: %v", err)
	}
}

func TestFilters(t *testing.T) {
	b := fixture.Open(t)
	f, _ := start(t, b.FeedPorts())
	ctx := fixture.As(t, principal.ScopeCaptain, "")
	b.Task(t, "one")
	b.Signal(t, "x", "y", "ping")
	b.Report(t, lesson.EventReported, nil)
	b.Episode(t)
	everything(t, ctx, f, feed.Query{Types: append([]string{"lesson.*"}, told...)}, 4)
	for name, c := range map[string]struct {
		query feed.Query
		want  int
	}{
		"a type":                 {feed.Query{Types: []string{"task.created"}}, 1},
		"two types":              {feed.Query{Types: []string{"task.created", "message.sent"}}, 2},
		"a group":                {feed.Query{Types: []string{"task.*"}}, 1},
		"everything of messages": {feed.Query{Types: []string{"message.*"}}, 1},
		"the seed's name":        {feed.Query{Types: []string{"lesson_extracted"}}, 1},
		"the log's name":         {feed.Query{Types: []string{"lesson.reported"}}, 1},
		"the group of that":      {feed.Query{Types: []string{"lesson.*"}}, 1},
		"none of that type":      {feed.Query{Types: []string{"task.failed"}}, 0},
		"a project":              {feed.Query{Types: told, Project: "p"}, 1},
		"another project":        {feed.Query{Types: told, Project: "q"}, 0},
		"an agent that sent":     {feed.Query{Types: told, Agent: "x"}, 1},
		"an agent that was told": {feed.Query{Types: told, Agent: "y"}, 1},
		"an agent that did":      {feed.Query{Types: told, Agent: "a"}, 1},
		"from now on":            {feed.Query{Types: told, After: feed.Now}, 0},
		"beyond the end":         {feed.Query{Types: told, After: 1 << 40}, 0},
	} {
		t.Run(name, func(t *testing.T) { inOrder(t, everything(t, ctx, f, c.query, c.want)) })
	}
	for name, c := range map[string]struct {
		query feed.Query
		field string
	}{
		"a type that is none":   {feed.Query{Types: []string{"task.craeted"}}, "type"},
		"an empty type":         {feed.Query{Types: []string{""}}, "type"},
		"a group that is none":  {feed.Query{Types: []string{"tusk.*"}}, "type"},
		"half a group":          {feed.Query{Types: []string{"ta*"}}, "type"},
		"too many types":        {feed.Query{Types: slices.Repeat([]string{"task.*"}, feed.MaxTypes+1)}, "type"},
		"an agent that is none": {feed.Query{Agent: "a b"}, "agent"},
		"a project with a NUL":  {feed.Query{Project: "a\x00"}, "project"},
		"a negative number":     {feed.Query{After: -1}, "after"},
		"too much":              {feed.Query{Limit: feed.MaxLimit + 1}, "limit"},
		"less than nothing":     {feed.Query{Limit: -1}, "limit"},
	} {
		if _, err := f.Feed(ctx, c.query); errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != c.field {
			t.Errorf("%s: %v blames %q", name, err, errs.FieldOf(err))
		}
	}
}

// TestCatchesUp begins a feed on a log of many events: it costs a row of
// the journal for each log, and is read in bounded pages.
func TestCatchesUp(t *testing.T) {
	b := fixture.Open(t)
	const old = 30_000
	events := make([]eventlog.Event, 1000)
	for i := range events {
		events[i] = eventlog.Event{Type: knowledge.EventStored, Subject: fmt.Sprint(i), Agent: "a"}
	}
	for range old / len(events) {
		if err := b.Learning.Change(t.Context(), func(tx lesson.PipelineTx) error { return tx.AddEvents(events...) }, nil)(); err != nil {
			t.Fatal(err)
		}
	}
	b.Signal(t, "x", "y", "ping")
	f, err := feed.New(t.Context(), b.FeedPorts(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := fixture.As(t, principal.ScopeCaptain, "")
	if err := feed.Step(ctx, f); err != nil {
		t.Fatal(err)
	}
	runs, err := b.Operational.FeedRuns(t.Context(), 1, 100)
	if err != nil || len(runs) > 3 {
		t.Fatalf("the journal has %d rows (%v)", len(runs), err)
	}
	got := everything(t, ctx, f, feed.Query{Types: []string{"knowledge.*"}, Limit: feed.MaxLimit}, old)
	inOrder(t, got)
	// What is asked for lies at the very end, behind pages that hold none of it.
	everything(t, ctx, f, feed.Query{Types: []string{"message.*"}}, 1)
}

// TestTailIsBounded follows while more happens than the tail holds, beside
// a reader that takes nothing until the end.
func TestTailIsBounded(t *testing.T) {
	b := fixture.Open(t)
	f, _ := start(t, b.FeedPorts())
	ctx := fixture.As(t, principal.ScopeCaptain, "")
	open := func() *feed.Reader {
		reader, err := f.Follow(ctx, feed.Query{Types: []string{"knowledge.*"}, After: feed.Now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(reader.Close)
		return reader
	}
	quick, slow := open(), open()
	take := func(reader *feed.Reader, count int) {
		t.Helper()
		var last int64
		for got := 0; got < count; {
			items, err := reader.Take(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if len(items) == 0 {
				<-reader.Ready()
			}
			for _, item := range items {
				if item.Seq <= last {
					t.Fatalf("number %d comes after %d", item.Seq, last)
				}
				last = item.Seq
			}
			got += len(items)
			if got > count {
				t.Fatalf("%d events, and there are %d", got, count)
			}
		}
	}
	const rounds, each = 60, 200
	for range rounds {
		events := make([]eventlog.Event, each)
		for i := range events {
			events[i] = eventlog.Event{Type: knowledge.EventStored, Subject: fmt.Sprint(i), Agent: "a"}
		}
		if err := b.Learning.Change(t.Context(), func(tx lesson.PipelineTx) error { return tx.AddEvents(events...) }, nil)(); err != nil {
			t.Fatal(err)
		}
		take(quick, each)
	}
	if items, _ := feed.Tail(f); items > feed.TailEvents {
		t.Errorf("the tail holds %d events", items)
	}
	take(slow, rounds*each)
}

var _ feed.Journal = (*operationalstore.Store)(nil)
