package commstest

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

func directMessage(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	c.beat(t, comms.Heartbeat{AgentID: "a1"})
	c.beat(t, comms.Heartbeat{AgentID: "a2"})
	d := draft("captain", "a1", "review")
	d.Context, d.Priority, d.ThreadID, d.AckRequired, d.TTLSeconds = raw(`{ "file": "a.go",  "line": 7 }`), 3, "t-1", true, 3600
	sent := c.send(t, d)
	if sent.Target != "a1" || sent.Signal != "review" || sent.MessageID == "" || sent.Seq < 1 || sent.Duplicate || sent.Delivered {
		t.Errorf("the answer is %+v", sent)
	}
	page := c.inbox(t, comms.InboxQuery{AgentID: "a1"})
	if page.Count != 1 || page.LastSeq != sent.Seq || page.More {
		t.Fatalf("the inbox is %+v", page)
	}
	m := page.Messages[0]
	if m.ID != sent.MessageID || m.Seq != sent.Seq || m.From != "captain" || m.To != "a1" || m.Signal != "review" || string(m.Context) != `{"file":"a.go","line":7}` ||
		m.Priority != 3 || m.ThreadID != "t-1" || !m.AckRequired || m.ExpiresAt == nil || m.ExpiresAt.Sub(m.CreatedAt).Seconds() != 3600 {
		t.Errorf("the message is %+v", m)
	}
	if m.Delivered || m.Read || m.Acked {
		t.Errorf("a message that was never fetched has marks: %+v", m)
	}
	if page := c.inbox(t, comms.InboxQuery{AgentID: "a1"}); !page.Messages[0].Delivered {
		t.Error("a message that was fetched is not marked as delivered")
	}
	if got := c.seqs(t, comms.InboxQuery{AgentID: "a2"}); got != "[]" {
		t.Errorf("another agent has it too: %s", got)
	}
	if answer := c.beat(t, comms.Heartbeat{AgentID: "a1"}); !answer.HasMessages || answer.MessageCount != 1 {
		t.Errorf("the heartbeat is answered %+v", answer)
	}
	bare := c.send(t, operational.MessageDraft{To: "a1", Signal: "message"})
	if m := c.inbox(t, comms.InboxQuery{AgentID: "a1", Since: bare.Seq - 1}).Messages[0]; m.From != "captain" {
		t.Errorf("a message without a sender comes from %q", m.From)
	}
}

func messageWaits(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	sent := c.send(t, draft("captain", "later", "message"))
	if answer := c.beat(t, comms.Heartbeat{AgentID: "later"}); answer.MessageCount != 1 {
		t.Errorf("the first heartbeat is answered %+v", answer)
	}
	if got := c.seqs(t, comms.InboxQuery{AgentID: "later"}); got != fmt.Sprint([]int64{sent.Seq}) {
		t.Errorf("the inbox holds %s", got)
	}
}

func broadcast(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	for _, id := range []string{"captain", "a1", "a2"} {
		c.beat(t, comms.Heartbeat{AgentID: id})
	}
	sent := c.send(t, draft("captain", "", "pause"))
	if sent.Target != comms.Broadcast {
		t.Errorf("the answer is %+v", sent)
	}
	c.beat(t, comms.Heartbeat{AgentID: "late"})
	all := fmt.Sprint([]int64{sent.Seq})
	for id, want := range map[string]string{"captain": "[]", "a1": all, "a2": all, "late": "[]"} {
		if got := c.seqs(t, comms.InboxQuery{AgentID: id}); got != want {
			t.Errorf("%s has %s, want %s", id, got, want)
		}
		if got := c.beat(t, comms.Heartbeat{AgentID: id}).MessageCount; (got == 1) != (want == all) {
			t.Errorf("%s is told of %d messages", id, got)
		}
	}
	receipts := must(c.Mailbox.Receipts(c.ctx, sent.MessageID))(t)
	var who []string
	for _, r := range receipts.Receipts {
		who = append(who, r.AgentID)
	}
	if fmt.Sprint(who) != "[a1 a2]" {
		t.Errorf("the recipients are %v", who)
	}
}

func idempotency(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	d := draft("captain", "a1", "message")
	d.IdempotencyKey, d.Context = "k1", raw(`{"a":1}`)
	first := c.send(t, d)
	d.Context = raw(`{ "a": 1 }`)
	again := c.send(t, d)
	if again.MessageID != first.MessageID || again.Seq != first.Seq || !again.Duplicate || first.Duplicate {
		t.Errorf("the same key gives %+v, then %+v", first, again)
	}
	other := d
	other.From = "a2"
	if sent := c.send(t, other); sent.MessageID == first.MessageID || sent.Duplicate {
		t.Errorf("another sender's key is taken for the same: %+v", sent)
	}
	d.Context = raw(`{"a":2}`)
	refuses(t, errs.Conflict, "idempotency_key")(c.Mailbox.Send(c.ctx, d))
	if page := c.inbox(t, comms.InboxQuery{AgentID: "a1"}); page.Count != 2 {
		t.Errorf("%d messages are stored, want 2", page.Count)
	}
}

func ackBySeq(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	c.beat(t, comms.Heartbeat{AgentID: "a1"})
	var sent []comms.Sent
	for range 4 {
		sent = append(sent, c.send(t, draft("captain", "a1", "message")))
		c.send(t, draft("captain", "a2", "message"))
	}
	ack := func(seq int64) int64 { return must(c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: "a1", Seq: seq}))(t) }
	if got := ack(sent[2].Seq); got != 3 {
		t.Errorf("%d were acknowledged, want 3", got)
	}
	if got := ack(sent[1].Seq); got != 0 {
		t.Errorf("%d were acknowledged again", got)
	}
	if got := c.seqs(t, comms.InboxQuery{AgentID: "a1", Unacked: true}); got != fmt.Sprint([]int64{sent[3].Seq}) {
		t.Errorf("%s are left", got)
	}
	if got := c.beat(t, comms.Heartbeat{AgentID: "a1"}).MessageCount; got != 1 {
		t.Errorf("the heartbeat tells of %d messages, want 1", got)
	}
	refuses(t, errs.Invalid, "seq")(c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: "a1", Seq: 1 << 40}))
	refuses(t, errs.NotFound, "")(c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: "nobody", Seq: 1}))
}

func ackByID(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	c.beat(t, comms.Heartbeat{AgentID: "a1"})
	var sent []comms.Sent
	for range 4 {
		sent = append(sent, c.send(t, draft("captain", "a1", "message")))
	}
	others := c.send(t, draft("captain", "a2", "message"))
	ack := func(ids ...string) int64 {
		return must(c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: "a1", MessageIDs: ids}))(t)
	}
	if got := ack(sent[1].MessageID, sent[2].MessageID, sent[1].MessageID); got != 2 {
		t.Errorf("%d were acknowledged, want 2", got)
	}
	if got := c.seqs(t, comms.InboxQuery{AgentID: "a1", Unacked: true}); got != fmt.Sprint([]int64{sent[0].Seq, sent[3].Seq}) {
		t.Errorf("%s are left", got)
	}
	if got := ack(sent[0].MessageID); got != 1 {
		t.Errorf("%d were acknowledged, want 1", got)
	}
	if got := ack(sent[0].MessageID, sent[2].MessageID); got != 0 {
		t.Errorf("%d were acknowledged again", got)
	}
	if got := must(c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: "a1", Seq: sent[3].Seq}))(t); got != 1 {
		t.Errorf("%d were acknowledged by seq, want 1", got)
	}
	for _, id := range []string{others.MessageID, "no-such-id"} {
		refuses(t, errs.NotFound, "message_ids")(c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: "a1", MessageIDs: []string{sent[0].MessageID, id}}))
	}
}

func readIsNotAck(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	c.beat(t, comms.Heartbeat{AgentID: "a1"})
	first := c.send(t, draft("captain", "a1", "message"))
	second := c.send(t, draft("captain", "a1", "message"))
	if got := must(c.Mailbox.Read(c.ctx, comms.Ack{AgentID: "a1", Seq: first.Seq}))(t); got != 1 {
		t.Errorf("%d were read, want 1", got)
	}
	if got := must(c.Mailbox.Read(c.ctx, comms.Ack{AgentID: "a1", MessageIDs: []string{first.MessageID, second.MessageID}}))(t); got != 1 {
		t.Errorf("%d were read, want 1", got)
	}
	for _, m := range c.inbox(t, comms.InboxQuery{AgentID: "a1"}).Messages {
		if !m.Read || m.Acked {
			t.Errorf("message %d: read %v, acknowledged %v", m.Seq, m.Read, m.Acked)
		}
	}
	if got := c.beat(t, comms.Heartbeat{AgentID: "a1"}).MessageCount; got != 2 {
		t.Errorf("the heartbeat tells of %d messages, want 2", got)
	}
}

func receiptsTellApart(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	for _, id := range []string{"a1", "a2"} {
		c.beat(t, comms.Heartbeat{AgentID: id})
	}
	sent := c.send(t, draft("captain", "", "message"))
	steps := func() string {
		var out []string
		for _, r := range must(c.Mailbox.Receipts(c.ctx, sent.MessageID))(t).Receipts {
			step := r.AgentID
			for name, at := range map[string]bool{"delivered": r.DeliveredAt != nil, "read": r.ReadAt != nil, "acked": r.AckedAt != nil} {
				if at {
					step += "+" + name[:1]
				}
			}
			out = append(out, step)
		}
		return fmt.Sprint(out)
	}
	if got := steps(); got != "[a1 a2]" {
		t.Errorf("stored: %s", got)
	}
	c.inbox(t, comms.InboxQuery{AgentID: "a1"})
	if got := steps(); got != "[a1+d a2]" {
		t.Errorf("delivered: %s", got)
	}
	c.inbox(t, comms.InboxQuery{AgentID: "a2"})
	must(c.Mailbox.Read(c.ctx, comms.Ack{AgentID: "a2", Seq: sent.Seq}))(t)
	if got := steps(); got != "[a1+d a2+d+r]" && got != "[a1+d a2+r+d]" {
		t.Errorf("read: %s", got)
	}
	must(c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: "a1", MessageIDs: []string{sent.MessageID}}))(t)
	if got := must(c.Mailbox.Receipts(c.ctx, sent.MessageID))(t); got.Receipts[0].AckedAt == nil || got.Receipts[0].ReadAt != nil || got.Receipts[1].AckedAt != nil || got.Message.ID != sent.MessageID {
		t.Errorf("acknowledged: %+v", got)
	}
	waiting := c.send(t, draft("captain", "unknown-yet", "message"))
	if got := must(c.Mailbox.Receipts(c.ctx, waiting.MessageID))(t).Receipts; len(got) != 1 || got[0].AgentID != "unknown-yet" || got[0].DeliveredAt != nil {
		t.Errorf("a message that waits has the receipts %+v", got)
	}
	refuses(t, errs.NotFound, "")(c.Mailbox.Receipts(c.ctx, "no-such-id"))
}

func overdue(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	for _, id := range []string{"a1", "a2"} {
		c.beat(t, comms.Heartbeat{AgentID: id})
	}
	want := func(d operational.MessageDraft) comms.Sent {
		d.AckRequired = true
		return c.send(t, d)
	}
	direct, general, unknown := want(draft("captain", "a1", "x")), want(draft("captain", "", "y")), want(draft("captain", "nobody", "z"))
	c.send(t, draft("captain", "a1", "no answer wanted"))
	list := func() string {
		var out []string
		for _, o := range must(c.Mailbox.Overdue(c.ctx, comms.OverdueQuery{}))(t) {
			out = append(out, fmt.Sprint(o.Seq-direct.Seq, o.Waiting))
		}
		return fmt.Sprint(out)
	}
	if got, want := list(), "[0 [a1] 1 [a1 a2] 2 [nobody]]"; got != want {
		t.Errorf("overdue are %s, want %s", got, want)
	}
	must(c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: "a1", Seq: unknown.Seq}))(t)
	if got, want := list(), "[1 [a2] 2 [nobody]]"; got != want {
		t.Errorf("overdue are %s, want %s", got, want)
	}
	must(c.Mailbox.Ack(c.ctx, comms.Ack{AgentID: "a2", MessageIDs: []string{general.MessageID}}))(t)
	if got, want := list(), "[2 [nobody]]"; got != want {
		t.Errorf("overdue are %s, want %s", got, want)
	}
	if got := must(c.Mailbox.Overdue(c.ctx, comms.OverdueQuery{Age: 1000}))(t); len(got) != 0 {
		t.Errorf("overdue since long are %+v", got)
	}
}

func pages(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	c.beat(t, comms.Heartbeat{AgentID: "a1"})
	var want, got []int64
	for i := range 23 {
		d := draft("captain", "a1", "message")
		if i%3 == 0 {
			d.To = ""
		}
		if i%4 == 0 {
			d.Context = raw(`{"n":%d}`, i)
		}
		want = append(want, c.send(t, d).Seq)
		c.send(t, draft("captain", "a2", "message"))
	}
	q := comms.InboxQuery{AgentID: "a1", Limit: 5}
	for {
		page := c.inbox(t, q)
		for _, m := range page.Messages {
			got = append(got, m.Seq)
		}
		if !page.More {
			break
		}
		if page.LastSeq <= q.Since {
			t.Fatalf("the page after %d ends with %d", q.Since, page.LastSeq)
		}
		q.Since = page.LastSeq
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the pages hold %v, want %v", got, want)
	}
}

// pagesUnderWay sends to an agent and to everybody while the agent pages: no
// page may end behind a message that it left out.
func pagesUnderWay(t *testing.T, as func(principal.Principal) caller) {
	const each = 300
	c := as(Captain())
	c.beat(t, comms.Heartbeat{AgentID: "a1"})
	var sending sync.WaitGroup
	for _, to := range []string{"a1", ""} {
		sending.Go(func() {
			for range each {
				if _, err := c.Mailbox.Send(c.ctx, draft("captain", to, "message")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	sent := make(chan struct{})
	go func() {
		sending.Wait()
		close(sent)
	}()
	got := 0
	for q, over := (comms.InboxQuery{AgentID: "a1"}), false; ; {
		page := c.inbox(t, q)
		got += page.Count
		q.Since = page.LastSeq
		if over && page.Count == 0 {
			break
		}
		select {
		case <-sent:
			over = true
		default:
		}
	}
	if got != 2*each {
		t.Errorf("the pages hold %d of %d messages", got, 2*each)
	}
}

func threads(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	c.beat(t, comms.Heartbeat{AgentID: "a1"})
	d := draft("captain", "a1", "question")
	d.ThreadID = "t1"
	first := c.send(t, d)
	d.ThreadID = "t2"
	c.send(t, d)
	c.send(t, draft("captain", "a1", "message"))
	if got := c.seqs(t, comms.InboxQuery{AgentID: "a1", Thread: "t1"}); got != fmt.Sprint([]int64{first.Seq}) {
		t.Errorf("the thread holds %s", got)
	}
}

func identity(t *testing.T, as func(principal.Principal) caller) {
	captain, a1 := as(Captain()), as(Agent("a1"))
	captain.beat(t, comms.Heartbeat{AgentID: "a2"})
	a1.beat(t, comms.Heartbeat{AgentID: "a1"})
	secret := captain.send(t, draft("captain", "a2", "message"))
	half := 50.0
	for _, one := range []struct {
		name string
		call func() error
	}{
		{"check in", func() error { _, err := a1.Presence.Heartbeat(a1.ctx, comms.Heartbeat{AgentID: "a2"}); return err }},
		{"report", func() error {
			_, err := a1.Presence.Status(a1.ctx, comms.StatusReport{AgentID: "a2", Status: "x", Progress: &half})
			return err
		}},
		{"ask to stop", func() error { _, err := a1.Presence.ShutdownCheck(a1.ctx, "a2"); return err }},
		{"send", func() error { _, err := a1.Mailbox.Send(a1.ctx, draft("a2", "a1", "message")); return err }},
		{"read", func() error { _, err := a1.Mailbox.Inbox(a1.ctx, comms.InboxQuery{AgentID: "a2"}); return err }},
		{"acknowledge", func() error {
			_, err := a1.Mailbox.Ack(a1.ctx, comms.Ack{AgentID: "a2", Seq: secret.Seq})
			return err
		}},
		{"mark as read", func() error {
			_, err := a1.Mailbox.Read(a1.ctx, comms.Ack{AgentID: "a2", Seq: secret.Seq})
			return err
		}},
	} {
		err := one.call()
		t.Run(one.name, func(t *testing.T) { wantCode(t, err, errs.Forbidden, "") })
	}
	refuses(t, errs.NotFound, "")(a1.Mailbox.Receipts(a1.ctx, secret.MessageID))
	sent := a1.send(t, operational.MessageDraft{To: "a2", Signal: "message", Context: json.RawMessage(`{"x":1}`)})
	if m := captain.inbox(t, comms.InboxQuery{AgentID: "a2", Since: sent.Seq - 1}).Messages[0]; m.From != "a1" {
		t.Errorf("a message of a1 says it comes from %q", m.From)
	}
	if got := must(a1.Mailbox.Receipts(a1.ctx, sent.MessageID))(t); len(got.Receipts) != 1 {
		t.Errorf("the sender sees the receipts %+v", got)
	}
	reader := as(principal.Principal{Scopes: []principal.Scope{principal.ScopeRead}})
	if got := must(reader.Presence.Agents(reader.ctx, operational.AgentFilter{}))(t); len(got) != 2 {
		t.Errorf("a reader sees %d agents, want 2", len(got))
	}
	refuses(t, errs.Forbidden, "")(reader.Mailbox.Inbox(reader.ctx, comms.InboxQuery{AgentID: "a1"}))
}

// redactsMessages sends secrets in a message's context, by themselves, by their
// member's name, in a member's name, and again where nothing says what it is (S4).
func redactsMessages(t *testing.T, as func(principal.Principal) caller) {
	c := as(Captain())
	key := "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	d := draft("captain", "a1", "message")
	d.Context = raw(`{"text":"it was kT9rWq27LmZp","db":{"password":"kT9rWq27LmZp"},"%s":1,"env":[{"name":"API_TOKEN","value":"Zk3vQ9xT1bLw7RyP0cNd"}],"keep":"a note, 7"}`, key)
	sent := c.send(t, d)
	if len(sent.Redacted) < 3 {
		t.Errorf("the answer tells of %v", sent.Redacted)
	}
	m := c.inbox(t, comms.InboxQuery{AgentID: "a1"}).Messages[0]
	want := `{"text":"it was [redacted: password]","db":{"password":"[redacted: password]"},"[redacted: github_token]":1,"env":[{"name":"API_TOKEN","value":"[redacted: token]"}],"keep":"a note, 7"}`
	if string(m.Context) != want {
		t.Errorf("stored is %s\nwant      %s", m.Context, want)
	}
	for field, named := range map[string]operational.MessageDraft{
		"thread_id":       {To: "a1", Signal: "message", ThreadID: key},
		"idempotency_key": {To: "a1", Signal: "message", IdempotencyKey: key},
		"signal":          {To: "a1", Signal: key},
		"to_agent_id":     {To: key, Signal: "message"},
	} {
		refuses(t, errs.Invalid, field)(c.Mailbox.Send(c.ctx, named))
	}
}
