package comms_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

func TestLog(t *testing.T) {
	h := open(t, t.TempDir(), time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	ctx := captain(t)
	for i, d := range []operational.MessageDraft{
		{From: "a", To: "b", Signal: "message", ThreadID: "t1"},
		{From: "b", To: "a", Signal: "message", ThreadID: "t1"},
		{From: "c", To: "", Signal: "pause"},
		{From: "c", To: "d", Signal: "stop"},
		{From: "a", To: "d", Signal: "message"},
	} {
		if sent, err := h.Mailbox.Send(ctx, d); err != nil || sent.Seq != int64(i+1) {
			t.Fatal(sent, err)
		}
	}
	as := func(agent string) principal.Principal {
		return principal.Principal{AgentID: agent, Scopes: []principal.Scope{principal.ScopeAgent}}
	}
	for name, c := range map[string]struct {
		who  principal.Principal
		q    operational.LogQuery
		want []int64
		next int64
		code errs.Code
	}{
		"all, the latest first":        {principal.Open(), operational.LogQuery{}, []int64{5, 4, 3, 2, 1}, 0, ""},
		"a page":                       {principal.Open(), operational.LogQuery{Limit: 2}, []int64{5, 4}, 4, ""},
		"the next page":                {principal.Open(), operational.LogQuery{Limit: 2, Before: 4}, []int64{3, 2}, 2, ""},
		"the last page":                {principal.Open(), operational.LogQuery{Limit: 2, Before: 2}, []int64{1}, 0, ""},
		"beyond the end is the end":    {principal.Open(), operational.LogQuery{Limit: 1, Before: 1 << 60}, []int64{5}, 5, ""},
		"a thread":                     {principal.Open(), operational.LogQuery{Thread: "t1"}, []int64{2, 1}, 0, ""},
		"a signal":                     {principal.Open(), operational.LogQuery{Signal: "stop"}, []int64{4}, 0, ""},
		"an agent's, and broadcasts":   {principal.Open(), operational.LogQuery{Agent: "b"}, []int64{3, 2, 1}, 0, ""},
		"an agent sees its own":        {as("b"), operational.LogQuery{}, []int64{3, 2, 1}, 0, ""},
		"an agent asks for its own":    {as("b"), operational.LogQuery{Agent: "b", Signal: "pause"}, []int64{3}, 0, ""},
		"another's are not for it":     {as("b"), operational.LogQuery{Agent: "d"}, nil, 0, errs.Forbidden},
		"a reader has no mailbox":      {principal.Principal{Scopes: []principal.Scope{principal.ScopeRead}}, operational.LogQuery{}, nil, 0, errs.Forbidden},
		"nobody":                       {principal.Principal{}, operational.LogQuery{}, nil, 0, errs.Forbidden},
		"a limit beyond the bound":     {principal.Open(), operational.LogQuery{Limit: comms.MaxLimit + 1}, nil, 0, errs.Invalid},
		"a negative place":             {principal.Open(), operational.LogQuery{Before: -1}, nil, 0, errs.Invalid},
		"a thread's name of two lines": {principal.Open(), operational.LogQuery{Thread: "a\nb"}, nil, 0, errs.Invalid},
	} {
		page, err := h.Mailbox.Log(principal.With(t.Context(), c.who), c.q)
		var got []int64
		for _, m := range page.Messages {
			got = append(got, m.Seq)
		}
		if errs.CodeOf(err) != c.code || !slices.Equal(got, c.want) || page.Next != c.next {
			t.Errorf("%s: %v, next %d, %v; want %v, next %d, %q", name, got, page.Next, err, c.want, c.next, c.code)
		}
	}
	for _, agent := range []string{"b", "d"} { // whoever reads the log has taken nobody's mail
		inbox, err := h.Mailbox.Inbox(ctx, comms.InboxQuery{AgentID: agent, Unacked: true})
		if err != nil || len(inbox.Messages) == 0 || inbox.Messages[0].Delivered {
			t.Errorf("%s: %+v %v", agent, inbox, err)
		}
	}
}

func TestUnread(t *testing.T) {
	h := open(t, t.TempDir(), time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	ctx := captain(t)
	if _, err := h.Presence.Heartbeat(ctx, comms.Heartbeat{AgentID: "a"}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := h.Mailbox.Send(ctx, operational.MessageDraft{From: "b", To: "a", Signal: fmt.Sprint("s", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := h.Presence.Unread(ctx, "a"); n != 3 || err != nil {
		t.Error(n, err)
	}
	other := principal.With(t.Context(), principal.Principal{AgentID: "b", Scopes: []principal.Scope{principal.ScopeAgent}})
	if _, err := h.Presence.Unread(other, "a"); errs.CodeOf(err) != errs.Forbidden {
		t.Error(err)
	}
	if _, err := h.Presence.Unread(ctx, "nobody"); errs.CodeOf(err) != errs.NotFound {
		t.Error(err)
	}
}

// TestReached: how far a page of messages has come is what each one's receipts say, whoever asks, groups and what expires too.
func TestReached(t *testing.T) {
	h := open(t, t.TempDir(), time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	ctx := captain(t)
	for _, id := range []string{"a", "b", "team:one", "team:two"} {
		if _, err := h.Presence.Heartbeat(ctx, comms.Heartbeat{AgentID: id}); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []operational.MessageDraft{
		{From: "a", To: "b", Signal: "message"},
		{From: "b", To: "a", Signal: "message", TTLSeconds: 60},
		{From: "a", To: "b", Signal: "message", AckRequired: true},
		{From: "a", To: "", Signal: "message"},
		{From: "a", To: "team", Signal: "pause"},
		{From: "b", To: "team", Signal: "message"},
		{From: "b", To: "nobody-yet", Signal: "message"},
	} {
		if _, err := h.Mailbox.Send(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"b", "team:one"} {
		if _, err := h.Mailbox.Inbox(ctx, comms.InboxQuery{AgentID: id}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.Mailbox.Ack(ctx, comms.Ack{AgentID: "b", Seq: 1}); err != nil {
		t.Fatal(err)
	}
	page, err := h.Mailbox.Log(ctx, operational.LogQuery{})
	if err != nil || len(page.Messages) < 7 {
		t.Fatal(page, err)
	}
	shown := 0
	for _, who := range []principal.Principal{
		principal.Open(), {AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}}, {AgentID: "team:one", Scopes: []principal.Scope{principal.ScopeAgent}}, {AgentID: "z", Scopes: []principal.Scope{principal.ScopeAgent}},
	} {
		ctx := principal.With(t.Context(), who)
		reached, err := h.Mailbox.Reached(ctx, page.Messages)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.Messages {
			if m.To == "" {
				if reached[m.Seq] != nil {
					t.Errorf("%d, to everybody, has %v", m.Seq, reached[m.Seq])
				}
				continue
			}
			one, err := h.Mailbox.Receipts(ctx, m.ID)
			if err != nil && errs.CodeOf(err) != errs.NotFound {
				t.Fatal(err)
			}
			if got, _ := json.Marshal(reached[m.Seq]); len(one.Receipts) > 0 || len(reached[m.Seq]) > 0 {
				if want, _ := json.Marshal(one.Receipts); string(got) != string(want) {
					t.Errorf("to %s message %d has come %s, and by itself %s", who.AgentID, m.Seq, got, want)
				}
			}
			shown += len(reached[m.Seq])
		}
	}
	if shown < 8 {
		t.Errorf("only %d receipts were compared", shown)
	}
	if _, err := h.Mailbox.Reached(principal.With(t.Context(), principal.Principal{Scopes: []principal.Scope{principal.ScopeRead}}), page.Messages); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("who only reads is answered %v", err)
	}
}

// TestMailBehindWhatIsHidden: what others told everybody, which who is bound to projects is not shown and so never
// acknowledges, keeps no message from it.
func TestMailBehindWhatIsHidden(t *testing.T) {
	h := open(t, t.TempDir(), time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	ctx := captain(t)
	for id, project := range map[string]string{"w": "shop", "far": "elsewhere"} {
		if _, err := h.Presence.Heartbeat(ctx, comms.Heartbeat{AgentID: id, Project: project}); err != nil {
			t.Fatal(err)
		}
	}
	send := func(count int, d operational.MessageDraft) {
		for range count {
			if _, err := h.Mailbox.Send(ctx, d); err != nil {
				t.Fatal(err)
			}
		}
	}
	send(comms.HandoverLimit+1, operational.MessageDraft{From: "far", Signal: "message"})
	send(3, operational.MessageDraft{From: "far", To: "w", Signal: "message"})
	send(2, operational.MessageDraft{From: "far", Signal: "message"})
	bound := principal.With(t.Context(), principal.Principal{AgentID: "w", Scopes: []principal.Scope{principal.ScopeAgent}}.Bind([]string{"shop"}))
	query := comms.InboxQuery{AgentID: "w", Unacked: true, Limit: 2}
	for _, want := range []comms.Inbox{{Count: 2, LastSeq: comms.HandoverLimit + 3, More: true}, {Count: 1, LastSeq: comms.HandoverLimit + 4}} {
		inbox, err := h.Mailbox.Inbox(bound, query)
		if err != nil || len(inbox.Messages) != want.Count || inbox.Count != want.Count || inbox.LastSeq != want.LastSeq || inbox.More != want.More {
			t.Fatalf("the inbox is %+v, %v; want %+v", inbox, err, want)
		}
		query.Since = inbox.LastSeq
	}
	check, err := h.Presence.ShutdownCheck(bound, "w")
	if err != nil || len(check.Unacknowledged) != 3 {
		t.Errorf("at the end it is handed %d messages, %v", len(check.Unacknowledged), err)
	}
}

// TestMessagesOfAKind: a token of a kind reads in the log and among what is overdue what its sessions sent and got, and nothing of another kind's.
func TestMessagesOfAKind(t *testing.T) {
	h := open(t, t.TempDir(), time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
	ctx := captain(t)
	for _, d := range []operational.MessageDraft{
		{From: "claude-code:amber-fox", To: "b", Signal: "message", AckRequired: true},
		{From: "b", To: "claude-code:amber-fox", Signal: "message", AckRequired: true},
		{From: "claude-codex", To: "b", Signal: "message", AckRequired: true},
		{From: "claude-code", To: "b", Signal: "message"},
		{From: "b", To: "", Signal: "message"},
	} {
		if _, err := h.Mailbox.Send(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	kind := principal.With(t.Context(), principal.Principal{AgentID: "claude-code", Scopes: []principal.Scope{principal.ScopeAgent}})
	for agent, want := range map[string][]int64{"": {5, 4, 2, 1}, "claude-code": {5, 4}, "claude-code:amber-fox": {5, 2, 1}} {
		page, err := h.Mailbox.Log(kind, operational.LogQuery{Agent: agent})
		var got []int64
		for _, m := range page.Messages {
			got = append(got, m.Seq)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("of %q the log shows %v, %v; want %v", agent, got, err, want)
		}
	}
	if overdue, err := h.Mailbox.Overdue(kind, comms.OverdueQuery{}); err != nil || len(overdue) != 1 || overdue[0].Seq != 1 {
		t.Errorf("overdue are %+v, %v", overdue, err)
	}
}
