package comms_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/comms/commstest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// fillBox sends to an agent as each of the senders until each is refused, and
// returns how many messages were taken.
func fillBox(t *testing.T, h house, to string, senders int, context json.RawMessage) int {
	t.Helper()
	var taken atomic.Int64
	var all sync.WaitGroup
	for i := range senders {
		id := fmt.Sprint("sender", i)
		ctx := principal.With(t.Context(), commstest.Agent(id))
		for range 50 { // at once, so that batches form
			all.Go(func() {
				for {
					_, err := h.Mailbox.Send(ctx, operational.MessageDraft{To: to, Signal: "message", Context: context})
					if errs.CodeOf(err) == errs.RateLimited {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					taken.Add(1)
				}
			})
		}
	}
	all.Wait()
	for i := range senders { // what was on its way may have been counted twice: now nothing is
		ctx := principal.With(t.Context(), commstest.Agent(fmt.Sprint("sender", i)))
		for {
			if _, err := h.Mailbox.Send(ctx, operational.MessageDraft{To: to, Signal: "message", Context: context}); err != nil {
				break
			}
			taken.Add(1)
		}
	}
	return int(taken.Load())
}

// TestMailboxIsBounded (finding S9): an agent could put any number of messages
// into another's mailbox. One sender has a quarter of it, all together the whole.
func TestMailboxIsBounded(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	boss := principal.With(t.Context(), commstest.Captain())
	b := principal.With(t.Context(), commstest.Agent("b"))
	if _, err := h.Presence.Heartbeat(b, comms.Heartbeat{AgentID: "b"}); err != nil {
		t.Fatal(err)
	}
	first := principal.With(t.Context(), commstest.Agent("sender0"))
	once := operational.MessageDraft{To: "b", Signal: "message", IdempotencyKey: "k"}
	sent, err := h.Mailbox.Send(first, once)
	if err != nil {
		t.Fatal(err)
	}
	if n := fillBox(t, h, "b", 1, nil); n != comms.MaxUnacked/4-1 {
		t.Errorf("one sender put %d messages there", n)
	}
	if n := fillBox(t, h, "b", 6, nil); n != comms.MaxUnacked-comms.MaxUnacked/4 {
		t.Errorf("six senders put %d more there", n)
	}
	refused := func(ctx context.Context, what string) {
		t.Helper()
		if _, err := h.Mailbox.Send(ctx, operational.MessageDraft{To: "b", Signal: "message"}); errs.CodeOf(err) != errs.RateLimited || errs.FieldOf(err) != "to_agent_id" {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused(principal.With(t.Context(), commstest.Agent("other")), "another agent")
	anybody := principal.With(t.Context(), principal.Open())
	if _, err := h.Mailbox.Send(anybody, operational.MessageDraft{From: "other", To: "b", Signal: "message"}); errs.CodeOf(err) != errs.RateLimited {
		t.Errorf("while no token exists: %v", err)
	}
	for what, send := range map[string]func() (comms.Sent, error){
		"a stop": func() (comms.Sent, error) {
			return h.Mailbox.Send(first, operational.MessageDraft{To: "b", Signal: "stop"})
		},
		"a captain's message": func() (comms.Sent, error) {
			return h.Mailbox.Send(boss, operational.MessageDraft{To: "b", Signal: "message"})
		},
		"a broadcast": func() (comms.Sent, error) { return h.Mailbox.Send(first, operational.MessageDraft{Signal: "message"}) },
		"one to somebody else": func() (comms.Sent, error) {
			return h.Mailbox.Send(first, operational.MessageDraft{To: "c", Signal: "message"})
		},
	} {
		if _, err := send(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if again, err := h.Mailbox.Send(first, once); err != nil || !again.Duplicate || again.MessageID != sent.MessageID {
		t.Errorf("a message that is there, sent again: %+v %v", again, err)
	}
	fresh := once
	fresh.IdempotencyKey = "k2"
	if _, err := h.Mailbox.Send(first, fresh); errs.CodeOf(err) != errs.RateLimited {
		t.Errorf("a new message with a key: %v", err)
	}
	if err := h.Mailbox.Tell(t.Context(), operational.MessageDraft{From: "skillrouter", To: "b", Signal: "lesson"}); err != nil || h.Mailbox.Dropped() != 1 {
		t.Errorf("the router's own message: %v, %d dropped", err, h.Mailbox.Dropped())
	}
	h.Close()
	h = open(t, dir, time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	refused(first, "after a restart")
	if n, err := h.Mailbox.Ack(b, comms.Ack{AgentID: "b", Seq: sent.Seq + 99}); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	if n := fillBox(t, h, "b", 6, nil); n == 0 || n > 100 {
		t.Errorf("%d messages found room once 100 were acknowledged", n)
	}
}

// TestMailboxIsBoundedInBytes (finding S9): a sender's quarter is 16 MiB, too.
func TestMailboxIsBoundedInBytes(t *testing.T) {
	h := open(t, t.TempDir(), time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	const text = 60 << 10
	content := json.RawMessage(`{"text":"` + strings.Repeat("a", text) + `"}`)
	if n := fillBox(t, h, "b", 1, content); n != comms.MaxUnackedBytes/4/len(content) {
		t.Errorf("%d messages of %d bytes were taken", n, len(content))
	}
}

// TestRoutersOwnMessages holds that reminders and other messages of the router
// itself are bounded by the mailbox, and not by a sender's quarter of it.
func TestRoutersOwnMessages(t *testing.T) {
	h := open(t, t.TempDir(), time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	var telling sync.WaitGroup
	for range 100 {
		telling.Go(func() {
			for range comms.MaxUnacked / 4 / 100 * 2 {
				if err := h.Mailbox.Tell(t.Context(), operational.MessageDraft{From: "skillrouter", To: "b", Signal: "reminder"}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	telling.Wait()
	if n := h.Mailbox.Dropped(); n != 0 {
		t.Errorf("%d messages were dropped in a mailbox that is half full", n)
	}
}

// TestATokenIsOneSender: the sessions of one token have a quarter of a mailbox together, so that another's message comes through; also
// after a start, when only their names are known.
func TestATokenIsOneSender(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	flood := func(h house) (taken int) {
		ctx := principal.With(t.Context(), commstest.Agent("a"))
		context := json.RawMessage(`{"text":"` + strings.Repeat("x", 60<<10) + `"}`)
		for i := range 6 {
			for {
				_, err := h.Mailbox.Send(ctx, operational.MessageDraft{From: fmt.Sprintf("a:%d", i), To: "b", Signal: "message", Context: context})
				if errs.CodeOf(err) == errs.RateLimited {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				taken++
			}
		}
		return taken
	}
	other := func(h house) {
		t.Helper()
		for _, name := range []string{"c", "ab"} {
			if _, err := h.Mailbox.Send(principal.With(t.Context(), commstest.Agent(name)), operational.MessageDraft{To: "b", Signal: "message"}); err != nil {
				t.Errorf("a message of %s: %v", name, err)
			}
		}
	}
	if n, most := flood(h), comms.MaxUnackedBytes/4/(60<<10); n > most || n < most-2 {
		t.Errorf("six sessions of one token put %d messages there, want at most %d", n, most)
	}
	other(h)
	h.Close()
	h = open(t, dir, time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	if n := flood(h); n != 0 {
		t.Errorf("after a start they put %d more there", n)
	}
	other(h)
}
