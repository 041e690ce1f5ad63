package learningtest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
)

// RunMemories runs the contract of EpisodeService as the persona memory's episodic
// memory: events with a context and what was learned, by persona and time.
func RunMemories(t *testing.T, open func(t *testing.T) episode.Service) {
	contract[episode.Service]{
		{"an event is an episode", remembersEvent},
		{"an event may say what the sidecar asks", remembersWholly},
		{"what was learned is found by its words", findsLearned},
		{"personas are kept apart, and so are events and times", filtersMemories},
		{"secrets are cut out of contexts", redactsContexts},
		{"bad input is refused by name", refusesMemories},
	}.run(t, open)
}

func investigation() episode.Draft {
	return episode.Draft{
		AgentID: "analyst", Persona: "data-analyst", Event: "mrr-drop-investigation",
		Context: json.RawMessage(`{ "symptom": "MRR down 30%", "steps": ["checked database", "checked payments"], "root_cause": "processor outage", "minutes": 45 }`),
		Learned: "Always check the gateway first",
	}
}

func remembersEvent(t *testing.T, ctx context.Context, e episode.Service) {
	got := must[episode.Episode](t)(e.Record(ctx, investigation()))
	want := episode.Episode{
		ID: got.ID, Number: got.Number, SessionID: got.SessionID, AgentID: "analyst", Persona: "data-analyst",
		EventType: episode.EventOutcome, Event: "mrr-drop-investigation", Title: "mrr-drop-investigation",
		Content: "Learned: Always check the gateway first\nsymptom: MRR down 30%\nsteps: checked database; checked payments\nroot_cause: processor outage\nminutes: 45",
		Context: json.RawMessage(`{"symptom":"MRR down 30%","steps":["checked database","checked payments"],"root_cause":"processor outage","minutes":45}`),
		Learned: "Always check the gateway first", Importance: episode.DefaultImportance, CreatedAt: got.CreatedAt,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]episode.Episode{want}, must[[]episode.Episode](t)(e.Recent(ctx, episode.Filter{Persona: "data-analyst"}))); diff != "" {
		t.Errorf("read back: %s", diff)
	}
	bare := must[episode.Episode](t)(e.Record(ctx, episode.Draft{Event: "lunch", Context: json.RawMessage(`{}`)}))
	if bare.Title != "lunch" || bare.Content != "lunch" || bare.Context != nil || bare.Persona != learning.DefaultPersona {
		t.Errorf("an event with nothing else: %+v", bare)
	}
}

func remembersWholly(t *testing.T, ctx context.Context, e episode.Service) {
	d := investigation()
	d.EventType, d.Title, d.Content = episode.EventError, "The outage", "In my own words"
	got := must[episode.Episode](t)(e.Record(caller(t), d))
	if got.EventType != episode.EventError || got.Title != "The outage" || got.Content != "In my own words" || got.Learned != d.Learned {
		t.Errorf("stored %+v", got)
	}
	for _, words := range []string{"gateway", "processor outage", "own words"} {
		if r := must[episode.Results](t)(e.Search(caller(t), episode.Query{Query: words})); r.Count != 1 {
			t.Errorf("%q finds %d", words, r.Count)
		}
	}
}

func findsLearned(t *testing.T, ctx context.Context, e episode.Service) {
	must[episode.Episode](t)(e.Record(ctx, investigation()))
	must[episode.Episode](t)(e.Record(ctx, happened("a", "Nothing of the kind")))
	for _, words := range []string{"check the gateway", "MRR drop", "processor outage", "checked payments"} {
		r := must[episode.Results](t)(e.Search(ctx, episode.Query{Query: words}))
		if r.Count == 0 || r.Results[0].Event != "mrr-drop-investigation" {
			t.Errorf("%q finds %+v", words, r.Results)
		}
	}
}

func filtersMemories(t *testing.T, ctx context.Context, e episode.Service) {
	for _, d := range []episode.Draft{
		{Persona: "coder", SessionID: "s1", Event: "fixed-leak", Learned: "cache leak: 0"},
		{Persona: "coder", SessionID: "s2", Event: "fixed-race", Learned: "cache race: 1"},
		{Persona: "analyst", SessionID: "s2", Event: "fixed-leak", Learned: "cache leak: 2"},
		{SessionID: "s2", EventType: episode.EventAction, Title: "cache", Content: "cache emptied: 3"},
	} {
		must[episode.Episode](t)(e.Record(ctx, d))
	}
	today := time.Now().UTC().Format(time.DateOnly)
	for _, test := range []struct {
		name   string
		filter episode.Filter
		want   string
	}{
		{"a persona", episode.Filter{Persona: "coder"}, "1 0"},
		{"the default persona", episode.Filter{Persona: learning.DefaultPersona}, "3"},
		{"every persona", episode.Filter{Persona: episode.EveryPersona}, "3 2 1 0"},
		{"a stranger", episode.Filter{Persona: "nobody"}, ""},
		{"an event", episode.Filter{Event: "fixed-leak"}, "2 0"},
		{"an event of a persona", episode.Filter{Event: "fixed-leak", Persona: "analyst"}, "2"},
		{"part of an event's name", episode.Filter{Event: "fixed"}, ""},
		{"a type", episode.Filter{EventType: episode.EventOutcome}, "2 1 0"},
		{"a session", episode.Filter{SessionID: "s1"}, "0"},
		{"an hour", episode.Filter{TimeRange: "1h"}, "3 2 1 0"},
		{"today", episode.Filter{TimeRange: today + ".." + today, Persona: "coder"}, "1 0"},
		{"long ago", episode.Filter{TimeRange: "2020-01-01..2020-02-01"}, ""},
		{"up to long ago", episode.Filter{TimeRange: "..1969-12-31"}, ""},
		{"a range within a span", episode.Filter{TimeRange: "1h", Until: time.Now().Add(-2 * time.Hour)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			list := must[[]episode.Episode](t)(e.Recent(ctx, test.filter))
			if got := lastDigits(list); got != test.want {
				t.Errorf("recent: %q, want %q", got, test.want)
			}
			f := test.filter
			r := must[episode.Results](t)(e.Search(ctx, episode.Query{
				Query: "cache", Persona: f.Persona, Event: f.Event, EventType: f.EventType, SessionID: f.SessionID, TimeRange: f.TimeRange, Since: f.Since, Until: f.Until,
			}))
			found := map[string]bool{}
			for _, hit := range r.Results {
				found[lastDigits([]episode.Episode{hit.Episode})] = true
			}
			wanted := map[string]bool{}
			for _, digit := range strings.Fields(test.want) {
				wanted[digit] = true
			}
			if diff := cmp.Diff(wanted, found); diff != "" {
				t.Errorf("search: %s", diff)
			}
		})
	}
}

// lastDigits tells episodes by the digits that their contents end in.
func lastDigits(list []episode.Episode) string {
	digits := make([]string, len(list))
	for i, e := range list {
		digits[i] = e.Content[len(e.Content)-1:]
	}
	return strings.Join(digits, " ")
}

func redactsContexts(t *testing.T, ctx context.Context, e episode.Service) {
	d := investigation()
	d.Context = json.RawMessage(`{"db":{"password":"hunter2x"},"log":"Authorization: Bearer 9f8e7d6c5b4a39281706"}`)
	d.Learned = "the api_key=sk-ant-REDACTED was revoked"
	got := must[episode.Episode](t)(e.Record(caller(t), d))
	text := string(got.Context) + got.Learned + got.Content
	for _, secret := range []string{"hunter2x", "9f8e7d6c", "sk-ant-0123"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is stored: %s", secret, text)
		}
	}
}

func refusesMemories(t *testing.T, ctx context.Context, e episode.Service) {
	long := strings.Repeat("x", episode.MaxContext)
	spoilt[episode.Draft]{
		{"a persona that is a path", "persona", errs.Invalid, func(d *episode.Draft) { d.Persona = "../x" }},
		{"every persona", "persona", errs.Invalid, func(d *episode.Draft) { d.Persona = episode.EveryPersona }},
		{"an event of two lines", "event", errs.Invalid, func(d *episode.Draft) { d.Event = "a\nb" }},
		{"a long event", "event", errs.Invalid, func(d *episode.Draft) { d.Event = long }},
		{"no event and no type", "event_type", errs.Invalid, func(d *episode.Draft) { d.Event = " " }},
		{"a type that is none", "event_type", errs.Invalid, func(d *episode.Draft) { d.EventType = "mood" }},
		{"a list for a context", "context", errs.Invalid, func(d *episode.Draft) { d.Context = json.RawMessage(`["a"]`) }},
		{"a text for a context", "context", errs.Invalid, func(d *episode.Draft) { d.Context = json.RawMessage(`"a"`) }},
		{"a long context", "context", errs.TooLarge, func(d *episode.Draft) { d.Context = json.RawMessage(`{"a":"` + long + `"}`) }},
		{"a deep context", "context", errs.Invalid, func(d *episode.Draft) {
			d.Context = json.RawMessage(`{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`)
		}},
		{"much that was learned", "learned", errs.TooLarge, func(d *episode.Draft) { d.Learned = long }},
		{"a NUL", "learned", errs.Invalid, func(d *episode.Draft) { d.Learned = "a\x00b" }},
	}.refused(t, func() episode.Draft { return investigation() }, func(d episode.Draft) error { _, err := e.Record(ctx, d); return err })
	for _, test := range []struct {
		field  string
		filter episode.Filter
	}{
		{"time_range", episode.Filter{TimeRange: "soon"}},
		{"time_range", episode.Filter{TimeRange: "2026-02-01..2026-01-01"}},
		{"persona", episode.Filter{Persona: "../x"}},
		{"event", episode.Filter{Event: long[:check.MaxName+1]}},
	} {
		refuses(t, errs.Invalid, test.field)(e.Recent(ctx, test.filter))
		refuses(t, errs.Invalid, test.field)(e.Search(ctx, episode.Query{Query: "q", TimeRange: test.filter.TimeRange, Persona: test.filter.Persona, Event: test.filter.Event}))
	}
	if got := must[[]episode.Episode](t)(e.Recent(ctx, episode.Filter{})); len(got) > 0 {
		t.Errorf("a refused episode was recorded: %v", titles(got))
	}
}
