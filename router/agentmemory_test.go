package router_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/routertest/fixture"
)

func titles(lessons []lesson.Lesson) (list []string) {
	for _, l := range lessons {
		list = append(list, l.Title)
	}
	return list
}

func TestAgentMemory(t *testing.T) {
	b := fixture.Open(t)
	crossing, _ := fixture.RunCrossing(t, b.Ports(t))
	memory := router.NewAgentMemory(router.MemorySources{Lessons: b.Learning, Domains: b.Lessons, Pending: b.Escalations, Crossing: crossing}, time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	tell := func(agent, domain, title string, change func(*lesson.Lesson)) {
		t.Helper()
		b.Report(t, lesson.EventReported, func(l *lesson.Lesson) {
			l.SourceAgent, l.Domain, l.Title, l.Category, l.Tags = agent, domain, title, "c", []string{}
			if change != nil {
				change(l)
			}
		})
	}
	anti := func(l *lesson.Lesson) {
		l.Type, l.Context, l.Action = learning.LessonAntiPattern, "It loses data", "docker volume prune"
	}
	tell("HADES", "docker", "Mine", nil)
	tell("other", "Docker", "Of my domain", nil)
	tell("other", "billing", "Of another domain", nil)
	tell("other", "billing", "Critical elsewhere", func(l *lesson.Lesson) { l.Severity = learning.SeverityCritical })
	tell("other", "billing", "A principle", func(l *lesson.Lesson) { l.Level = lesson.LevelPrinciple })
	tell("other", "billing", "Holds in most places", func(l *lesson.Lesson) { l.Transferability = 4 })
	tell("other", "docker", "Retired", func(l *lesson.Lesson) { l.Status = lesson.StatusRetired })
	tell("other", "docker", "Never prune volumes", anti)
	tell("other", "billing", "Never bill by hand", anti)
	got, err := memory.Memory(ctx, "HADES")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Never prune volumes", "Holds in most places", "A principle", "Critical elsewhere", "Of my domain", "Mine"}
	if diff := cmp.Diff(want, titles(got.Recent)); diff != "" {
		t.Errorf("recent (-want +got):\n%s", diff)
	}
	if got.LessonsCount != len(want) || got.Domain != "docker" || got.Agent != "HADES" || got.LastUpdated.IsZero() {
		t.Errorf("%d lessons of %q for %q at %v", got.LessonsCount, got.Domain, got.Agent, got.LastUpdated)
	}
	if diff := cmp.Diff([]string{"Critical elsewhere"}, titles(got.Critical)); diff != "" {
		t.Errorf("critical (-want +got):\n%s", diff)
	}
	if len(got.AntiPatterns) != 1 || got.AntiPatterns[0].Title != "Never prune volumes" || got.AntiPatterns[0].WhyBad != "It loses data" ||
		got.AntiPatterns[0].SourceAgent != "other" || got.AntiPatterns[0].Trust != learning.TrustAgent || got.AntiPatterns[0].Confidence < 0.7 {
		t.Errorf("anti-patterns: %+v", got.AntiPatterns)
	}
	// CHRONOS has reported nothing: MNEMOSYNE says what it does.
	tell("other", "infrastructure", "For the seed's agents", nil)
	if got, err = memory.Memory(ctx, "CHRONOS"); err != nil || got.Domain != "infrastructure" || !slices.Contains(titles(got.Recent), "For the seed's agents") {
		t.Errorf("CHRONOS has %+v, %v", got, err)
	}
	for i := range 2 * router.RecentLessons {
		tell("HADES", "docker", fmt.Sprint("More ", i), nil)
	}
	if got, err = memory.Memory(ctx, "HADES"); err != nil || len(got.Recent) != router.RecentLessons || got.LessonsCount != len(want)+2*router.RecentLessons {
		t.Errorf("%d recent of %d, %v", len(got.Recent), got.LessonsCount, err)
	}
	if _, err := memory.Memory(ctx, "no id"); errs.CodeOf(err) != errs.Invalid {
		t.Errorf("an agent that is none: %v", err)
	}
	if _, err := memory.Memory(t.Context(), "HADES"); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("for nobody: %v", err)
	}
}

func TestSessionContext(t *testing.T) {
	b := fixture.Open(t)
	crossing, _ := fixture.RunCrossing(t, b.Ports(t))
	memory := router.NewAgentMemory(router.MemorySources{Lessons: b.Learning, Domains: b.Lessons, Pending: b.Escalations, Crossing: crossing}, time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	now := time.Now()
	for _, l := range []struct {
		title  string
		change func(*lesson.Lesson)
	}{
		{"Old failure", func(l *lesson.Lesson) { l.LastOccurred = now.Add(-73 * time.Hour) }},
		{"Failure of today", nil},
		{"Workaround", func(l *lesson.Lesson) { l.Type = learning.LessonWorkaround }},
		{"Rule", func(l *lesson.Lesson) {
			l.Type, l.Severity = learning.LessonAntiPattern, learning.SeverityCritical
		}},
		{"Minor rule", func(l *lesson.Lesson) { l.Type = learning.LessonAntiPattern }},
		{"By category", func(l *lesson.Lesson) { l.Type, l.Category = learning.LessonDiscovery, "n8n" }},
		{"By tag", func(l *lesson.Lesson) { l.Type, l.Tags = learning.LessonDiscovery, []string{"Caddy"} }},
		{"By domain", func(l *lesson.Lesson) { l.Type, l.Domain = learning.LessonDiscovery, "Supabase" }},
		{"Redis", func(l *lesson.Lesson) { l.Type, l.Tags = learning.LessonDiscovery, []string{"redis"} }},
		{"Session before", func(l *lesson.Lesson) {
			l.Type, l.SourceAgent, l.CreatedAt = learning.LessonDiscovery, router.SessionAgent, now.Add(-5*time.Hour)
		}},
		{"This session", func(l *lesson.Lesson) { l.Type, l.SourceAgent = learning.LessonDiscovery, router.SessionAgent }},
	} {
		b.Report(t, lesson.EventReported, func(lesson *lesson.Lesson) {
			lesson.Title, lesson.Domain, lesson.Category, lesson.Tags = l.title, "general", "c", []string{}
			if l.change != nil {
				l.change(lesson)
			}
		}, fixture.ToARIA)
	}
	got, err := memory.SessionContext(ctx, router.SessionQuery{Domains: []string{"Redis", "docker"}})
	if err != nil {
		t.Fatal(err)
	}
	type shape struct {
		Anti, Failures, Workarounds, Session []string
		Topics                               map[string][]string
	}
	seen := shape{Failures: titles(got.RecentFailures), Workarounds: titles(got.ActiveWorkarounds), Session: titles(got.LastSessionLessons), Topics: map[string][]string{}}
	for _, a := range got.CriticalAntiPatterns {
		seen.Anti = append(seen.Anti, a.Title)
	}
	for topic, lessons := range got.DomainLessons {
		seen.Topics[topic] = titles(lessons)
	}
	want := shape{
		Anti: []string{"Rule"}, Failures: []string{"Failure of today"}, Workarounds: []string{"Workaround"}, Session: []string{"This session"},
		Topics: map[string][]string{"docker": nil, "supabase": {"By domain"}, "n8n": {"By category"}, "caddy": {"By tag"}, "aria": nil, "redis": {"Redis"}},
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("the context (-want +got):\n%s", diff)
	}
	figures, err := memory.Figures(ctx)
	if diff := cmp.Diff(lesson.Figures{Total: 11, Failures: 2, AntiPatterns: 2, Pending: 11, Today: 11, ThisWeek: 11}, figures); diff != "" || err != nil {
		t.Errorf("the figures (-want +got):\n%s%v", diff, err)
	}
	for _, domains := range [][]string{make([]string, router.MaxTopics+1), {"a\nb"}} {
		if _, err := memory.SessionContext(ctx, router.SessionQuery{Domains: domains}); errs.CodeOf(err) != errs.Invalid {
			t.Errorf("domains %q: %v", domains, err)
		}
	}
}

// TestPendingSeesWhatWasReported holds that a question right after a report has its answer.
func TestPendingSeesWhatWasReported(t *testing.T) {
	b := fixture.Open(t)
	crossing, _ := fixture.RunCrossing(t, b.Ports(t))
	escalations := router.SettledEscalations{EscalationService: b.Escalations, Crossing: crossing}
	ctx := principal.With(t.Context(), principal.Open())
	for i := range 20 {
		b.Report(t, lesson.EventReported, nil, fixture.ToARIA)
		list, err := escalations.List(ctx, operational.EscalationFilter{To: "ARIA"})
		if err != nil || len(list) != i+1 {
			t.Fatalf("after report %d there are %d, %v", i+1, len(list), err)
		}
	}
	inbox, err := b.Mailbox.Inbox(fixture.AsRouter(t), comms.InboxQuery{AgentID: "ARIA"})
	if err != nil || inbox.Count != 20 {
		t.Errorf("%d messages, %v", inbox.Count, err)
	}
}
