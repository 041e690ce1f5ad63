package commstest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// team checks five sessions of one kind in, each in a worktree of one project, and a reviewer.
func team(t *testing.T, c caller) []string {
	t.Helper()
	ids := []string{"claude-code:amber-fox", "claude-code:bold-owl", "claude-code:calm-elk", "claude-code:deep-carp", "claude-code:eager-bee"}
	for i, id := range ids {
		c.beat(t, comms.Heartbeat{AgentID: id, Project: "shop", ProjectPath: fmt.Sprint("/worktrees/", i), PID: 100 + i, Status: "working"})
	}
	c.beat(t, comms.Heartbeat{AgentID: "codex:amber-fox", Project: "shop", Role: "reviewer"})
	return ids
}

// texts are the signals in an agent's inbox.
func (c caller) signals(t *testing.T, id string) (signals []string) {
	t.Helper()
	for _, m := range c.inbox(t, comms.InboxQuery{AgentID: id}).Messages {
		signals = append(signals, m.Signal)
	}
	return signals
}

func groupFirst(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	ids := team(t, c)
	d := draft("captain", "claude-code", "review")
	d.AckRequired = true
	sent := c.send(t, d)
	if sent.Target != "claude-code" || len(sent.Recipients) != 0 {
		t.Errorf("the answer is %+v", sent)
	}
	if answer := c.beat(t, comms.Heartbeat{AgentID: "codex:amber-fox"}); answer.HasMessages {
		t.Error("another kind has the message")
	}
	if answer := c.beat(t, comms.Heartbeat{AgentID: ids[2]}); answer.MessageCount != 1 {
		t.Errorf("the first member that comes is told of %d messages", answer.MessageCount)
	}
	for i, id := range ids {
		page := c.inbox(t, comms.InboxQuery{AgentID: id})
		if i != 2 && page.Count != 0 {
			t.Errorf("%s, who came later, has it too", id)
		}
		if i == 2 && (page.Count != 1 || page.Messages[0].To != id || page.Messages[0].Group != "claude-code" || page.Messages[0].From != "captain" || page.Messages[0].Acked) {
			t.Errorf("the first member has %+v", page.Messages)
		}
	}
	got := must(c.Mailbox.Receipts(c.ctx, sent.MessageID))(t)
	if len(got.Receipts) != 1 || got.Receipts[0].AgentID != ids[2] || got.Receipts[0].AckedAt != nil {
		t.Errorf("the sender is told %+v", got.Receipts)
	}
	waiting := must(c.Mailbox.Overdue(c.ctx, comms.OverdueQuery{Limit: 10}))(t)
	if len(waiting) != 1 || !slices.Equal(waiting[0].Waiting, []string{ids[2]}) {
		t.Errorf("the acknowledgement is awaited from %+v", waiting)
	}
	copied := c.inbox(t, comms.InboxQuery{AgentID: ids[2]}).Messages[0]
	if n, err := c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: ids[2], MessageIDs: []string{copied.ID}}); n != 1 || err != nil {
		t.Errorf("%d acknowledged, %v", n, err)
	}
	if got := must(c.Mailbox.Receipts(c.ctx, sent.MessageID))(t); got.Receipts[0].AckedAt == nil {
		t.Errorf("an acknowledged copy has the receipt %+v", got.Receipts[0])
	}
	if _, err := c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: ids[1], MessageIDs: []string{copied.ID}}); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("another member acknowledges it: %v", err)
	}
}

func groupWaits(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	c.send(t, draft("captain", "gemini", "one"))
	c.send(t, draft("captain", "stock", "two"))
	c.send(t, draft("captain", "tester", "three"))
	c.beat(t, comms.Heartbeat{AgentID: "gemini:bold-owl", Project: "stock", Role: "tester"})
	if got := c.signals(t, "gemini:bold-owl"); !slices.Equal(got, []string{"one", "two", "three"}) {
		t.Errorf("who is of the kind, the project and the role has %v", got)
	}
	// What is sent to an agent's own id is its own, though it is away and others call it their project or role.
	c.beat(t, comms.Heartbeat{AgentID: "bob"})
	c.beat(t, comms.Heartbeat{AgentID: "bob", Status: "exited"})
	c.send(t, draft("captain", "bob", "mine"))
	c.beat(t, comms.Heartbeat{AgentID: "eve", Role: "bob", Project: "bob"})
	if got := c.signals(t, "eve"); len(got) != 0 {
		t.Errorf("who calls itself bob's role has %v", got)
	}
	if got := c.signals(t, "bob"); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("bob has %v", got)
	}
	// Who says goodbye takes nothing with it.
	c.send(t, draft("captain", "gemini", "four"))
	c.beat(t, comms.Heartbeat{AgentID: "gemini:bold-owl", Status: "exited: the session ended"})
	c.beat(t, comms.Heartbeat{AgentID: "gemini:calm-elk"})
	if got := c.signals(t, "gemini:calm-elk"); !slices.Equal(got, []string{"four"}) {
		t.Errorf("the next session has %v", got)
	}
}

func groupEach(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	ids := team(t, c)
	d := draft(ids[0], "shop", "freeze")
	d.Each = true
	sent := c.send(t, d)
	c.beat(t, comms.Heartbeat{AgentID: "late", Project: "shop"})
	for _, id := range slices.Concat(ids[1:], []string{"codex:amber-fox", "late"}) {
		c.beat(t, comms.Heartbeat{AgentID: id})
		if got := c.signals(t, id); !slices.Equal(got, []string{"freeze"}) {
			t.Errorf("%s has %v", id, got)
		}
		if got := c.signals(t, id); len(got) != 1 {
			t.Errorf("%s looks again and has %v", id, got)
		}
	}
	if got := c.signals(t, ids[0]); len(got) != 0 {
		t.Errorf("its sender has %v", got)
	}
	if got := must(c.Mailbox.Receipts(c.ctx, sent.MessageID))(t); len(got.Receipts) != 6 {
		t.Errorf("%d have a receipt", len(got.Receipts))
	}
	for _, bad := range []operational.MessageDraft{{From: "captain", Signal: "x", Each: true}, {From: "captain", To: "shop", Signal: "stop", Each: true}} {
		if _, err := c.Mailbox.Send(c.ctx, bad); errs.CodeOf(err) != errs.Invalid {
			t.Errorf("%+v is answered %v", bad, err)
		}
	}
}

func groupStop(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	ids := team(t, c)
	c.beat(t, comms.Heartbeat{AgentID: ids[4], Status: "exited"})
	d := draft("captain", "claude-code", "stop")
	d.Context, d.IdempotencyKey = raw(`{"reason":"enough"}`), "k"
	sent := c.send(t, d)
	if !slices.Equal(sent.Recipients, ids[:4]) || sent.Target != "claude-code" {
		t.Errorf("the answer is %+v", sent)
	}
	if again := c.send(t, d); !again.Duplicate || !slices.Equal(again.Recipients, ids[:4]) {
		t.Errorf("sent again it is %+v", again)
	}
	for _, id := range ids[:4] {
		if answer := c.beat(t, comms.Heartbeat{AgentID: id}); !answer.ShouldStop || answer.StopReason != "enough" {
			t.Errorf("%s is answered %+v", id, answer)
		}
	}
	// It is for those that lived when it was sent.
	for _, beat := range []comms.Heartbeat{{AgentID: ids[4], PID: 900}, {AgentID: "claude-code:new-one", PID: 901}, {AgentID: "codex:amber-fox"}} {
		if answer := c.beat(t, beat); answer.ShouldStop || answer.HasMessages {
			t.Errorf("%s, who came later or is of another kind, is answered %+v", beat.AgentID, answer)
		}
	}
	// One that ends ends alone.
	c.beat(t, comms.Heartbeat{AgentID: ids[0], Status: "exited"})
	if answer := c.beat(t, comms.Heartbeat{AgentID: ids[1]}); !answer.ShouldStop {
		t.Error("one session's end takes back the stop of another")
	}
	c.send(t, draft("captain", ids[1], "message"))
	for _, id := range []string{ids[2], ids[3]} {
		if got := c.signals(t, id); !slices.Equal(got, []string{"stop"}) {
			t.Errorf("%s has %v", id, got)
		}
	}
}

// groupOnce: of many members that come at once, one gets the message.
func groupOnce(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	const messages, members = 20, 8
	for range messages {
		c.send(t, draft("captain", "claude-code", "work"))
	}
	var all sync.WaitGroup
	for i := range members {
		all.Go(func() { c.beat(t, comms.Heartbeat{AgentID: fmt.Sprint("claude-code:s", i)}) })
	}
	all.Wait()
	got := 0
	for i := range members {
		got += len(c.signals(t, fmt.Sprint("claude-code:s", i)))
	}
	if got != messages {
		t.Errorf("%d messages were taken %d times", messages, got)
	}
}

func kindActs(t *testing.T, as func(principal.Principal) caller) {
	captain := as(Captain())
	team(t, captain)
	kind, session := as(Agent("claude-code")), as(Agent("claude-code:amber-fox"))
	captain.send(t, draft("captain", "claude-code:bold-owl", "one"))
	if got := kind.signals(t, "claude-code:bold-owl"); !slices.Equal(got, []string{"one"}) {
		t.Errorf("the kind's token reads %v", got)
	}
	kind.beat(t, comms.Heartbeat{AgentID: "claude-code:bold-owl"})
	kind.beat(t, comms.Heartbeat{AgentID: "claude-code"})
	for _, id := range []string{"claude-codex", "claude-code-2", "codex:amber-fox", "claude"} {
		if _, err := kind.Presence.Heartbeat(kind.ctx, comms.Heartbeat{AgentID: id}); errs.CodeOf(err) != errs.Forbidden {
			t.Errorf("the kind's token as %s: %v", id, err)
		}
	}
	for _, id := range []string{"claude-code", "claude-code:bold-owl"} {
		if _, err := session.Mailbox.Inbox(session.ctx, comms.InboxQuery{AgentID: id}); errs.CodeOf(err) != errs.Forbidden {
			t.Errorf("a session's token as %s: %v", id, err)
		}
	}
}

// groupHalts: a token halts no others by naming a group that they are in.
func groupHalts(t *testing.T, as func(principal.Principal) caller) {
	captain := as(Captain())
	ids := team(t, captain)
	for _, from := range []string{"shop", "reviewer", "codex:amber-fox", ids[0]} {
		eve := as(Agent(from))
		for _, to := range []string{"shop", "claude-code", "reviewer"} {
			if _, err := eve.Mailbox.Send(eve.ctx, operational.MessageDraft{To: to, Signal: "stop"}); errs.CodeOf(err) != errs.Forbidden {
				t.Errorf("the token of %s stops %s: %v", from, to, err)
			}
		}
	}
	for _, id := range append(ids, "codex:amber-fox") {
		if answer := captain.beat(t, comms.Heartbeat{AgentID: id}); answer.ShouldStop {
			t.Errorf("%s is stopped", id)
		}
	}
	kind := as(Agent("claude-code"))
	if sent := kind.send(t, operational.MessageDraft{To: "claude-code", Signal: "stop"}); len(sent.Recipients) != len(ids) {
		t.Errorf("a kind's token stops %v of its own", sent.Recipients)
	}
}
