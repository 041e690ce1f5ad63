package learningtest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillrouter"
	"skillrouter/learning"
)

// RunMemories runs the contract of EpisodeService as seed 002's episodic
// memory: events with a context and what was learned, by persona and time.
func RunMemories(t *testing.T, open func(t *testing.T) learning.EpisodeService) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, e learning.EpisodeService)
	}{
		{"an event is an episode", remembersEvent},
		{"an event may say what seed 004 asks", remembersWholly},
		{"what was learned is found by its words", findsLearned},
		{"personas are kept apart, and so are events and times", filtersMemories},
		{"secrets are cut out of contexts", redactsContexts},
		{"bad input is refused by name", refusesMemories},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func investigation() learning.EpisodeDraft {
	return learning.EpisodeDraft{
		AgentID: "analyst", Persona: "data-analyst", Event: "mrr-drop-investigation",
		Context: json.RawMessage(`{ "symptom": "MRR down 30%", "steps": ["checked database", "checked payments"], "root_cause": "processor outage", "minutes": 45 }`),
		Learned: "Always check the gateway first",
	}
}

func remembersEvent(t *testing.T, e learning.EpisodeService) {
	ctx := caller(t)
	got := must[learning.Episode](t)(e.Record(ctx, investigation()))
	want := learning.Episode{
		ID: got.ID, Number: got.Number, SessionID: got.SessionID, AgentID: "analyst", Persona: "data-analyst",
		EventType: learning.EventOutcome, Event: "mrr-drop-investigation", Title: "mrr-drop-investigation",
		Content: "Learned: Always check the gateway first\nsymptom: MRR down 30%\nsteps: checked database; checked payments\nroot_cause: processor outage\nminutes: 45",
		Context: json.RawMessage(`{"symptom":"MRR down 30%","steps":["checked database","checked payments"],"root_cause":"processor outage","minutes":45}`),
		Learned: "Always check the gateway first", Importance: learning.DefaultImportance, CreatedAt: got.CreatedAt,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]learning.Episode{want}, must[[]learning.Episode](t)(e.Recent(ctx, learning.EpisodeFilter{Persona: "data-analyst"}))); diff != "" {
		t.Errorf("read back: %s", diff)
	}
	bare := must[learning.Episode](t)(e.Record(ctx, learning.EpisodeDraft{Event: "lunch", Context: json.RawMessage(`{}`)}))
	if bare.Title != "lunch" || bare.Content != "lunch" || bare.Context != nil || bare.Persona != learning.DefaultPersona {
		t.Errorf("an event with nothing else: %+v", bare)
	}
}

func remembersWholly(t *testing.T, e learning.EpisodeService) {
	d := investigation()
	d.EventType, d.Title, d.Content = learning.EventError, "The outage", "In my own words"
	got := must[learning.Episode](t)(e.Record(caller(t), d))
	if got.EventType != learning.EventError || got.Title != "The outage" || got.Content != "In my own words" || got.Learned != d.Learned {
		t.Errorf("stored %+v", got)
	}
	for _, words := range []string{"gateway", "processor outage", "own words"} {
		if r := must[learning.EpisodeResults](t)(e.Search(caller(t), learning.EpisodeQuery{Query: words})); r.Count != 1 {
			t.Errorf("%q finds %d", words, r.Count)
		}
	}
}

func findsLearned(t *testing.T, e learning.EpisodeService) {
	ctx := caller(t)
	must[learning.Episode](t)(e.Record(ctx, investigation()))
	must[learning.Episode](t)(e.Record(ctx, happened("a", "Nothing of the kind")))
	for _, words := range []string{"check the gateway", "MRR drop", "processor outage", "checked payments"} {
		r := must[learning.EpisodeResults](t)(e.Search(ctx, learning.EpisodeQuery{Query: words}))
		if r.Count == 0 || r.Results[0].Event != "mrr-drop-investigation" {
			t.Errorf("%q finds %+v", words, r.Results)
		}
	}
}

func filtersMemories(t *testing.T, e learning.EpisodeService) {
	ctx := caller(t)
	for _, d := range []learning.EpisodeDraft{
		{Persona: "coder", SessionID: "s1", Event: "fixed-leak", Learned: "cache leak: 0"},
		{Persona: "coder", SessionID: "s2", Event: "fixed-race", Learned: "cache race: 1"},
		{Persona: "analyst", SessionID: "s2", Event: "fixed-leak", Learned: "cache leak: 2"},
		{SessionID: "s2", EventType: learning.EventAction, Title: "cache", Content: "cache emptied: 3"},
	} {
		must[learning.Episode](t)(e.Record(ctx, d))
	}
	today := time.Now().UTC().Format(time.DateOnly)
	for _, test := range []struct {
		name   string
		filter learning.EpisodeFilter
		want   string
	}{
		{"a persona", learning.EpisodeFilter{Persona: "coder"}, "1 0"},
		{"the default persona", learning.EpisodeFilter{Persona: learning.DefaultPersona}, "3"},
		{"every persona", learning.EpisodeFilter{Persona: learning.EveryPersona}, "3 2 1 0"},
		{"a stranger", learning.EpisodeFilter{Persona: "nobody"}, ""},
		{"an event", learning.EpisodeFilter{Event: "fixed-leak"}, "2 0"},
		{"an event of a persona", learning.EpisodeFilter{Event: "fixed-leak", Persona: "analyst"}, "2"},
		{"part of an event's name", learning.EpisodeFilter{Event: "fixed"}, ""},
		{"a type", learning.EpisodeFilter{EventType: learning.EventOutcome}, "2 1 0"},
		{"a session", learning.EpisodeFilter{SessionID: "s1"}, "0"},
		{"an hour", learning.EpisodeFilter{TimeRange: "1h"}, "3 2 1 0"},
		{"today", learning.EpisodeFilter{TimeRange: today + ".." + today, Persona: "coder"}, "1 0"},
		{"long ago", learning.EpisodeFilter{TimeRange: "2020-01-01..2020-02-01"}, ""},
		{"up to long ago", learning.EpisodeFilter{TimeRange: "..1969-12-31"}, ""},
		{"a range within a span", learning.EpisodeFilter{TimeRange: "1h", Until: time.Now().Add(-2 * time.Hour)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			list := must[[]learning.Episode](t)(e.Recent(ctx, test.filter))
			if got := lastDigits(list); got != test.want {
				t.Errorf("recent: %q, want %q", got, test.want)
			}
			f := test.filter
			r := must[learning.EpisodeResults](t)(e.Search(ctx, learning.EpisodeQuery{
				Query: "cache", Persona: f.Persona, Event: f.Event, EventType: f.EventType, SessionID: f.SessionID, TimeRange: f.TimeRange, Since: f.Since, Until: f.Until,
			}))
			found := map[string]bool{}
			for _, hit := range r.Results {
				found[lastDigits([]learning.Episode{hit.Episode})] = true
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
func lastDigits(list []learning.Episode) string {
	digits := make([]string, len(list))
	for i, e := range list {
		digits[i] = e.Content[len(e.Content)-1:]
	}
	return strings.Join(digits, " ")
}

func redactsContexts(t *testing.T, e learning.EpisodeService) {
	d := investigation()
	d.Context = json.RawMessage(`{"db":{"password":"hunter2x"},"log":"Authorization: Bearer 9f8e7d6c5b4a39281706"}`)
	d.Learned = "the api_key=sk-ant-REDACTED was revoked"
	got := must[learning.Episode](t)(e.Record(caller(t), d))
	text := string(got.Context) + got.Learned + got.Content
	for _, secret := range []string{"hunter2x", "9f8e7d6c", "sk-ant-0123"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is stored: %s", secret, text)
		}
	}
}

func refusesMemories(t *testing.T, e learning.EpisodeService) {
	ctx := caller(t)
	long := strings.Repeat("x", learning.MaxEpisodeContext)
	for _, test := range []struct {
		name, field string
		code        skillrouter.Code
		change      func(d *learning.EpisodeDraft)
	}{
		{"a persona that is a path", "persona", skillrouter.Invalid, func(d *learning.EpisodeDraft) { d.Persona = "../x" }},
		{"every persona", "persona", skillrouter.Invalid, func(d *learning.EpisodeDraft) { d.Persona = learning.EveryPersona }},
		{"an event of two lines", "event", skillrouter.Invalid, func(d *learning.EpisodeDraft) { d.Event = "a\nb" }},
		{"a long event", "event", skillrouter.Invalid, func(d *learning.EpisodeDraft) { d.Event = long }},
		{"no event and no type", "event_type", skillrouter.Invalid, func(d *learning.EpisodeDraft) { d.Event = " " }},
		{"a type that is none", "event_type", skillrouter.Invalid, func(d *learning.EpisodeDraft) { d.EventType = "mood" }},
		{"a list for a context", "context", skillrouter.Invalid, func(d *learning.EpisodeDraft) { d.Context = json.RawMessage(`["a"]`) }},
		{"a text for a context", "context", skillrouter.Invalid, func(d *learning.EpisodeDraft) { d.Context = json.RawMessage(`"a"`) }},
		{"a long context", "context", skillrouter.TooLarge, func(d *learning.EpisodeDraft) { d.Context = json.RawMessage(`{"a":"` + long + `"}`) }},
		{"a deep context", "context", skillrouter.Invalid, func(d *learning.EpisodeDraft) {
			d.Context = json.RawMessage(`{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`)
		}},
		{"much that was learned", "learned", skillrouter.TooLarge, func(d *learning.EpisodeDraft) { d.Learned = long }},
		{"a NUL", "learned", skillrouter.Invalid, func(d *learning.EpisodeDraft) { d.Learned = "a\x00b" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := investigation()
			test.change(&d)
			_, err := e.Record(ctx, d)
			refused(t, err, test.code, test.field)
		})
	}
	for _, test := range []struct {
		field  string
		filter learning.EpisodeFilter
	}{
		{"time_range", learning.EpisodeFilter{TimeRange: "soon"}},
		{"time_range", learning.EpisodeFilter{TimeRange: "2026-02-01..2026-01-01"}},
		{"persona", learning.EpisodeFilter{Persona: "../x"}},
		{"event", learning.EpisodeFilter{Event: long[:skillrouter.MaxName+1]}},
	} {
		_, err := e.Recent(ctx, test.filter)
		refused(t, err, skillrouter.Invalid, test.field)
		_, err = e.Search(ctx, learning.EpisodeQuery{Query: "q", TimeRange: test.filter.TimeRange, Persona: test.filter.Persona, Event: test.filter.Event})
		refused(t, err, skillrouter.Invalid, test.field)
	}
	if got := must[[]learning.Episode](t)(e.Recent(ctx, learning.EpisodeFilter{})); len(got) > 0 {
		t.Errorf("a refused episode was recorded: %v", titles(got))
	}
}
