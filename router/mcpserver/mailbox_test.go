package mcpserver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/router/mcpserver"
)

func TestCheckMessages(t *testing.T) {
	inbox := []comms.InboxMessage{inboxMessage(1, "", "message", `{"text":"hello"}`), inboxMessage(2, "a", "deploy", ""), inboxMessage(3, "b", "message", "")}
	for name, c := range map[string]struct {
		arguments map[string]any
		house     *house
		want      []string
		not       string
		read      []string
		acked     []comms.Ack
	}{
		"read": {nil, &house{inbox: inbox}, []string{"2 messages, oldest first.", `{"text":"hello"}`, "seq 2 from agent captain at", "to all agents"}, "STOP", []string{"m1", "m2"}, nil},
		"read and acknowledge": {
			map[string]any{"ack": true},
			&house{inbox: inbox},
			[]string{"Acknowledged: 2."},
			"STOP",
			nil,
			[]comms.Ack{{AgentID: "a", MessageIDs: []string{"m1", "m2"}}},
		},
		"acknowledge the earlier ones": {
			map[string]any{"ack_through": 1, "since": 1},
			&house{inbox: inbox},
			[]string{"1 message,", "Acknowledged: 1."},
			"hello",
			[]string{"m2"},
			[]comms.Ack{{AgentID: "a", Seq: 1}},
		},
		"a page":       {map[string]any{"limit": 1}, &house{inbox: inbox}, []string{"1 message,", "There are more after seq 1."}, "seq 2", []string{"m1"}, nil},
		"nothing":      {nil, &house{}, []string{"No unacknowledged messages."}, "memory-", nil, nil},
		"stop":         {nil, &house{shutdown: comms.ShutdownAnswer{ShouldStop: true, Reason: "night"}}, []string{"YOU SHOULD STOP", "night"}, "Acknowledged", nil, nil},
		"stranger":     {map[string]any{"agent_id": "stranger"}, &house{}, []string{"No unacknowledged"}, "failed", nil, nil},
		"full disk":    {nil, &house{inbox: inbox, markFails: true}, []string{"hello", "could not be marked (storage_full) and will come again"}, "failed", nil, nil},
		"bad agent id": {map[string]any{"agent_id": "no such"}, &house{}, []string{"check_messages failed (invalid): agent_id may hold only"}, "No un", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := c.house
			client := dial(t, mcpserver.New(h.services(), mcpserver.Options{Agent: "a"}))
			text, _, _ := call(t, client, "check_messages", c.arguments)
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in:\n%s", want, text)
				}
			}
			if strings.Contains(text, c.not) {
				t.Errorf("%q in:\n%s", c.not, text)
			}
			var read []string
			for _, r := range h.read {
				read = append(read, r.MessageIDs...)
			}
			if !slices.Equal(read, c.read) {
				t.Errorf("marked as read %v, want %v", read, c.read)
			}
			if !slices.EqualFunc(h.acked, c.acked, func(a, b comms.Ack) bool {
				return a.AgentID == b.AgentID && a.Seq == b.Seq && slices.Equal(a.MessageIDs, b.MessageIDs)
			}) {
				t.Errorf("acknowledged %+v, want %+v", h.acked, c.acked)
			}
		})
	}
}

func TestSendSignal(t *testing.T) {
	h := &house{}
	client := dial(t, mcpserver.New(h.services(), mcpserver.Options{Agent: "a"}))
	for _, c := range []struct {
		arguments map[string]any
		want      string
	}{
		{map[string]any{"to_agent_id": "b", "signal": "message"}, "Stored as message 1 (m1) for b; it waits until it is read."},
		{map[string]any{"to_agent_id": "b", "signal": "message", "priority": 1}, "Delivered as message 2 (m2) to b."},
		{map[string]any{"to_agent_id": "*", "signal": "stop"}, "Stored as message 3 (m3) for broadcast; it waits until it is read."},
		{map[string]any{"to_agent_id": "b", "signal": "x", "idempotency_key": "k"}, "Nothing new was sent"},
	} {
		if text, _, _ := call(t, client, "send_signal", c.arguments); !strings.HasPrefix(text, c.want) {
			t.Errorf("%v: %s", c.arguments, text)
		}
	}
	if h.sent[0].From != "a" || h.sent[0].To != "b" || h.sent[2].To != "" {
		t.Errorf("sent %+v", h.sent)
	}
}

func TestRecentEpisodesAreTheCurrentSessions(t *testing.T) {
	h := &house{}
	client := dial(t, mcpserver.New(h.services(), mcpserver.Options{Agent: "a"}))
	titles := func(arguments map[string]any) (titles []string) {
		_, fields, _ := call(t, client, "get_recent_episodes", arguments)
		for _, e := range fields["episodes"].([]any) {
			titles = append(titles, e.(map[string]any)["title"].(string))
		}
		return titles
	}
	if got := titles(nil); len(got) != 0 {
		t.Errorf("before the first episode: %v", got)
	}
	other := dial(t, mcpserver.New(h.services(), mcpserver.Options{Agent: "b"}))
	for _, e := range []struct{ session, title string }{{"s1", "old"}, {"s2", "one"}, {"s2", "two"}} {
		call(t, client, "record_episode", map[string]any{"event_type": "action", "title": e.title, "content": "c", "session_id": e.session})
	}
	call(t, other, "record_episode", map[string]any{"event_type": "action", "title": "b's", "content": "c", "session_id": "s3"})
	for name, c := range map[string]struct {
		arguments map[string]any
		want      []string
	}{
		"the current session": {nil, []string{"two", "one"}},
		"a named session":     {map[string]any{"session_id": "s1"}, []string{"old"}},
		"every session":       {map[string]any{"session_id": "*"}, []string{"b's", "two", "one", "old"}},
		"another agent's":     {map[string]any{"agent_id": "b"}, []string{"b's"}},
		"the latest":          {map[string]any{"limit": 1}, []string{"two"}},
	} {
		if got := titles(c.arguments); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
