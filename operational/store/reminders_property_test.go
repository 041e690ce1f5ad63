package store_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/operational"
)

// expected is what a reminder has to do: come due once, when the clock is first
// looked at and shows its time or a later one.
type expected struct {
	number    int64
	at        time.Time
	recurring bool
	every     time.Duration
	fired     int64
	missed    bool
}

// TestRemindersOverClockJumps sets the clock forward and back, and restarts
// the router, in between: each reminder comes due once and brings one message.
func TestRemindersOverClockJumps(t *testing.T) {
	clock := newMovable()
	s := open(t)
	world := 0
	rapid.Check(t, func(rt *rapid.T) {
		world++
		agent := fmt.Sprint("agent-", world)
		b := newBenchOn(t, s, clock)
		ctx := as(t.Context(), agent)
		var all []*expected
		// due is what comes due when the clock is looked at.
		due := func(missed bool) {
			now := clock.Now()
			for _, e := range all {
				if now.Before(e.at) || e.fired > 0 && !e.recurring {
					continue
				}
				e.fired++
				e.missed = missed
				if e.recurring { // the times it has passed are left out
					for !e.at.After(now) {
						e.at = e.at.Add(e.every)
					}
				}
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"schedule": func(rt *rapid.T) {
				ahead := time.Duration(rapid.IntRange(0, 7200).Draw(rt, "seconds")) * time.Second
				r, err := b.reminders.Schedule(ctx, operational.ReminderDraft{Task: "t", Trigger: fmt.Sprintf("time:+%ds", int(ahead.Seconds()))})
				if err != nil {
					rt.Fatal(err)
				}
				all = append(all, &expected{number: r.Number, at: *r.ScheduledFor})
			},
			"schedule recurring": func(rt *rapid.T) {
				r, err := b.reminders.Schedule(ctx, operational.ReminderDraft{Task: "t", Trigger: "cron:0 * * * *"})
				if err != nil {
					rt.Fatal(err)
				}
				all = append(all, &expected{number: r.Number, at: *r.ScheduledFor, recurring: true, every: time.Hour})
			},
			"jump": func(rt *rapid.T) {
				clock.move(time.Duration(rapid.IntRange(-7200, 14400).Draw(rt, "jump")) * time.Second)
			},
			"look": func(rt *rapid.T) {
				if _, err := b.reminders.Tick(t.Context()); err != nil {
					rt.Fatal(err)
				}
				due(false)
			},
			"restart": func(rt *rapid.T) {
				b = newBenchOn(t, s, clock)
				if err := b.reminders.CatchUp(t.Context()); err != nil {
					rt.Fatal(err)
				}
				due(true)
			},
			"": func(rt *rapid.T) {
				messages := map[string]int64{}
				for _, m := range b.mail(t, agent) {
					messages[m.ThreadID]++
				}
				for _, e := range all {
					r, err := b.reminders.Reminder(ctx, e.number)
					if err != nil || r.Fired != e.fired || messages[fmt.Sprint("reminder:", e.number)] != e.fired {
						rt.Fatalf("reminder %d for %v came due %d times with %d messages, want %d; it is %v; %v",
							e.number, e.at, r.Fired, messages[fmt.Sprint("reminder:", e.number)], e.fired, clock.Now(), err)
					}
					if e.fired > 0 && r.Missed != e.missed {
						rt.Fatalf("reminder %d: missed %v, want %v", e.number, r.Missed, e.missed)
					}
					if e.recurring && !r.Next.Equal(e.at) {
						rt.Fatalf("reminder %d comes next at %v, want %v", e.number, r.Next, e.at)
					}
				}
			},
		})
	})
}

// TestMissedReminders holds what a router finds that was down: each comes once,
// a recurring one that missed ten times too, and both say that they were missed.
func TestMissedReminders(t *testing.T) {
	b := newBench(t)
	ctx := as(t.Context(), "a")
	for _, trigger := range []string{"time:+1min", "cron:* * * * *", "time:+1day"} {
		if _, err := b.reminders.Schedule(ctx, operational.ReminderDraft{Task: trigger, Trigger: trigger}); err != nil {
			t.Fatal(err)
		}
	}
	b.clock.move(10*time.Minute + time.Second)
	again := newBenchOn(t, b.store, b.clock)
	if err := again.reminders.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := again.reminders.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	for number, want := range map[int64]struct {
		fired  int64
		missed bool
	}{1: {1, true}, 2: {1, true}, 3: {0, false}} {
		r, err := again.reminders.Reminder(ctx, number)
		if err != nil || r.Fired != want.fired || r.Missed != want.missed {
			t.Errorf("reminder %d: %+v, %v", number, r, err)
		}
		if number == 2 && r.Next.Sub(b.clock.Now()) != 59*time.Second {
			t.Errorf("the recurring one comes next at %v, and it is %v", r.Next, b.clock.Now())
		}
	}
	if mail := again.mail(t, "a"); len(mail) != 2 {
		t.Errorf("%d messages", len(mail))
	}
	again.advance(t, time.Minute)
	if r, err := again.reminders.Reminder(ctx, 2); err != nil || r.Fired != 2 || r.Missed {
		t.Errorf("then: %+v, %v", r, err)
	}
}
