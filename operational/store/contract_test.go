package store_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/operationaltest"
	"github.com/skillrouter/skillrouter/operational/store"
)

// open opens a fresh operational.db, with its committer running until the test ends.
func open(t *testing.T) *store.Store {
	t.Helper()
	s, _ := openStore(t)
	return s
}

// database is open with the database beside the store.
func openStore(t *testing.T) (*store.Store, *database.DB) {
	t.Helper()
	db, err := databasetest.OpenIn(t, t.TempDir(), "operational", time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = db.Commit.Run(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return store.New(db.Read, db.Commit), db
}

// testClock is a clock that moves by a second and a bit at each look, so that
// times are in order, never equal, and finer than the store keeps them.
func testClock() clock.Clock {
	var mu sync.Mutex
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second + 123456*time.Nanosecond)
		return now
	}
}

func direct[Service any](service Service) operationaltest.World[Service] {
	return operationaltest.World[Service]{
		As:      func(principal.Principal) Service { return service },
		Context: principal.With,
	}
}

func TestTasks(t *testing.T) {
	operationaltest.Tasks(t, func(t *testing.T) operationaltest.World[operational.TaskService] {
		return direct[operational.TaskService](operational.NewTasks(open(t), testClock()))
	})
}

// TestTaskEvents holds that each change wrote its event, in order, and that
// refused and repeated ones wrote none.
func TestTaskEvents(t *testing.T) {
	s := open(t)
	svc := operational.NewTasks(s, testClock())
	ctx := principal.With(t.Context(), principal.Open())
	bell := s.EventBell().Wait()
	if _, err := svc.Create(ctx, operational.TaskDraft{Title: "watched", Project: "p"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-bell:
	default:
		t.Error("the bell did not ring before Create returned")
	}
	progress := 10.0
	for _, step := range []func() error{
		func() error { _, err := svc.Claim(ctx, "1", operational.TaskClaim{AgentID: "a"}); return err },
		func() error { _, err := svc.Claim(ctx, "1", operational.TaskClaim{AgentID: "a"}); return err },
		func() error {
			_, err := svc.Progress(ctx, "1", operational.TaskProgress{AgentID: "a", Progress: &progress})
			return err
		},
		func() error {
			_, err := svc.Block(ctx, "1", operational.TaskBlock{AgentID: "a", Reason: "r"})
			return err
		},
		func() error { _, err := svc.Unblock(ctx, "1", operational.TaskNote{AgentID: "a"}); return err },
		func() error { _, err := svc.Release(ctx, "1", operational.TaskNote{AgentID: "a"}); return err },
		func() error { _, err := svc.Reassign(ctx, "1", operational.TaskAssignment{AgentID: "b"}); return err },
		func() error {
			_, err := svc.Fail(ctx, "1", operational.TaskFailure{AgentID: "b", Error: "broken"})
			return err
		},
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := svc.Complete(ctx, "1", operational.TaskResult{}); errs.CodeOf(err) != errs.Conflict {
		t.Fatalf("a failed task was completed: %v", err)
	}
	events, err := s.Events(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct{ kind, agent string }{
		{"task.created", ""},
		{"task.claimed", "a"},
		{"task.progress", "a"},
		{"task.blocked", "a"},
		{"task.unblocked", "a"},
		{"task.released", "a"},
		{"task.reassigned", ""},
		{"task.failed", "b"},
	}
	if len(events) != len(want) {
		t.Fatalf("%d events were written, want %d: %+v", len(events), len(want), events)
	}
	for i, e := range events {
		if e.Type != want[i].kind || e.Agent != want[i].agent || e.Project != "p" || e.Seq != int64(i+1) {
			t.Errorf("event %d is %s by %q of %q, want %s by %q", i+1, e.Type, e.Agent, e.Project, want[i].kind, want[i].agent)
		}
	}
}

func TestOpenTasks(t *testing.T) {
	svc := operational.NewTasks(open(t), testClock())
	ctx := principal.With(t.Context(), principal.Open())
	for range 3 {
		if _, err := svc.Create(ctx, operational.TaskDraft{Title: "held", AgentID: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := svc.Complete(ctx, "2", operational.TaskResult{AgentID: "a"}); err != nil {
		t.Fatal(err)
	}
	tasks, err := svc.OpenTasks(t.Context(), "a", 5)
	if err != nil || len(tasks) != 2 || tasks[0].Number != 1 || tasks[1].Number != 3 {
		t.Errorf("open tasks are %+v, error %v", tasks, err)
	}
}

func TestRecon(t *testing.T) {
	operationaltest.Recon(t, func(t *testing.T) operationaltest.World[operational.ReconService] {
		return direct[operational.ReconService](operational.NewRecon(open(t), testClock()))
	})
}

func TestEscalations(t *testing.T) {
	operationaltest.Escalations(t, func(t *testing.T) operationaltest.EscalationWorld {
		svc := operational.NewEscalations(open(t), testClock())
		return operationaltest.EscalationWorld{
			World: direct[operational.EscalationService](svc),
			Raise: func(t *testing.T, drafts ...operational.EscalationDraft) {
				t.Helper()
				if _, err := svc.Raise(t.Context(), drafts, operational.Cursor{Name: "test"}); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}

// TestRaisesTogether holds that drafts which are raised together come to what they come to one by one.
func TestRaisesTogether(t *testing.T) {
	draft := func(lesson, to string, priority operational.EscalationPriority) operational.EscalationDraft {
		return operational.EscalationDraft{LessonID: lesson, Title: lesson, To: to, Reasons: []string{"r"}, Priority: priority}
	}
	pattern := operational.EscalationDraft{PatternID: "p", Title: "p", To: "ARIA", Reasons: []string{"r"}, Priority: operational.PriorityLow}
	drafts := []operational.EscalationDraft{
		draft("a", "ARIA", operational.PriorityLow), draft("b", "ARIA", operational.PriorityHigh), draft("a", "HADES", operational.PriorityLow), pattern,
		draft("a", "ARIA", operational.PriorityCritical), pattern, draft("old", "ARIA", operational.PriorityLow), draft("old", "ARIA", operational.PriorityHigh),
	}
	var told [2][]string
	for i, together := range []bool{false, true} {
		s := open(t)
		svc := operational.NewEscalations(s, testClock())
		raise := func(drafts ...operational.EscalationDraft) {
			raised, err := svc.Raise(t.Context(), drafts, operational.Cursor{Name: "log", Seq: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range raised {
				told[i] = append(told[i], fmt.Sprintf("raised %d %s%s to %s", e.Number, e.LessonID, e.PatternID, e.To))
			}
		}
		raise(draft("old", "ARIA", operational.PriorityLow), draft("old", "HADES", operational.PriorityLow))
		if err := s.MarkAnnounced(t.Context(), []int64{1, 2}); err != nil {
			t.Fatal(err)
		}
		if together {
			raise(drafts...)
		} else {
			for _, d := range drafts {
				raise(d)
			}
		}
		waiting, err := s.UnannouncedEscalations(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range waiting {
			told[i] = append(told[i], fmt.Sprintf("waits %d %s%s to %s, %s, %d times", e.Number, e.LessonID, e.PatternID, e.To, e.Priority, e.Occurrences))
		}
		events, err := s.Events(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			told[i] = append(told[i], e.Type)
		}
	}
	if len(told[0]) < 15 || !slices.Equal(told[0], told[1]) {
		t.Errorf("one by one:\n%s\ntogether:\n%s", strings.Join(told[0], "\n"), strings.Join(told[1], "\n"))
	}
}

// TestRaiseMovesTheCursor holds that what was raised and how far the log was
// read are stored together, and that the cursor never goes back.
func TestRaiseMovesTheCursor(t *testing.T) {
	s := open(t)
	svc := operational.NewEscalations(s, testClock())
	if _, ok, err := s.Cursor(t.Context(), "log"); ok || err != nil {
		t.Fatalf("a new database has a cursor: %v", err)
	}
	draft := operational.EscalationDraft{LessonID: "l", Title: "t", To: "ARIA", Reasons: []string{"r"}, Priority: operational.PriorityLow}
	for _, step := range []struct{ seq, want int64 }{{7, 7}, {5, 7}, {9, 9}} {
		if _, err := svc.Raise(t.Context(), []operational.EscalationDraft{draft}, operational.Cursor{Name: "log", Seq: step.seq}); err != nil {
			t.Fatal(err)
		}
		if seq, ok, err := s.Cursor(t.Context(), "log"); seq != step.want || !ok || err != nil {
			t.Errorf("after %d the cursor stands at %d, %v, %v", step.seq, seq, ok, err)
		}
	}
	waiting, err := s.UnannouncedEscalations(t.Context(), 10)
	if err != nil || len(waiting) != 1 || waiting[0].Occurrences != 3 {
		t.Fatalf("unannounced: %+v, %v", waiting, err)
	}
	if err := s.MarkAnnounced(t.Context(), []int64{waiting[0].Number}); err != nil {
		t.Fatal(err)
	}
	if waiting, err = s.UnannouncedEscalations(t.Context(), 10); err != nil || len(waiting) != 0 {
		t.Errorf("still unannounced: %+v, %v", waiting, err)
	}
	// What is raised again is announced again only if it is open and has grown worse.
	for _, step := range []struct {
		priority operational.EscalationPriority
		want     int
	}{{operational.PriorityLow, 0}, {operational.PriorityCritical, 1}, {operational.PriorityHigh, 0}, {operational.PriorityCritical, 0}} {
		draft.Priority = step.priority
		if _, err := svc.Raise(t.Context(), []operational.EscalationDraft{draft}, operational.Cursor{Name: "log", Seq: 9}); err != nil {
			t.Fatal(err)
		}
		waiting, err := s.UnannouncedEscalations(t.Context(), 10)
		if err != nil || len(waiting) != step.want {
			t.Errorf("raised as %s: unannounced %+v, %v", step.priority, waiting, err)
		}
		for _, e := range waiting {
			if err := s.MarkAnnounced(t.Context(), []int64{e.Number}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n, err := svc.Pending(t.Context()); n != 1 || err != nil {
		t.Errorf("%d pending, %v", n, err)
	}
}

// TestMailWaitingCountsBytes: as the bound of a mailbox does, and not characters.
func TestMailWaitingCountsBytes(t *testing.T) {
	s := open(t)
	content := []byte(`{"text":"é—日本"}`)
	a := &operational.MessageAppend{Message: operational.Message{ID: "m", From: "a", To: "b", Signal: "message", Context: content, CreatedAt: time.Now()}}
	if err := s.AppendMessages(t.Context(), func() []*operational.MessageAppend { return []*operational.MessageAppend{a} }, nil); err != nil {
		t.Fatal(err)
	}
	waiting, err := s.MailWaiting(t.Context(), operational.MailQuery{AgentID: "b", Now: time.Now()})
	if want := []operational.Waiting{{From: "a", Count: 1, Bytes: int64(len(content))}}; err != nil || !slices.Equal(waiting, want) {
		t.Errorf("%+v wait, %v; want %+v", waiting, err, want)
	}
}
