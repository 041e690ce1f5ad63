package learningtest

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
)

func happened(agent, title string) episode.Draft {
	return episode.Draft{AgentID: agent, EventType: episode.EventAction, Title: title, Content: title + ", in detail"}
}

// RunEpisodes runs the contract of EpisodeService.
func RunEpisodes(t *testing.T, open func(t *testing.T) episode.Service) {
	contract[episode.Service]{
		{"a recorded episode reads back", recordsBack},
		{"an agent stays in its session", sessions},
		{"recent episodes come newest first and filtered", recent},
		{"a search finds episodes", searchesEpisodes},
		{"secrets are cut out", redactsEpisodes},
		{"bad input is refused by name", refusesEpisodes},
		{"an episode is changed and deleted", changesEpisodes},
	}.run(t, open)
}

func recordsBack(t *testing.T, ctx context.Context, e episode.Service) {
	importance := 0.9
	d := episode.Draft{
		SessionID: "s-1", AgentID: "captain", EventType: episode.EventDecision, Title: "Chose SQLite", Content: "One file.\n\nNo server.",
		Project: "mss", Importance: &importance,
	}
	got := must[episode.Episode](t)(e.Record(ctx, d))
	want := episode.Episode{
		ID: got.ID, Number: got.Number, SessionID: "s-1", AgentID: "captain", Persona: learning.DefaultPersona, EventType: d.EventType, Title: d.Title, Content: d.Content,
		Project: d.Project, Importance: 0.9, CreatedAt: got.CreatedAt,
	}
	if diff := cmp.Diff(want, got); diff != "" || got.ID == "" || got.Number < 1 || got.CreatedAt.IsZero() {
		t.Errorf("recorded %+v: %s", got, diff)
	}
	if diff := cmp.Diff([]episode.Episode{want}, must[[]episode.Episode](t)(e.Recent(ctx, episode.Filter{}))); diff != "" {
		t.Error(diff)
	}
	zero := 0.0
	unimportant := happened("captain", "Nothing much")
	unimportant.Importance = &zero
	if got := must[episode.Episode](t)(e.Record(ctx, unimportant)); got.Importance != 0 {
		t.Errorf("importance 0 became %g", got.Importance)
	}
	if got := must[episode.Episode](t)(e.Record(ctx, happened("captain", "Something"))); got.Importance != episode.DefaultImportance {
		t.Errorf("importance = %g, want the default", got.Importance)
	}
}

func sessions(t *testing.T, ctx context.Context, e episode.Service) {
	first := must[episode.Episode](t)(e.Record(ctx, happened("builder", "one")))
	if first.SessionID == "" || !strings.Contains(first.SessionID, "builder") {
		t.Errorf("session %q does not tell whose it is", first.SessionID)
	}
	if second := must[episode.Episode](t)(e.Record(ctx, happened("builder", "two"))); second.SessionID != first.SessionID {
		t.Errorf("the second episode is in session %q, the first in %q", second.SessionID, first.SessionID)
	}
	if other := must[episode.Episode](t)(e.Record(ctx, happened("tester", "three"))); other.SessionID == first.SessionID {
		t.Error("two agents share a session that neither named")
	}
	if nobody := must[episode.Episode](t)(e.Record(ctx, happened("", "four"))); nobody.SessionID == "" {
		t.Error("an episode of nobody in particular has no session")
	}
	named := happened("builder", "five")
	named.SessionID = "night shift"
	must[episode.Episode](t)(e.Record(ctx, named))
	current := happened("builder", "six")
	current.SessionID = episode.CurrentSession
	if got := must[episode.Episode](t)(e.Record(ctx, current)); got.SessionID != "night shift" {
		t.Errorf("after a named session the next episode is in %q", got.SessionID)
	}
	got := must[[]episode.Episode](t)(e.Recent(ctx, episode.Filter{SessionID: episode.CurrentSession, AgentID: "builder"}))
	if diff := cmp.Diff([]string{"six", "five"}, titles(got)); diff != "" {
		t.Errorf("the current session: %s", diff)
	}
	if got := must[[]episode.Episode](t)(e.Recent(ctx, episode.Filter{SessionID: episode.CurrentSession, AgentID: "stranger"})); len(got) > 0 {
		t.Errorf("an agent without a session has %v", titles(got))
	}
}

func changesEpisodes(t *testing.T, ctx context.Context, e episode.Service) {
	old := must[episode.Episode](t)(e.Record(ctx, happened("captain", "Broke the build")))
	for _, ref := range []string{old.ID, strconv.FormatInt(old.Number, 10)} {
		if diff := cmp.Diff(old, must[episode.Episode](t)(e.Episode(ctx, ref))); diff != "" {
			t.Errorf("%s: %s", ref, diff)
		}
	}
	title, kind, secret := "Mended the windmill", episode.EventOutcome, "password=hunter2hunter2"
	got := must[episode.Episode](t)(e.Edit(ctx, old.ID, episode.Patch{Title: &title, EventType: &kind, Content: &secret}))
	want := old
	want.Title, want.EventType, want.Content = title, kind, got.Content
	if diff := cmp.Diff(want, got); diff != "" || strings.Contains(got.Content, "hunter2") {
		t.Errorf("edited %+v: %s", got, diff)
	}
	if diff := cmp.Diff(got, must[episode.Episode](t)(e.Episode(ctx, old.ID))); diff != "" {
		t.Errorf("read back: %s", diff)
	}
	search := func(text string) []string {
		var found []string
		for _, hit := range must[episode.Results](t)(e.Search(ctx, episode.Query{Query: text})).Results {
			found = append(found, hit.Title)
		}
		return found
	}
	if found := search("windmill"); len(found) != 1 {
		t.Errorf("an edited episode is not found by its new words: %v", found)
	}
	for try := 0; len(search("broke")) != 0; try++ { // its vector, where it has one, is made anew soon after
		if try == 200 {
			t.Fatalf("an edited episode is found by its old words: %v", search("broke"))
		}
		<-time.After(10 * time.Millisecond)
	}
	wrong, empty, much := "mishap", "", 2.0
	for field, patch := range map[string]episode.Patch{"event_type": {EventType: &wrong}, "title": {Title: &empty}, "importance": {Importance: &much}} {
		if _, err := e.Edit(ctx, old.ID, patch); errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	need(t, e.Delete(ctx, old.ID))
	if found := search("windmill"); len(found) != 0 {
		t.Errorf("a deleted episode is found: %v", found)
	}
	for _, err := range []error{e.Delete(ctx, old.ID), e.Delete(ctx, "4000000"), second(e.Episode(ctx, old.ID)), second(e.Edit(ctx, old.ID, episode.Patch{Title: &title}))} {
		if errs.CodeOf(err) != errs.NotFound {
			t.Errorf("a deleted episode answers %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func titles(episodes []episode.Episode) []string {
	out := []string{}
	for _, e := range episodes {
		out = append(out, e.Title)
	}
	return out
}

func recent(t *testing.T, ctx context.Context, e episode.Service) {
	if got := must[[]episode.Episode](t)(e.Recent(ctx, episode.Filter{})); got == nil || len(got) > 0 {
		t.Errorf("recent of nothing = %v, want an empty list", got)
	}
	var all []episode.Episode
	for i, d := range []episode.Draft{
		{AgentID: "a", SessionID: "s1", Project: "p", EventType: "action", Title: "0", Content: "c"},
		{AgentID: "a", SessionID: "s1", Project: "q", EventType: "error", Title: "1", Content: "c"},
		{AgentID: "b", SessionID: "s2", Project: "p", EventType: "error", Title: "2", Content: "c"},
		{AgentID: "b", SessionID: "s1", Project: "q", EventType: "outcome", Title: "3", Content: "c"},
	} {
		all = append(all, must[episode.Episode](t)(e.Record(ctx, d)))
		if i > 0 && all[i].Number <= all[i-1].Number {
			t.Errorf("number %d follows %d", all[i].Number, all[i-1].Number)
		}
	}
	last := all[3].CreatedAt
	for _, test := range []struct {
		name   string
		filter episode.Filter
		want   string
	}{
		{"all", episode.Filter{}, "3 2 1 0"},
		{"limit", episode.Filter{Limit: 2}, "3 2"},
		{"session", episode.Filter{SessionID: "s1"}, "3 1 0"},
		{"agent", episode.Filter{AgentID: "b"}, "3 2"},
		{"project", episode.Filter{Project: "p"}, "2 0"},
		{"type", episode.Filter{EventType: "error"}, "2 1"},
		{"several", episode.Filter{EventType: "error", AgentID: "a"}, "1"},
		{"since the end", episode.Filter{Since: last.Add(time.Hour)}, ""},
		{"since before", episode.Filter{Since: last.Add(-time.Hour)}, "3 2 1 0"},
		{"until before", episode.Filter{Until: last.Add(-time.Hour)}, ""},
		{"until after", episode.Filter{Until: last.Add(time.Hour)}, "3 2 1 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := must[[]episode.Episode](t)(e.Recent(ctx, test.filter))
			if s := strings.Join(titles(got), " "); s != test.want {
				t.Errorf("got %q, want %q", s, test.want)
			}
		})
	}
}

func searchesEpisodes(t *testing.T, ctx context.Context, e episode.Service) {
	for _, d := range []episode.Draft{
		{AgentID: "a", Project: "p", EventType: "error", Title: "Migration failed", Content: "goose said dirty schema"},
		{AgentID: "b", Project: "q", EventType: "outcome", Title: "Migration done", Content: "all schemas at version 3"},
		{AgentID: "b", Project: "q", EventType: "action", Title: "Lunch", Content: "noodles"},
	} {
		must[episode.Episode](t)(e.Record(ctx, d))
	}
	for _, test := range []struct {
		query episode.Query
		want  string
	}{
		{episode.Query{Query: "dirty schema migration"}, "Migration failed|Migration done"},
		{episode.Query{Query: "migration", Project: "q"}, "Migration done"},
		{episode.Query{Query: "migration", AgentID: "a"}, "Migration failed"},
		{episode.Query{Query: "migration", EventType: "outcome"}, "Migration done"},
		{episode.Query{Query: "dirty schema migration", Limit: 1}, "Migration failed"},
		{episode.Query{Query: "nothing of the kind happened zzz"}, ""},
	} {
		r := must[episode.Results](t)(e.Search(ctx, test.query))
		found := []string{}
		for _, hit := range r.Results {
			found = append(found, hit.Title)
			if hit.SessionID == "" || hit.RelevanceScore <= 0 {
				t.Errorf("%+v: hit %+v", test.query, hit)
			}
		}
		if got := strings.Join(found, "|"); got != test.want || r.Count != len(r.Results) || r.Results == nil {
			t.Errorf("%+v finds %q, want %q", test.query, got, test.want)
		}
	}
	r := must[episode.Results](t)(e.Search(ctx, episode.Query{Query: "noodles", Explain: true}))
	if r.Count != 1 || len(r.Results[0].Why) == 0 {
		t.Errorf("not explained: %+v", r)
	}
}

func redactsEpisodes(t *testing.T, ctx context.Context, e episode.Service) {
	d := happened("a", "Logged in with password=hunter2x")
	d.Content = "Authorization: Bearer 9f8e7d6c5b4a39281706"
	got := must[episode.Episode](t)(e.Record(caller(t), d))
	if strings.Contains(got.Title, "hunter2x") || strings.Contains(got.Content, "9f8e7d6c") {
		t.Errorf("stored %q, %q", got.Title, got.Content)
	}
}

func refusesEpisodes(t *testing.T, ctx context.Context, e episode.Service) {
	long := strings.Repeat("x", learning.MaxContent+1)
	spoilt[episode.Draft]{
		{"no type", "event_type", errs.Invalid, func(d *episode.Draft) { d.EventType = "" }},
		{"unknown type", "event_type", errs.Invalid, func(d *episode.Draft) { d.EventType = "Action" }},
		{"no title", "title", errs.Invalid, func(d *episode.Draft) { d.Title = " " }},
		{"no content", "content", errs.Invalid, func(d *episode.Draft) { d.Content = "" }},
		{"long title", "title", errs.TooLarge, func(d *episode.Draft) { d.Title = long[:learning.MaxTitle+1] }},
		{"long content", "content", errs.TooLarge, func(d *episode.Draft) { d.Content = long }},
		{"importance over 1", "importance", errs.Invalid, func(d *episode.Draft) { d.Importance = ptr(1.01) }},
		{"importance below 0", "importance", errs.Invalid, func(d *episode.Draft) { d.Importance = ptr(-0.01) }},
		{"long session", "session_id", errs.Invalid, func(d *episode.Draft) { d.SessionID = long[:check.MaxName+1] }},
		{"long project", "project", errs.Invalid, func(d *episode.Draft) { d.Project = long[:check.MaxName+1] }},
		{"agent that is none", "agent_id", errs.Invalid, func(d *episode.Draft) { d.AgentID = "a/b" }},
	}.refused(t, func() episode.Draft { return happened("a", "Fine") }, func(d episode.Draft) error { _, err := e.Record(ctx, d); return err })
	for _, test := range []struct {
		name, field string
		filter      episode.Filter
	}{
		{"limit", "limit", episode.Filter{Limit: learning.MaxLimit + 1}},
		{"type", "event_type", episode.Filter{EventType: "mood"}},
		{"agent", "agent_id", episode.Filter{AgentID: "a b"}},
		{"span", "until", episode.Filter{Since: time.Unix(2000, 0), Until: time.Unix(1000, 0)}},
	} {
		t.Run("recent by "+test.name, func(t *testing.T) {
			refuses(t, errs.Invalid, test.field)(e.Recent(ctx, test.filter))
		})
	}
	refuses(t, errs.Invalid, "query")(e.Search(ctx, episode.Query{Query: ""}))
	if got := must[[]episode.Episode](t)(e.Recent(ctx, episode.Filter{})); len(got) > 0 {
		t.Errorf("a refused episode was recorded: %v", titles(got))
	}
}
