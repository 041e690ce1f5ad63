package crossing_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/escalation"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/propagation"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/crossing"
	"github.com/skillrouter/skillrouter/router/routertest/fixture"
)

func TestEscalates(t *testing.T) {
	b := fixture.Open(t)
	crossing, _ := fixture.RunCrossing(t, b.Ports(t))
	one := b.Report(t, lesson.EventReported, nil, fixture.ToARIA, lesson.Escalation{To: "supervisor:docker", Reason: "Domain issue", Priority: learning.SeverityCritical})
	b.Report(t, lesson.EventReported, nil)
	again := one
	b.Number-- // the same lesson
	b.Report(t, lesson.EventOccurred, func(l *lesson.Lesson) { l.ID = again.ID }, fixture.ToARIA)
	b.Report(t, lesson.EventRuleDemoted, func(l *lesson.Lesson) { l.ID = again.ID })
	if err := crossing.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	type line struct {
		To, Lesson, Reason string
		Times              int64
	}
	var got []line
	for _, e := range b.Escalated(t) {
		got = append(got, line{e.To, e.LessonID, e.Reason, e.Occurrences})
	}
	want := []line{
		{"supervisor:docker", one.ID, "Domain issue", 1},
		{"ARIA", one.ID, "Critical issue", 2},
		{"captain", one.ID, "Rule demoted to a warning", 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("escalations (-want +got):\n%s", diff)
	}
	mail := b.Mail(t, "ARIA")
	if len(mail) != 1 || mail[0].From != router.MailAgent || mail[0].Signal != operational.SignalEscalation {
		t.Fatalf("ARIA's mail is %+v", mail)
	}
	var said map[string]string
	if err := json.Unmarshal(mail[0].Context, &said); err != nil || said["lesson_id"] != one.ID || said["reason"] != "Critical issue" || said["source_agent"] != "author" {
		t.Errorf("the message says %v, %v", said, err)
	}
	if n := len(b.Mail(t, "supervisor:docker")); n != 1 {
		t.Errorf("the supervisor has %d messages", n)
	}
	b.Number++
	twice := b.Report(t, lesson.EventReported, nil, fixture.ToARIA, lesson.Escalation{To: "ARIA", Reason: "New anti-pattern", Priority: learning.SeverityCritical})
	if err := crossing.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := b.Escalations.List(fixture.AsRouter(t), operational.EscalationFilter{LessonID: twice.ID})
	if err != nil || len(list) != 1 || list[0].Reason != "Critical issue; New anti-pattern" || list[0].Occurrences != 1 || len(b.Mail(t, "ARIA")) != 2 {
		t.Errorf("a lesson with two reasons is raised as %+v, %v", list, err)
	}
}

// TestTellsOfWhatGrewWorse follows a lesson that others make critical:
// whoever was told of it is told once more, and no oftener.
func TestTellsOfWhatGrewWorse(t *testing.T) {
	b := fixture.Open(t)
	for _, agent := range []string{"author", "stranger"} {
		if _, err := b.Presence.Heartbeat(fixture.AsRouter(t), comms.Heartbeat{AgentID: agent}); err != nil {
			t.Fatal(err)
		}
	}
	rules, err := escalation.DefaultRules(escalation.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lessons := lesson.NewLessons(b.Learning, lesson.Options{Escalations: rules})
	c, _ := fixture.RunCrossing(t, b.Ports(t))
	open := principal.With(t.Context(), principal.Open())
	count := func(agent, signal string) (n int) {
		for _, m := range b.Mail(t, agent) {
			if m.Signal == signal {
				n++
			}
		}
		return n
	}
	draft := lesson.Draft{
		Type: learning.LessonFailure, Domain: "billing", Category: "invoices", Title: "Never bill twice", Context: "month's end", Action: "ran the job again",
		Outcome: "customers paid twice", SourceAgent: "author", Severity: learning.SeverityHigh, Transferability: propagation.GeneralTransferability,
	}
	for i, step := range []struct {
		severity          learning.Severity
		signals, messages int // that the stranger and the supervisor have by then
	}{
		{learning.SeverityHigh, 1, 1}, {learning.SeverityHigh, 1, 1}, {learning.SeverityCritical, 2, 2}, {learning.SeverityCritical, 2, 2}, {learning.SeverityLow, 2, 2},
	} {
		draft.Severity = step.severity
		if _, err := lessons.Report(open, draft); err != nil {
			t.Fatal(err)
		}
		if err := c.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := count("stranger", crossing.SignalLesson); got != step.signals {
			t.Errorf("%d. %s: %d signals, want %d", i, step.severity, got, step.signals)
		}
		worst := 0
		for _, e := range b.Escalated(t) {
			worst = max(worst, count(e.To, operational.SignalEscalation))
		}
		if len(b.Escalated(t)) == 0 || worst < step.messages {
			t.Errorf("%d. %s: %d messages of escalations, want %d: %+v", i, step.severity, worst, step.messages, b.Escalated(t))
		}
	}
	for _, e := range b.Escalated(t) {
		t.Logf("%s: %s, %s, %d×, %d messages", e.To, e.Reason, e.Priority, e.Occurrences, count(e.To, operational.SignalEscalation))
	}
}

// TestCutOff cuts the crossing off before and after each step that it
// takes, and starts it again from what is on disk, both with the same process
// going on and with a new one. Each escalation and each message must be there once.
func TestCutOff(t *testing.T) {
	for _, after := range []bool{false, true} {
		for failAt := int64(1); failAt <= 5; failAt++ {
			for _, restart := range []bool{false, true} {
				t.Run(fmt.Sprintf("call %d, after it %v, restart %v", failAt, after, restart), func(t *testing.T) {
					t.Parallel()
					b := fixture.Open(t)
					for range 3 { // before there is any crossing: the databases are out of step
						b.Report(t, lesson.EventReported, nil, fixture.ToARIA)
					}
					ports := b.Ports(t)
					broken := &fixture.Faulty{Escalations: b.Escalations, Sender: ports.Send, FailAt: failAt, After: after}
					ports.Escalations, ports.Send = broken, broken.Send
					first, stop := fixture.RunCrossing(t, ports)
					crossing := first
					if restart {
						settled, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
						_ = first.Settle(settled) // it may never come to that
						cancel()
						stop()
						crossing, _ = fixture.RunCrossing(t, b.Ports(t))
					}
					if err := crossing.Settle(t.Context()); err != nil {
						t.Fatal(err)
					}
					b.Eventually(t, func() bool { return len(b.Mail(t, "ARIA")) >= 3 && b.Unannounced(t) == 0 })
					if list := b.Escalated(t); len(list) != 3 || list[0].Occurrences+list[1].Occurrences+list[2].Occurrences != 3 {
						t.Errorf("escalations: %+v", list)
					}
					if mail := b.Mail(t, "ARIA"); len(mail) != 3 {
						t.Errorf("%d messages", len(mail))
					}
					if broken.Calls.Load() < failAt {
						t.Errorf("only %d calls were made: nothing was cut off", broken.Calls.Load())
					}
				})
			}
		}
	}
}

func TestFinishedTasks(t *testing.T) {
	b := fixture.Open(t)
	ctx := fixture.AsRouter(t)
	old, err := b.Tasks.Create(ctx, operational.TaskDraft{Title: "History", AgentID: "builder"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Tasks.Complete(ctx, old.ID, operational.TaskResult{AgentID: "builder"}); err != nil {
		t.Fatal(err)
	}
	_, stop := fixture.RunCrossing(t, b.Ports(t)) // the first crossing of this folder begins here
	for i, end := range []func(ref string) error{
		func(ref string) error {
			_, err := b.Tasks.Complete(ctx, ref, operational.TaskResult{AgentID: "builder", Result: "It works"})
			return err
		},
		func(ref string) error {
			_, err := b.Tasks.Fail(ctx, ref, operational.TaskFailure{AgentID: "builder", Error: "No disk"})
			return err
		},
		func(ref string) error {
			_, err := b.Tasks.Cancel(ctx, ref, operational.TaskNote{AgentID: "builder"})
			return err
		},
	} {
		task, err := b.Tasks.Create(ctx, operational.TaskDraft{Title: fmt.Sprint("Job ", i), Project: "shop", AgentID: "builder"})
		if err != nil {
			t.Fatal(err)
		}
		if err := end(task.ID); err != nil {
			t.Fatal(err)
		}
	}
	recorded := func() []string {
		list, err := b.Episodes.Recent(ctx, episode.Filter{AgentID: "builder"})
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, e := range list {
			lines = append(lines, fmt.Sprintf("%s %s: %s (%s)", e.EventType, e.Title, e.Content, e.Project))
		}
		return lines
	}
	b.Eventually(t, func() bool { return len(recorded()) >= 2 })
	want := []string{"error Task 3 failed: Job 1: No disk (shop)", "outcome Task 2 completed: Job 0: It works (shop)"}
	if diff := cmp.Diff(want, recorded()); diff != "" {
		t.Errorf("episodes (-want +got):\n%s", diff)
	}
	stop()
	// The cursor is set back, as if the router had been killed before it was stored.
	ports := b.Ports(t)
	ports.Escalations = rewound{b.Escalations}
	crossing, _ := fixture.RunCrossing(t, ports)
	if err := crossing.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	last, err := b.Tasks.Create(ctx, operational.TaskDraft{Title: "Last", AgentID: "builder"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Tasks.Complete(ctx, last.ID, operational.TaskResult{AgentID: "builder"}); err != nil {
		t.Fatal(err)
	}
	b.Eventually(t, func() bool { return len(recorded()) > 2 && recorded()[0] == "outcome Task 5 completed: Last: Last ()" })
	if got := recorded(); len(got) != 4 { // History too, which the rewound cursor comes by
		t.Errorf("after the same events again: %q", got)
	}
}

// rewound is an escalation service whose cursors stand at the beginning.
type rewound struct{ crossing.Escalations }

func (rewound) Cursor(context.Context, string) (int64, bool, error) { return 0, true, nil }

func TestHeralds(t *testing.T) {
	b := fixture.Open(t)
	ctx := fixture.AsRouter(t)
	for _, agent := range []string{"author", "neighbour", "stranger", "kindred"} {
		if _, err := b.Presence.Heartbeat(ctx, comms.Heartbeat{AgentID: agent}); err != nil {
			t.Fatal(err)
		}
	}
	c, stop := fixture.RunCrossing(t, b.Ports(t))
	settle := func() {
		t.Helper()
		if err := c.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	why := func(agent string) (lines []string) {
		t.Helper()
		for _, m := range b.Mail(t, agent) {
			var said struct {
				Lesson   string `json:"lesson_id"`
				Why      string `json:"why"`
				Solution string `json:"solution"`
				Author   string `json:"source_agent"`
				Trust    string `json:"trust"`
			}
			if err := json.Unmarshal(m.Context, &said); err != nil || m.Signal != crossing.SignalLesson || said.Solution == "" || said.Author == "" || said.Trust == "" {
				t.Errorf("the message says %s, %v", m.Context, err)
			}
			lines = append(lines, said.Lesson+": "+said.Why)
		}
		slices.Sort(lines) // they are sent side by side
		return lines
	}
	b.Report(t, lesson.EventReported, func(l *lesson.Lesson) {
		l.SourceAgent, l.Title, l.Tags = "neighbour", "Compose needs a project name", nil
	})
	b.Report(t, lesson.EventReported, func(l *lesson.Lesson) {
		l.SourceAgent, l.Domain, l.Title = "kindred", "storage", "Bind mounts and volumes keep the owner"
	})
	settle()
	b.Report(t, lesson.EventReported, func(l *lesson.Lesson) { l.ID = "about-mounts" })
	b.Report(t, lesson.EventReported, func(l *lesson.Lesson) {
		l.ID, l.Domain, l.Title, l.Severity = "critical", "billing", "Never bill twice", learning.SeverityCritical
	})
	settle()
	// The same again, after a start that does not know of it.
	stop()
	ports := b.Ports(t)
	ports.Escalations = rewound{b.Escalations}
	c, _ = fixture.RunCrossing(t, ports)
	settle()
	for agent, want := range map[string][]string{
		"author":    nil,
		"neighbour": {"about-mounts: it is of your domain, docker", "critical: it is critical, whatever the domain"},
		"stranger":  {"critical: it is critical, whatever the domain"},
		"kindred":   {"critical: it is critical, whatever the domain"},
	} {
		if diff := cmp.Diff(want, why(agent)); diff != "" {
			t.Errorf("%s was told (-want +got):\n%s", agent, diff)
		}
	}
	for i := range crossing.MaxSignalsPerMinute + 20 {
		b.Report(t, lesson.EventReported, func(l *lesson.Lesson) {
			l.ID, l.Severity, l.Title = fmt.Sprint("flood-", i), learning.SeverityCritical, fmt.Sprint("Flood ", i)
		})
	}
	settle()
	if n := len(b.Mail(t, "stranger")); n > 2*crossing.MaxSignalsPerMinute {
		t.Errorf("a flood brought %d messages", n)
	}
}
