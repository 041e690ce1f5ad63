package web

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"skillrouter"
	"skillrouter/comms"
	"skillrouter/operational"
)

const (
	messagesPath = "/ui/messages"
	// shownReceipts is how many recipients the page of a message lists.
	shownReceipts = 200
)

func (s *Server) messagePages() {
	if s.services.Mailbox == nil || s.services.Log == nil {
		return
	}
	s.page(messagesPath, "messages.html", "Messages", s.messages)
	s.page("/ui/message", "message.html", "Message", s.message)
	s.page("/ui/messages/overdue", "overdue.html", "Overdue messages", s.overdue)
	s.action("/ui/messages/broadcast", messagesPath, s.broadcast)
	s.section(operations, "Messages", messagesPath)
	s.notice("broadcast", "The signal is stored for every agent that is known.")
}

// messageList is what the page of the log shows.
type messageList struct {
	Messages []operational.Message
	Older    string
	Newer    string
	// NewerName and OlderName say where they lead, where that is not what the words say.
	NewerName, OlderName string
}

func (s *Server) messages(v *visit) (any, error) {
	before, err := v.number("before", 1<<53)
	if err != nil {
		return nil, err
	}
	page, err := s.services.Log.Log(v.Context(), comms.LogQuery{
		Before: int64(before), Agent: v.value("agent"), Thread: v.value("thread"), Signal: v.value("signal"), Limit: pageRows,
	})
	if err != nil {
		return nil, err
	}
	list := messageList{Messages: page.Messages, NewerName: "The newest"}
	if page.Next > 0 {
		list.Older = v.with("before", strconv.FormatInt(page.Next, 10))
	}
	if before > 0 {
		list.Newer = v.with("before", "")
	}
	return list, nil
}

// broadcast sends a signal to every agent.
func (s *Server) broadcast(v *visit) (string, error) {
	if v.value("sure") == "" {
		return "", skillrouter.InvalidField("sure", "must be ticked: every agent gets this")
	}
	_, err := s.send(v, "")
	return link(messagesPath, "done", "broadcast"), err
}

// messageDetail is what the page of one message shows.
type messageDetail struct {
	operational.Message
	Text     string // its context, indented
	Receipts []operational.Receipt
	More     int // further recipients
	Expired  bool
}

func (s *Server) message(v *visit) (any, error) {
	found, err := s.services.Mailbox.Receipts(v.Context(), v.value("id"))
	if err != nil {
		return nil, err
	}
	v.title = "Message " + strconv.FormatInt(found.Message.Seq, 10)
	d := messageDetail{Message: found.Message, Receipts: found.Receipts, Expired: found.Message.ExpiresAt != nil && !s.now().Before(*found.Message.ExpiresAt)}
	if n := len(d.Receipts) - shownReceipts; n > 0 {
		d.Receipts, d.More = d.Receipts[:shownReceipts], n
	}
	var text bytes.Buffer
	if len(d.Context) > 0 && json.Indent(&text, d.Context, "", "  ") == nil {
		d.Text = text.String()
	}
	return d, nil
}

// overdueList is what the page of the overdue messages shows.
type overdueList struct {
	Messages []comms.OverdueMessage
	Minutes  int
}

func (s *Server) overdue(v *visit) (any, error) {
	minutes, err := v.number("minutes", 60*24*365)
	if err != nil {
		return nil, err
	}
	if v.value("minutes") == "" {
		minutes = int(overdueAfter / time.Minute)
	}
	list := overdueList{Minutes: minutes}
	list.Messages, err = s.services.Mailbox.Overdue(v.Context(), time.Duration(minutes)*time.Minute, pageRows)
	return list, err
}
