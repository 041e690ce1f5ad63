package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestThreads: messages are read as talks, with names, texts and receipts; JSON only on demand. An answer joins its
// thread, and that of a message without one begins a thread with the message.
func TestThreads(t *testing.T) {
	s := openSite(t)
	send := func(from, to, thread string, content map[string]any) string {
		return s.api(http.MethodPost, "/signal", map[string]any{
			"from_agent_id": from, "to_agent_id": to, "signal": "message", "thread_id": thread, "context": content, "ack_required": true,
		})["message_id"].(string)
	}
	for _, agent := range []string{"planner", "builder"} {
		s.api(http.MethodPost, "/heartbeat", map[string]any{"agent_id": agent})
	}
	first := send("planner", "builder", "login", map[string]any{"text": "Please look at #1", "branch": "cart " + hostile})
	send("builder", "planner", "login", map[string]any{"text": "On it " + hostile})
	alone := send("builder", "planner", "", map[string]any{"reason": "The disk is full"})
	s.api(http.MethodPost, "/signal", map[string]any{"from_agent_id": "planner", "signal": "pause", "context": map[string]any{hostile: hostile}})

	page := s.shows("/ui/messages", "On it", "The disk is full", "everybody", "wants an acknowledgement")
	if strings.Contains(page, "{&#34;text&#34;") {
		t.Error("the page shows JSON where a text should be")
	}
	if list := s.get("/ui/messages?agent=planner&signal=pause", http.StatusOK); strings.Contains(list, "Please look") || !strings.Contains(list, "pause") {
		t.Error("the filter does not hold")
	}

	thread := s.shows("/ui/messages?kind=thread&id=login", "Branch")
	for _, one := range []string{"builder", "planner"} {
		if !strings.Contains(thread, `<option value="`+one+`"`) {
			t.Errorf("%s cannot be answered", one)
		}
	}
	if strings.Index(thread, "Please look at #1") > strings.Index(thread, "On it") || strings.Contains(thread, "The disk is full") {
		t.Error("a thread is not told from its beginning, or has what is not its own")
	}
	s.api(http.MethodPost, "/messages/read", map[string]any{"agent_id": "builder", "message_ids": []string{first}})
	s.shows("/ui/messages?kind=thread&id=login", "read")
	s.api(http.MethodPost, "/messages/ack", map[string]any{"agent_id": "builder", "message_ids": []string{first}})
	s.shows("/ui/messages?kind=thread&id=login", "acknowledged")
	s.shows("/ui/message?id="+first, "Please look at #1", "Receipts", "builder")

	to := s.send("/ui/messages?kind=thread&id=login", "/ui/thread/answer", http.StatusSeeOther, "id", "login", "to", "builder", "text", "Well done", "ack_required", "1")
	s.shows(to, "Well done", "dashboard", "The signal is stored")
	s.send("/ui/messages?kind=thread&id=login", "/ui/thread/answer", http.StatusSeeOther, "id", alone, "to", "builder", "text", "I make room")
	whole := s.shows("/ui/messages?kind=thread&id="+alone, "The disk is full", "I make room")
	if strings.Index(whole, "The disk is full") > strings.Index(whole, "I make room") {
		t.Error("the answer stands before what it answers")
	}
	s.shows("/ui/messages", "I make room")
	inbox := s.api(http.MethodGet, "/messages/inbox?agent_id=builder", nil)["messages"].([]any)
	last := inbox[len(inbox)-1].(map[string]any)
	if last["thread_id"] != alone || last["from_agent_id"] != "dashboard" || last["context"].(map[string]any)["text"] != "I make room" {
		t.Errorf("the agent got %v", last)
	}

	for name, fields := range map[string][]string{
		"to nobody, and so to everybody": {"id", "login", "to", "", "text", "x"},
		"without a text":                 {"id", "login", "to", "builder", "text", " "},
		"without a thread":               {"id", "", "to", "builder", "text", "x"},
		"to a name that is none":         {"id", "login", "to", "a/b", "text", "x"},
	} {
		if s.send("/ui/messages?kind=thread&id=login", "/ui/thread/answer", http.StatusBadRequest, fields...) != "" {
			t.Errorf("%s: it was sent", name)
		}
	}
	form := url.Values{"id": {"login"}, "to": {"builder"}, "text": {"forged"}}
	if w := s.do(http.MethodPost, "/ui/thread/answer", "application/x-www-form-urlencoded", form.Encode()); w.Code != http.StatusForbidden {
		t.Errorf("a forged form: %d", w.Code)
	}
	after := s.api(http.MethodGet, "/messages/inbox?agent_id=builder", nil)["messages"].([]any)
	if len(after) != len(inbox) {
		t.Errorf("%d messages became %d", len(inbox), len(after))
	}
	s.get("/ui/messages?thread="+url.QueryEscape(hostile[:40]), http.StatusOK)
	s.shows("/ui/agent?id=builder", "Please look at #1", "I make room")
}
