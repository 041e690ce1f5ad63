package store_test

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/operationaltest"
	"github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router/reminder"
)

// movable is a clock that stands still until it is moved.
type movable struct {
	mu  sync.Mutex
	now time.Time
}

func newMovable() *movable {
	return &movable{now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
}

func (m *movable) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (m *movable) move(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

// bench is reminders with their mailbox, on a store of their own.
type bench struct {
	store     *store.Store
	clock     *movable
	presence  *comms.Presence
	mailbox   *comms.Mailbox
	reminders *operational.Reminders
}

func newBench(t *testing.T) *bench {
	return newBenchOn(t, open(t), newMovable())
}

func newBenchOn(t *testing.T, s *store.Store, clock *movable) *bench {
	t.Helper()
	b := &bench{store: s, clock: clock}
	var err error
	log := slog.New(slog.DiscardHandler)
	if b.presence, err = comms.NewPresence(t.Context(), b.store, nil, b.clock.Now, log, comms.PresenceOptions{}); err != nil {
		t.Fatal(err)
	}
	if b.mailbox, err = comms.NewMailbox(t.Context(), b.presence, b.store, log, comms.MailboxOptions{}); err != nil {
		t.Fatal(err)
	}
	b.reminders = operational.NewReminders(b.store, operational.ReminderOptions{
		Now: b.clock.Now, Mail: b.mailbox, Recipients: reminder.NewRoster(b.presence, b.clock.Now),
		Condition: func(expression string) error {
			if expression == "(" {
				return errs.Errorf(errs.Invalid, "unexpected end")
			}
			return nil
		},
	})
	return b
}

func (b *bench) mail(t *testing.T, agent string) []operational.Message {
	t.Helper()
	messages, _, err := b.store.Mail(t.Context(), operational.MailQuery{AgentID: agent, Now: time.Unix(0, 0), Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

func (b *bench) advance(t *testing.T, d time.Duration) {
	t.Helper()
	b.clock.move(d)
	if _, err := b.reminders.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) world() operationaltest.ReminderWorld {
	return operationaltest.ReminderWorld{World: direct[operational.ReminderService](b.reminders), Now: b.clock.Now, Advance: b.advance, Mail: b.mail}
}

func TestReminders(t *testing.T) {
	operationaltest.Reminders(t, func(t *testing.T) operationaltest.ReminderWorld { return newBench(t).world() })
}

func as(ctx context.Context, id string) context.Context {
	return principal.With(ctx, principal.Principal{AgentID: id, Scopes: []principal.Scope{principal.ScopeAgent}})
}

// TestRemindersOfAKind: a token of a kind sees what is for a session of the kind and what one made, and nothing of another kind's.
func TestRemindersOfAKind(t *testing.T) {
	b := newBench(t)
	as := func(agent string) context.Context {
		return principal.With(t.Context(), principal.Principal{AgentID: agent, Scopes: []principal.Scope{principal.ScopeAgent}})
	}
	for _, draft := range []operational.ReminderDraft{
		{Task: "look", AgentID: "claude-code:amber-fox", CreatedBy: "claude-code:amber-fox"},
		{Task: "made by it", AgentID: "b", CreatedBy: "claude-code:amber-fox"},
		{Task: "another kind's", AgentID: "claude-codex", CreatedBy: "claude-codex"},
	} {
		draft.Trigger = "time:+1hour"
		if _, err := b.reminders.Schedule(principal.With(t.Context(), principal.Open()), draft); err != nil {
			t.Fatal(err)
		}
	}
	for agent, want := range map[string]int{"claude-code": 2, "claude-code:amber-fox": 2, "claude": 0, "claude-codex": 1, "b": 1} {
		list, err := b.reminders.List(as(agent), operational.ReminderFilter{})
		if err != nil || len(list) != want {
			t.Errorf("%s sees %d reminders, want %d: %v", agent, len(list), want, err)
		}
		for _, r := range list {
			if !r.Concerns(principal.Of(as(agent))) {
				t.Errorf("%s sees %+v, which does not concern it", agent, r)
			}
		}
	}
	own := operational.PendingQuery{AgentID: "claude-code:amber-fox", IncludeScheduled: true}
	if list, err := b.reminders.Pending(as("claude-code"), own); err != nil || len(list) != 1 {
		t.Errorf("pending are %+v, %v", list, err)
	}
}

// TestRemindersOfAProject: what a person is to be reminded of in a project reaches the next agent that works there, once, before its messages
// are counted, and no agent elsewhere or one that has answered.
func TestRemindersOfAProject(t *testing.T) {
	b := newBench(t)
	b.presence.OnWork(b.reminders.AtWork)
	ctx := principal.With(t.Context(), principal.Open())
	beat := func(agent, project, status string, want int) {
		t.Helper()
		answer, err := b.presence.Heartbeat(ctx, comms.Heartbeat{AgentID: agent, Project: project, Status: status})
		if err != nil || answer.MessageCount != want {
			t.Errorf("%s in %s, %s: %d messages, want %d: %v", agent, project, status, answer.MessageCount, want, err)
		}
	}
	remind := func(task string) {
		t.Helper()
		if _, err := b.reminders.Schedule(ctx, operational.ReminderDraft{Task: task, Trigger: "time:+1s", Project: "shop"}); err != nil {
			t.Fatal(err)
		}
	}
	beat("early", "shop", "working", 0)
	remind("check the canary")
	b.advance(t, 2*time.Second)
	beat("elsewhere", "ledger", "working", 0)
	beat("early", "shop", "idle", 0)
	beat("codex:fox", "shop", "working", 1)
	if mail := b.mail(t, "codex:fox"); len(mail) != 1 || mail[0].Signal != operational.SignalReminder {
		t.Errorf("%+v", mail)
	}
	beat("claude-code:owl", "shop", "working", 0)
	remind("look again")
	beat("claude-code:owl", "", "working", 0) // it is not due
	b.advance(t, 2*time.Second)
	beat("claude-code:owl", "", "working", 1)
	beat("early", "shop", "exited: the session ended", 0)
}

// TestRemindersOfABusyProject: however many are due in the project that others were told of, the one that waits for whoever works there is told.
func TestRemindersOfABusyProject(t *testing.T) {
	b := newBench(t)
	b.presence.OnWork(b.reminders.AtWork)
	ctx := principal.With(t.Context(), principal.Open())
	var scheduling errgroup.Group
	for range operational.MaxLimit {
		scheduling.Go(func() error {
			_, err := b.reminders.Schedule(ctx, operational.ReminderDraft{Task: "look", Trigger: "time:+1s", Project: "shop", AgentID: "early"})
			return err
		})
	}
	if err := scheduling.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.reminders.Schedule(ctx, operational.ReminderDraft{Task: "check the canary", Trigger: "time:+1s", Project: "shop"}); err != nil {
		t.Fatal(err)
	}
	b.advance(t, 2*time.Second)
	for _, want := range []int{1, 0} {
		answer, err := b.presence.Heartbeat(ctx, comms.Heartbeat{AgentID: "codex:" + strconv.Itoa(want), Project: "shop", Status: "working"})
		if err != nil || answer.MessageCount != want {
			t.Errorf("%d messages, want %d: %v", answer.MessageCount, want, err)
		}
	}
}
