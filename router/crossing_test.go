package router_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillrouter"
	"skillrouter/cmd/app"
	"skillrouter/comms"
	"skillrouter/learning"
	learningstore "skillrouter/learning/store"
	"skillrouter/operational"
	operationalstore "skillrouter/operational/store"
	"skillrouter/router"
)

// border is both databases with the services that a Crossing stands between.
type border struct {
	learning    *learningstore.Store
	operational *operationalstore.Store
	desk        *operational.Escalations
	tasks       *operational.Tasks
	episodes    *learning.Episodes
	lessons     *learning.Propagation
	presence    *comms.Presence
	mailbox     *comms.Mailbox
	number      int
}

func openBorder(t *testing.T) *border {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	b := &border{}
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	var closing []func() error
	t.Cleanup(func() {
		stop()
		running.Wait()
		for _, end := range closing {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
	dir := t.TempDir()
	database := func(name string) *app.Database {
		db, err := app.OpenDatabase(t.Context(), dir, name, time.Now, log)
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() { _ = db.Commit.Run(ctx) })
		closing = append(closing, db.Close)
		return db
	}
	memory, operations := database("learning"), database("operational")
	b.learning, b.operational = learningstore.New(memory.Read, memory.Commit), operationalstore.New(operations.Read, operations.Commit)
	b.desk, b.tasks = operational.NewEscalations(b.operational, time.Now), operational.NewTasks(b.operational, time.Now)
	b.episodes = learning.NewEpisodes(b.learning, learning.Options{Log: log})
	var err error
	if b.presence, err = comms.NewPresence(t.Context(), b.operational, b.tasks, time.Now, log, comms.PresenceOptions{}); err != nil {
		t.Fatal(err)
	}
	if b.mailbox, err = comms.NewMailbox(t.Context(), b.presence, b.operational, log, comms.MailboxOptions{}); err != nil {
		t.Fatal(err)
	}
	return b
}

// ports are the real services, as the router wires them.
func (b *border) ports(t *testing.T) router.CrossingPorts {
	t.Helper()
	var err error
	if b.lessons, err = learning.NewPropagation(t.Context(), b.learning, learning.Options{}); err != nil {
		t.Fatal(err)
	}
	return router.CrossingPorts{
		Learning: b.learning, Operational: b.operational, Desk: b.desk, Episodes: b.episodes, Lessons: b.lessons, Agents: b.presence,
		Courier: func(ctx context.Context, draft operational.MessageDraft) error {
			_, err := b.mailbox.Send(ctx, draft)
			return err
		},
	}
}

// run runs a new Crossing, as after a start, until stop is called.
func run(t *testing.T, ports router.CrossingPorts) (crossing *router.Crossing, stop func()) {
	t.Helper()
	crossing, err := router.NewCrossing(t.Context(), ports, router.CrossingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := crossing.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			running.Wait()
		})
	}
	t.Cleanup(stop)
	return crossing, stop
}

// report commits a lesson with its event, as learning.Lessons does.
func (b *border) report(t *testing.T, kind string, change func(*learning.Lesson), escalate ...learning.Escalation) learning.Lesson {
	t.Helper()
	b.number++
	at := time.Now()
	lesson := learning.Lesson{
		ID: fmt.Sprint("lesson-", b.number), Type: learning.LessonFailure, Domain: "docker", Category: "containers", Title: "Bind mounts keep their owner",
		Severity: learning.SeverityMedium, SourceAgent: "author", Trust: learning.TrustAgent, Level: learning.LevelCase, Status: learning.StatusCandidate,
		Transferability: 3, Solution: "chown it", Tags: []string{"volumes"}, Occurrences: 1, CreatedAt: at, UpdatedAt: at, LastOccurred: at,
		Belief: learning.Belief{InitialConfidence: 0.8, ConfidenceAt: at},
	}
	if change != nil {
		change(&lesson)
	}
	told, err := json.Marshal(learning.LessonEvent{Type: lesson.Type, Domain: lesson.Domain, Title: lesson.Title, Severity: lesson.Severity, Level: lesson.Level, Escalate: escalate})
	if err != nil {
		t.Fatal(err)
	}
	err = b.learning.Change(t.Context(), func(tx learning.PipelineTx) error {
		if kind == learning.EventLessonReported {
			if err := tx.InsertLesson(&lesson, learning.Fingerprint{byte(b.number), byte(b.number >> 8)}); err != nil {
				return err
			}
		}
		return tx.AddEvents(skillrouter.Event{Type: kind, Subject: lesson.ID, Agent: lesson.SourceAgent, At: at, Data: told})
	}, nil)()
	if err != nil {
		t.Fatal(err)
	}
	return lesson
}

var toARIA = learning.Escalation{To: "ARIA", Reason: "Critical issue", Priority: learning.SeverityCritical}

func asRouter(t *testing.T) context.Context {
	return skillrouter.WithPrincipal(t.Context(), skillrouter.System())
}

// escalated returns every escalation.
func (b *border) escalated(t *testing.T) []operational.Escalation {
	t.Helper()
	list, err := b.desk.List(asRouter(t), operational.EscalationFilter{Limit: operational.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// mail returns an agent's messages.
func (b *border) mail(t *testing.T, agent string) []comms.InboxMessage {
	t.Helper()
	inbox, err := b.mailbox.Inbox(asRouter(t), comms.InboxQuery{AgentID: agent, Limit: comms.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	return inbox.Messages
}

func TestCrossingEscalates(t *testing.T) {
	b := openBorder(t)
	crossing, _ := run(t, b.ports(t))
	lesson := b.report(t, learning.EventLessonReported, nil, toARIA, learning.Escalation{To: "supervisor:docker", Reason: "Domain issue", Priority: learning.SeverityCritical})
	b.report(t, learning.EventLessonReported, nil)
	again := lesson
	b.number-- // the same lesson
	b.report(t, learning.EventLessonOccurred, func(l *learning.Lesson) { l.ID = again.ID }, toARIA)
	b.report(t, learning.EventRuleDemoted, func(l *learning.Lesson) { l.ID = again.ID })
	if err := crossing.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	type line struct {
		To, Lesson, Reason string
		Times              int64
	}
	var got []line
	for _, e := range b.escalated(t) {
		got = append(got, line{e.To, e.LessonID, e.Reason, e.Occurrences})
	}
	want := []line{
		{"supervisor:docker", lesson.ID, "Domain issue", 1},
		{"ARIA", lesson.ID, "Critical issue", 2},
		{"supervisor:docker", lesson.ID, "Rule demoted to a warning", 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("escalations (-want +got):\n%s", diff)
	}
	mail := b.mail(t, "ARIA")
	if len(mail) != 1 || mail[0].From != router.MailAgent || mail[0].Signal != operational.SignalEscalation {
		t.Fatalf("ARIA's mail is %+v", mail)
	}
	var said map[string]string
	if err := json.Unmarshal(mail[0].Context, &said); err != nil || said["lesson_id"] != lesson.ID || said["reason"] != "Critical issue" || said["source_agent"] != "author" {
		t.Errorf("the message says %v, %v", said, err)
	}
	if n := len(b.mail(t, "supervisor:docker")); n != 2 {
		t.Errorf("the supervisor has %d messages", n)
	}
}

// TestCrossingTellsOfWhatGrewWorse follows a lesson that others make critical:
// whoever was told of it is told once more, and no oftener.
func TestCrossingTellsOfWhatGrewWorse(t *testing.T) {
	b := openBorder(t)
	for _, agent := range []string{"author", "stranger"} {
		if _, err := b.presence.Heartbeat(asRouter(t), comms.Heartbeat{AgentID: agent}); err != nil {
			t.Fatal(err)
		}
	}
	rules, err := learning.DefaultEscalationRules(learning.EscalationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	lessons := learning.NewLessons(b.learning, learning.LessonOptions{Escalations: rules})
	crossing, _ := run(t, b.ports(t))
	open := skillrouter.WithPrincipal(t.Context(), skillrouter.Open())
	count := func(agent, signal string) (n int) {
		for _, m := range b.mail(t, agent) {
			if m.Signal == signal {
				n++
			}
		}
		return n
	}
	draft := learning.LessonDraft{
		Type: learning.LessonAntiPattern, Domain: "billing", Category: "invoices", Title: "Never bill twice", Context: "month's end", Action: "ran the job again",
		Outcome: "customers paid twice", SourceAgent: "author", Severity: learning.SeverityHigh, Transferability: learning.GeneralTransferability,
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
		if err := crossing.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := count("stranger", router.SignalLesson); got != step.signals {
			t.Errorf("%d. %s: %d signals, want %d", i, step.severity, got, step.signals)
		}
		worst := 0
		for _, e := range b.escalated(t) {
			worst = max(worst, count(e.To, operational.SignalEscalation))
		}
		if len(b.escalated(t)) == 0 || worst < step.messages {
			t.Errorf("%d. %s: %d messages of escalations, want %d: %+v", i, step.severity, worst, step.messages, b.escalated(t))
		}
	}
	for _, e := range b.escalated(t) {
		t.Logf("%s: %s, %s, %d×, %d messages", e.To, e.Reason, e.Priority, e.Occurrences, count(e.To, operational.SignalEscalation))
	}
}

// faulty stands before the real ports, and fails at a chosen call: before it
// is made, or after, as a kill would.
type faulty struct {
	router.Desk
	courier router.Courier
	calls   atomic.Int64
	failAt  int64 // the number of the call, from 1
	after   bool
}

var errCut = errors.New("cut off")

// cut makes a call, or not, and fails if it is the chosen one.
func (f *faulty) cut(call func() error) error {
	if f.calls.Add(1) != f.failAt {
		return call()
	}
	if f.after {
		if err := call(); err != nil {
			return err
		}
	}
	return errCut
}

func (f *faulty) Raise(ctx context.Context, drafts []operational.EscalationDraft, cursor operational.Cursor) (raised []operational.Escalation, err error) {
	return raised, f.cut(func() error {
		raised, err = f.Desk.Raise(ctx, drafts, cursor)
		return err
	})
}

func (f *faulty) Announced(ctx context.Context, numbers []int64) error {
	return f.cut(func() error { return f.Desk.Announced(ctx, numbers) })
}

func (f *faulty) send(ctx context.Context, draft operational.MessageDraft) error {
	return f.cut(func() error { return f.courier(ctx, draft) })
}

// TestCrossingCutOff cuts the crossing off before and after each step that it
// takes, and starts it again from what is on disk, both with the same process
// going on and with a new one. Each escalation and each message must be there once.
func TestCrossingCutOff(t *testing.T) {
	for _, after := range []bool{false, true} {
		for failAt := int64(1); failAt <= 5; failAt++ {
			for _, restart := range []bool{false, true} {
				t.Run(fmt.Sprintf("call %d, after it %v, restart %v", failAt, after, restart), func(t *testing.T) {
					t.Parallel()
					b := openBorder(t)
					for range 3 { // before there is any crossing: the databases are out of step
						b.report(t, learning.EventLessonReported, nil, toARIA)
					}
					ports := b.ports(t)
					broken := &faulty{Desk: b.desk, courier: ports.Courier, failAt: failAt, after: after}
					ports.Desk, ports.Courier = broken, broken.send
					first, stop := run(t, ports)
					crossing := first
					if restart {
						settled, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
						_ = first.Settle(settled) // it may never come to that
						cancel()
						stop()
						crossing, _ = run(t, b.ports(t))
					}
					if err := crossing.Settle(t.Context()); err != nil {
						t.Fatal(err)
					}
					b.eventually(t, func() bool { return len(b.mail(t, "ARIA")) >= 3 && b.unannounced(t) == 0 })
					if list := b.escalated(t); len(list) != 3 || list[0].Occurrences+list[1].Occurrences+list[2].Occurrences != 3 {
						t.Errorf("escalations: %+v", list)
					}
					if mail := b.mail(t, "ARIA"); len(mail) != 3 {
						t.Errorf("%d messages", len(mail))
					}
					if broken.calls.Load() < failAt {
						t.Errorf("only %d calls were made: nothing was cut off", broken.calls.Load())
					}
				})
			}
		}
	}
}

func (b *border) unannounced(t *testing.T) int {
	t.Helper()
	list, err := b.desk.Unannounced(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// eventually waits until something holds; the retry after a failure takes a second.
func (b *border) eventually(t *testing.T, holds func() bool) {
	t.Helper()
	limit := time.NewTimer(10 * time.Second)
	defer limit.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !holds() {
		select {
		case <-look.C:
		case <-limit.C:
			t.Fatal("it does not come to that")
		}
	}
}

func TestCrossingFinishedTasks(t *testing.T) {
	b := openBorder(t)
	ctx := asRouter(t)
	old, err := b.tasks.Create(ctx, operational.TaskDraft{Title: "History", AgentID: "builder"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.tasks.Complete(ctx, old.ID, operational.TaskResult{AgentID: "builder"}); err != nil {
		t.Fatal(err)
	}
	_, stop := run(t, b.ports(t)) // the first crossing of this folder begins here
	for i, end := range []func(ref string) error{
		func(ref string) error {
			_, err := b.tasks.Complete(ctx, ref, operational.TaskResult{AgentID: "builder", Result: "It works"})
			return err
		},
		func(ref string) error {
			_, err := b.tasks.Fail(ctx, ref, operational.TaskFailure{AgentID: "builder", Error: "No disk"})
			return err
		},
		func(ref string) error {
			_, err := b.tasks.Cancel(ctx, ref, operational.TaskNote{AgentID: "builder"})
			return err
		},
	} {
		task, err := b.tasks.Create(ctx, operational.TaskDraft{Title: fmt.Sprint("Job ", i), Project: "shop", AgentID: "builder"})
		if err != nil {
			t.Fatal(err)
		}
		if err := end(task.ID); err != nil {
			t.Fatal(err)
		}
	}
	recorded := func() []string {
		list, err := b.episodes.Recent(ctx, learning.EpisodeFilter{AgentID: "builder"})
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, e := range list {
			lines = append(lines, fmt.Sprintf("%s %s: %s (%s)", e.EventType, e.Title, e.Content, e.Project))
		}
		return lines
	}
	b.eventually(t, func() bool { return len(recorded()) >= 2 })
	want := []string{"error Task 3 failed: Job 1: No disk (shop)", "outcome Task 2 completed: Job 0: It works (shop)"}
	if diff := cmp.Diff(want, recorded()); diff != "" {
		t.Errorf("episodes (-want +got):\n%s", diff)
	}
	stop()
	// The cursor is set back, as if the router had been killed before it was stored.
	ports := b.ports(t)
	ports.Desk = rewound{b.desk}
	crossing, _ := run(t, ports)
	if err := crossing.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	last, err := b.tasks.Create(ctx, operational.TaskDraft{Title: "Last", AgentID: "builder"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.tasks.Complete(ctx, last.ID, operational.TaskResult{AgentID: "builder"}); err != nil {
		t.Fatal(err)
	}
	b.eventually(t, func() bool { return len(recorded()) > 2 && recorded()[0] == "outcome Task 5 completed: Last: Last ()" })
	if got := recorded(); len(got) != 4 { // History too, which the rewound cursor comes by
		t.Errorf("after the same events again: %q", got)
	}
}

// rewound is a desk whose cursors stand at the beginning.
type rewound struct{ router.Desk }

func (rewound) Cursor(context.Context, string) (int64, bool, error) { return 0, true, nil }

func TestCrossingHeralds(t *testing.T) {
	b := openBorder(t)
	ctx := asRouter(t)
	for _, agent := range []string{"author", "neighbour", "stranger", "kindred"} {
		if _, err := b.presence.Heartbeat(ctx, comms.Heartbeat{AgentID: agent}); err != nil {
			t.Fatal(err)
		}
	}
	crossing, stop := run(t, b.ports(t))
	settle := func() {
		t.Helper()
		if err := crossing.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	why := func(agent string) (lines []string) {
		t.Helper()
		for _, m := range b.mail(t, agent) {
			var said struct {
				Lesson   string `json:"lesson_id"`
				Why      string `json:"why"`
				Solution string `json:"solution"`
				Author   string `json:"source_agent"`
				Trust    string `json:"trust"`
			}
			if err := json.Unmarshal(m.Context, &said); err != nil || m.Signal != router.SignalLesson || said.Solution == "" || said.Author == "" || said.Trust == "" {
				t.Errorf("the message says %s, %v", m.Context, err)
			}
			lines = append(lines, said.Lesson+": "+said.Why)
		}
		slices.Sort(lines) // they are sent side by side
		return lines
	}
	b.report(t, learning.EventLessonReported, func(l *learning.Lesson) {
		l.SourceAgent, l.Title, l.Tags = "neighbour", "Compose needs a project name", nil
	})
	b.report(t, learning.EventLessonReported, func(l *learning.Lesson) {
		l.SourceAgent, l.Domain, l.Title = "kindred", "storage", "Bind mounts and volumes keep the owner"
	})
	settle()
	b.report(t, learning.EventLessonReported, func(l *learning.Lesson) { l.ID = "about-mounts" })
	b.report(t, learning.EventLessonReported, func(l *learning.Lesson) {
		l.ID, l.Domain, l.Title, l.Severity = "critical", "billing", "Never bill twice", learning.SeverityCritical
	})
	settle()
	// The same again, after a start that does not know of it.
	stop()
	ports := b.ports(t)
	ports.Desk = rewound{b.desk}
	crossing, _ = run(t, ports)
	settle()
	for agent, want := range map[string][]string{
		"author":    nil,
		"neighbour": {"about-mounts: it is of your domain, docker", "critical: it is critical, whatever the domain"},
		"stranger":  {"critical: it is critical, whatever the domain"},
		"kindred":   {"about-mounts: it fits your past work: bind, mount, keep, owner", "critical: it is critical, whatever the domain"},
	} {
		if diff := cmp.Diff(want, why(agent)); diff != "" {
			t.Errorf("%s was told (-want +got):\n%s", agent, diff)
		}
	}
	for i := range router.MaxSignalsPerMinute + 20 {
		b.report(t, learning.EventLessonReported, func(l *learning.Lesson) {
			l.ID, l.Severity, l.Title = fmt.Sprint("flood-", i), learning.SeverityCritical, fmt.Sprint("Flood ", i)
		})
	}
	settle()
	if n := len(b.mail(t, "stranger")); n > 2*router.MaxSignalsPerMinute {
		t.Errorf("a flood brought %d messages", n)
	}
}
