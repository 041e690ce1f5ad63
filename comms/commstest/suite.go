// Package commstest is the contract of presence and mailbox as one suite of
// tests, to be run against every implementation of their interfaces: the
// services beside the database and the client over HTTP. It owns no
// implementation and knows none.
package commstest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// Services is one caller's view of an implementation.
type Services struct {
	Presence comms.PresenceService
	Mailbox  comms.MailboxService
}

// Factory opens an empty implementation for one test, and returns how a
// principal sees it. The suite also puts the principal into each call's context.
type Factory func(t *testing.T) func(p principal.Principal) Services

// caller is a principal with its view and context.
type caller struct {
	Services
	ctx context.Context
}

// Run runs the suite.
func Run(t *testing.T, open Factory) {
	for _, one := range []struct {
		name string
		run  func(t *testing.T, as func(principal.Principal) caller)
	}{
		{"a heartbeat makes an agent known", heartbeatMakesKnown},
		{"what a heartbeat leaves out stays as it was", heartbeatKeeps},
		{"status reports", statusReports},
		{"agents are listed and filtered", agentsAreFiltered},
		{"bad input is refused and its field named", badInput},
		{"secrets are cut out of messages, and refused in their names", redactsMessages},
		{"secrets are cut out of what agents say of themselves", redactsAgents},
		{"a direct message reaches its recipient alone", directMessage},
		{"a message waits for an agent that is not known yet", messageWaits},
		{"a broadcast is for all but its sender and later agents", broadcast},
		{"an idempotency key stands for one message", idempotency},
		{"acknowledging by seq", ackBySeq},
		{"acknowledging by id", ackByID},
		{"reading is not acknowledging", readIsNotAck},
		{"receipts tell stored, delivered, read and acknowledged apart", receiptsTellApart},
		{"overdue lists who has not acknowledged", overdue},
		{"stop outlives its acknowledgement", stopOutlivesAck},
		{"stop is obeyed by a loop beside a reader that acknowledges", stopBesideReader},
		{"a resume takes a stop back", stopTakenBack},
		{"stop holds until a new run checks in", stopUntilNewRun},
		{"stop ends with the run that says goodbye", stopUntilGoodbye},
		{"stop waits for an agent that is not known yet", stopWaits},
		{"a broadcast stop stops all but its sender", stopBroadcast},
		{"shutdown-check hands over what would be lost", handover},
		{"an inbox is read in pages", pages},
		{"no page leaves out what is sent meanwhile", pagesUnderWay},
		{"threads", threads},
		{"an agent acts as itself only", identity},
		{"a kind acts as its sessions, and a session as itself only", kindActs},
		{"a message to a group is for the first member that comes", groupFirst},
		{"a message to a kind, a project or a role waits for a member", groupWaits},
		{"a message to a group for each", groupEach},
		{"a stop to a group is for those that live", groupStop},
		{"a message to a group is taken once", groupOnce},
	} {
		t.Run(one.name, func(t *testing.T) {
			view := open(t)
			one.run(t, func(p principal.Principal) caller {
				return caller{view(p), principal.With(t.Context(), p)}
			})
		})
	}
}

// RunHalting runs what holds where agents may not halt others.
func RunHalting(t *testing.T, open Factory) {
	view := open(t)
	groupHalts(t, func(p principal.Principal) caller {
		return caller{view(p), principal.With(t.Context(), p)}
	})
}

// Agent is a principal that may act as one agent.
func Agent(id string) principal.Principal {
	return principal.Principal{AgentID: id, Scopes: []principal.Scope{principal.ScopeAgent}}
}

// Captain is a principal that may act as every agent, and is one.
func Captain() principal.Principal {
	return principal.Principal{AgentID: "captain", Scopes: []principal.Scope{principal.ScopeCaptain}}
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func wantCode(t *testing.T, err error, code errs.Code, field string) {
	t.Helper()
	if got := errs.CodeOf(err); got != code {
		t.Errorf("error %v has the code %q, want %q", err, got, code)
	}
	if got := errs.FieldOf(err); field != "" && got != field {
		t.Errorf("error %v blames the field %q, want %q", err, got, field)
	}
}

// refuses is wantCode for a call that answers something beside its error.
func refuses(t *testing.T, code errs.Code, field string) func(_ any, err error) {
	return func(_ any, err error) {
		t.Helper()
		wantCode(t, err, code, field)
	}
}

func (c caller) beat(t *testing.T, b comms.Heartbeat) comms.HeartbeatAnswer {
	t.Helper()
	return must(c.Presence.Heartbeat(c.ctx, b))(t)
}

func (c caller) send(t *testing.T, d operational.MessageDraft) comms.Sent {
	t.Helper()
	return must(c.Mailbox.Send(c.ctx, d))(t)
}

func (c caller) inbox(t *testing.T, q comms.InboxQuery) comms.Inbox {
	t.Helper()
	return must(c.Mailbox.Inbox(c.ctx, q))(t)
}

// seqs lists the messages of an inbox.
func (c caller) seqs(t *testing.T, q comms.InboxQuery) string {
	t.Helper()
	var list []int64
	for _, m := range c.inbox(t, q).Messages {
		list = append(list, m.Seq)
	}
	return fmt.Sprint(list)
}

func (c caller) stopped(t *testing.T, id string) bool {
	t.Helper()
	check := must(c.Presence.ShutdownCheck(c.ctx, id))(t)
	return check.ShouldStop
}

func draft(from, to, signal string) operational.MessageDraft {
	return operational.MessageDraft{From: from, To: to, Signal: signal}
}

func raw(format string, args ...any) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(format, args...))
}

func long(n int) string { return strings.Repeat("x", n) }
