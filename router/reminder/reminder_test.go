package reminder_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/follow"
	"github.com/skillrouter/skillrouter/router/reminder"
	"github.com/skillrouter/skillrouter/router/routertest/fixture"
)

// watching is reminders and what lets them come due, on both databases.
type watching struct {
	*fixture.World
	facts     *fact.Facts
	reminders *operational.Reminders
	cursors   follow.Cursors
	ctx       context.Context // as an open caller
}

func openWatching(t *testing.T) *watching {
	t.Helper()
	w := &watching{World: fixture.Open(t), ctx: principal.With(t.Context(), principal.Open())}
	w.facts = fact.NewFacts(w.Learning, learning.Options{})
	w.reminders, w.cursors = w.service(), w.Operational
	return w
}

// forgetful are cursors that a kill has kept from being stored.
type forgetful struct{ follow.Cursors }

func (forgetful) Cursor(context.Context, string) (int64, bool, error) { return 0, true, nil }

func (w *watching) service() *operational.Reminders {
	return operational.NewReminders(w.Operational, operational.ReminderOptions{
		Mail: w.Mailbox, Recipients: reminder.NewRoster(w.Presence, time.Now), Condition: reminder.CheckCondition, Elsewhere: w.Learning.LastEvent,
	})
}

// start runs the reminders as after a start of the router, until stop is called.
func (w *watching) start(t *testing.T) (stop func()) {
	t.Helper()
	w.reminders = w.service()
	watch, err := reminder.NewWatch(t.Context(), reminder.Ports{
		Reminders: w.reminders, Cursors: w.cursors, Learning: w.Learning, Operational: w.Operational, Signals: w.Operational.SignalLog(),
		Episodes: w.Learning, Facts: w.Learning,
	}, time.Now, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = w.reminders.Run(ctx) })
	running.Go(func() { _ = watch.Run(ctx) })
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	t.Cleanup(stop)
	return stop
}

func (w *watching) schedule(t *testing.T, draft operational.ReminderDraft) operational.Reminder {
	t.Helper()
	if draft.Task == "" {
		draft.Task = draft.Trigger
	}
	r, err := w.reminders.Schedule(w.ctx, draft)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// until waits until a reminder is as it should be.
func (w *watching) until(t *testing.T, number int64, what string, is func(operational.Reminder) bool) operational.Reminder {
	t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for {
		rung := w.Operational.EventBell().Wait()
		r, err := w.reminders.Reminder(w.ctx, number)
		if err == nil && is(r) {
			return r
		}
		select {
		case <-rung:
		case <-limit.C:
			t.Fatalf("reminder %d is not %s but %+v, %v", number, what, r, err)
		}
	}
}

func isDue(r operational.Reminder) bool { return r.Status == operational.ReminderDue }

// pending fails the test unless the reminders still wait.
func (w *watching) pending(t *testing.T, numbers ...int64) {
	t.Helper()
	for _, number := range numbers {
		if r, err := w.reminders.Reminder(w.ctx, number); err != nil || r.Status != operational.ReminderPending {
			t.Errorf("reminder %d does not wait any more: %+v, %v", number, r, err)
		}
	}
}

func (w *watching) store(t *testing.T, draft fact.Draft) {
	t.Helper()
	if _, err := w.facts.Remember(w.ctx, draft); err != nil {
		t.Fatal(err)
	}
}

func (w *watching) finishTask(t *testing.T) {
	t.Helper()
	task, err := w.Tasks.Create(w.ctx, operational.TaskDraft{Title: "t", AgentID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Tasks.Complete(w.ctx, task.ID, operational.TaskResult{AgentID: "a"}); err != nil {
		t.Fatal(err)
	}
}

func TestHearsOfEvents(t *testing.T) {
	w := openWatching(t)
	w.finishTask(t) // before anybody waited
	stop := w.start(t)
	numbers := map[string]int64{}
	for _, trigger := range []string{"event:task.completed", "event:task.*", "event:fact.stored", "event:mrr-drop-investigation", "event:deployed", "event:task.failed"} {
		numbers[trigger] = w.schedule(t, operational.ReminderDraft{Trigger: trigger, AgentID: "x"}).Number
	}
	w.pending(t, 1, 2, 3, 4, 5, 6)
	w.finishTask(t)
	w.until(t, numbers["event:task.completed"], "due", isDue)
	w.until(t, numbers["event:task.*"], "due", isDue)
	w.store(t, fact.Draft{Key: "k", Value: json.RawMessage(`1`)})
	w.until(t, numbers["event:fact.stored"], "due", isDue)
	if _, err := w.Mailbox.Send(w.ctx, operational.MessageDraft{From: "a", To: "b", Signal: "deployed"}); err != nil {
		t.Fatal(err)
	}
	w.until(t, numbers["event:deployed"], "due", isDue)
	stop()
	// What happens while the router is away is heard of after the next start.
	if _, err := w.Episodes.Record(w.ctx, episode.Draft{Event: "mrr-drop-investigation", Context: json.RawMessage(`{"symptom":"MRR down"}`)}); err != nil {
		t.Fatal(err)
	}
	late := w.schedule(t, operational.ReminderDraft{Trigger: "event:mrr-drop-investigation"})
	w.start(t)
	w.until(t, numbers["event:mrr-drop-investigation"], "due", isDue)
	w.pending(t, numbers["event:task.failed"], late.Number)
	mail, _, err := w.Operational.Mail(t.Context(), operational.MailQuery{AgentID: "x", Now: time.Now(), Limit: 100})
	if err != nil || len(mail) != 5 {
		t.Errorf("%d messages of 5 reminders, %v", len(mail), err)
	}
}

func TestWaitsForCondition(t *testing.T) {
	w := openWatching(t)
	stop := w.start(t)
	length := func(n string, persona string) {
		w.store(t, fact.Draft{Key: "queue.length", Value: json.RawMessage(n), Persona: persona})
	}
	length("50", "")
	_, err := w.reminders.Schedule(w.ctx, operational.ReminderDraft{Task: "t", Trigger: "condition:fact('a'"})
	if errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != "trigger" {
		t.Errorf("a condition that is none: %v", err)
	}
	high := w.schedule(t, operational.ReminderDraft{Trigger: `condition:fact("queue.length") > 100`, AgentID: "x"})
	ops := w.schedule(t, operational.ReminderDraft{Trigger: `condition:fact("queue.length") > 100`, Persona: "ops", AgentID: "x"})
	already := w.schedule(t, operational.ReminderDraft{Trigger: `condition:fact("queue.length") == 50`, AgentID: "x"})
	broken := w.schedule(t, operational.ReminderDraft{Trigger: `condition:1 / fact("divisor") > 1`, AgentID: "x"})
	w.until(t, already.Number, "due", isDue)
	w.until(t, broken.Number, "noted", func(r operational.Reminder) bool { return r.Note != "" })
	w.pending(t, high.Number, ops.Number, broken.Number)
	length("150", "")
	w.until(t, high.Number, "due", isDue)
	length("151", "")
	w.store(t, fact.Draft{Key: "divisor", Value: json.RawMessage(`0`)})
	w.until(t, broken.Number, "noted for the division", func(r operational.Reminder) bool { return strings.Contains(r.Note, "zero") })
	w.store(t, fact.Draft{Key: "divisor", Value: json.RawMessage(`0.5`)})
	if r := w.until(t, broken.Number, "due", isDue); r.Note != "" {
		t.Errorf("it came due and still says %q", r.Note)
	}
	stop()
	length("200", "ops")
	w.start(t)
	w.until(t, ops.Number, "due", isDue)
	for _, number := range []int64{high.Number, ops.Number, already.Number, broken.Number} {
		if r, err := w.reminders.Reminder(w.ctx, number); err != nil || r.Fired != 1 {
			t.Errorf("it fired %d times, %v", r.Fired, err)
		}
	}
}

func TestOfExpiredFact(t *testing.T) {
	w := openWatching(t)
	stop := w.start(t)
	ttl := int64(1)
	w.store(t, fact.Draft{Key: "no probe", Value: json.RawMessage(`1`), TTL: &ttl, AgentID: "a"})
	w.store(t, fact.Draft{Key: "db.schema", Value: json.RawMessage(`{}`), TTL: &ttl, Probe: "psql -c '\\d'", AgentID: "a", Persona: "analyst"})
	sweeping, ended := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = w.facts.Run(sweeping) })
	t.Cleanup(func() {
		ended()
		running.Wait()
	})
	r := w.until(t, 1, "due", isDue)
	if r.Persona != "analyst" || r.CreatedBy != "a" || !strings.Contains(r.Task, "db.schema") || !strings.Contains(r.Task, "psql -c") || !strings.Contains(string(r.Context), `"key":"db.schema"`) {
		t.Errorf("the reminder is %+v", r)
	}
	if r.DeliveredTo != "" {
		t.Errorf("it was delivered to %q, and nobody is there", r.DeliveredTo)
	}
	// The first who works for the persona is told.
	if _, err := w.Presence.Heartbeat(w.ctx, heartbeat("z", "analyst")); err != nil {
		t.Fatal(err)
	}
	w.until(t, 1, "delivered", func(r operational.Reminder) bool { return r.DeliveredTo == "z" })
	stop()
	w.cursors = forgetful{w.Operational}
	last, err := w.Learning.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.start(t)
	mark := w.schedule(t, operational.ReminderDraft{Trigger: "event:fact.deleted"})
	w.store(t, fact.Draft{Key: "gone", Value: json.RawMessage(`1`)})
	if err := w.facts.Forget(w.ctx, fact.Ref{Key: "gone"}); err != nil {
		t.Fatal(err)
	}
	w.until(t, mark.Number, "due", isDue) // all before it was handled again
	list, err := w.reminders.List(w.ctx, operational.ReminderFilter{Persona: "analyst"})
	if err != nil || len(list) != 1 || list[0].Fired != 1 {
		t.Errorf("after event %d was handled twice: %+v, %v", last, list, err)
	}
}

// TestOfExpiredFactEnds stores and deletes facts that were reminded of.
func TestOfExpiredFactEnds(t *testing.T) {
	w := openWatching(t)
	stop := w.start(t)
	ttl, long := int64(1), int64(3600)
	for _, key := range []string{"again", "deleted", "left"} {
		w.store(t, fact.Draft{Key: key, Value: json.RawMessage(`1`), TTL: &ttl, Probe: "true"})
	}
	like := w.schedule(t, operational.ReminderDraft{Trigger: "time:+0s", Task: "mine", Context: json.RawMessage(`{"key":"again","version":"?"}`), IdempotencyKey: "fact.expired:mine"})
	sweep := func() int {
		t.Helper()
		for {
			if told, err := w.facts.Sweep(t.Context()); err != nil || told > 0 {
				if err != nil {
					t.Fatal(err)
				}
				return told
			}
			<-time.After(10 * time.Millisecond)
		}
	}
	for told := 0; told < 3; {
		told += sweep()
	}
	of := map[string]operational.Reminder{}
	for i := range int64(3) {
		r := w.until(t, like.Number+1+i, "due", isDue)
		of[strings.TrimSuffix(strings.Fields(r.Task)[3], ":")] = r
	}
	w.store(t, fact.Draft{Key: "again", Value: json.RawMessage(`2`), TTL: &ttl, Probe: "true"})
	if err := w.facts.Forget(w.ctx, fact.Ref{Key: "deleted"}); err != nil {
		t.Fatal(err)
	}
	done := w.until(t, of["again"].Number, "completed", func(r operational.Reminder) bool { return r.Status == operational.ReminderCompleted })
	if !strings.Contains(done.Note, "stored again, as version") {
		t.Errorf("its note is %q", done.Note)
	}
	w.until(t, of["deleted"].Number, "cancelled", func(r operational.Reminder) bool { return r.Status == operational.ReminderCancelled })
	// The new version expires too. What was handled before a kill is handled again: the
	// storing of this version does not end its own reminder.
	sweep()
	second := w.until(t, like.Number+4, "due", isDue)
	stop()
	w.cursors = forgetful{w.Operational}
	stop = w.start(t)
	mark := w.schedule(t, operational.ReminderDraft{Trigger: "event:fact.stored"})
	w.store(t, fact.Draft{Key: "last", Value: json.RawMessage(`1`), TTL: &long})
	w.until(t, mark.Number, "due", isDue) // all before it was handled again
	for _, number := range []int64{second.Number, of["left"].Number, like.Number} {
		w.until(t, number, "due", isDue)
	}
	// What is stored while the router is away counts at its next start.
	stop()
	w.store(t, fact.Draft{Key: "again", Value: json.RawMessage(`3`), TTL: &long})
	w.cursors = w.Operational
	w.start(t)
	w.until(t, second.Number, "completed", func(r operational.Reminder) bool { return r.Status == operational.ReminderCompleted })
}

func heartbeat(agent, role string) comms.Heartbeat {
	return comms.Heartbeat{AgentID: agent, Role: role}
}
