package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"skillrouter/comms"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/operational"
)

const (
	messagesPath = "/ui/messages"
	messagePath  = "/ui/message"
	// shownReceipts is how many recipients the page of a message lists.
	shownReceipts = 200
)

func (s *Server) messagePages() {
	if s.services.Mailbox == nil || s.services.Log == nil {
		return
	}
	s.page(messagesPath, "messages.html", "Messages", s.messages)
	s.page(messagePath, "message.html", "Message", s.message)
	s.page("/ui/messages/overdue", "overdue.html", "Overdue messages", s.overdue)
	s.action("/ui/messages/broadcast", messagesPath, s.broadcast)
	s.action("/ui/messages/answer", messagesPath, s.answer)
	s.section(operations, "Messages", messagesPath)
	s.notice("broadcast", "The signal is stored for every agent that is known.")
}

// said is a message as people read it.
type said struct {
	operational.Message
	Text    string         // what its context says
	More    []memoryMember // what else its context says, but for what the text says too
	Raw     string         // its context as it was sent, indented
	Thread  string         // of its answers: its own, or one that begins with it
	Reached *reached       // nil: it went to everybody, or whoever looks may not know
	Expired bool
}

// reached is how far a message has come with those whom it was sent to.
type reached struct {
	Of, Delivered, Read, Acked int
	State                      string     // of the only recipient: delivered, read or acknowledged; empty: not yet
	At                         *time.Time // since when
}

// talk is a thread, or the part of it that a page has.
type talk struct {
	Thread string
	Begun  bool     // the thread has a name of its own; otherwise it would begin with an answer
	People []string // who wrote and was written to
	Said   []said   // the oldest first
}

// messageList is what the page of the messages shows.
type messageList struct {
	Thread  string // the only one; empty: all
	Talks   []talk // the one with the newest message first
	People  []string
	MaySend bool
	Sender  string
	pager
}

func (s *Server) messages(v *visit) (any, error) {
	before, err := v.number("before", 1<<53)
	if err != nil {
		return nil, err
	}
	query := operational.LogQuery{Before: int64(before), Agent: v.value("agent"), Thread: v.value("thread"), Signal: v.value("signal"), Limit: pageRows}
	page, err := s.services.Log.Log(v.Context(), query)
	if err != nil {
		return nil, err
	}
	list := messageList{Thread: query.Thread, MaySend: v.principal().Has(principal.ScopeAgent), Sender: v.sender()}
	next := ""
	if page.Next > 0 {
		next = strconv.FormatInt(page.Next, 10)
	} else if query.Thread != "" { // a message without a thread begins one, which has the message's id
		if first, err := s.services.Mailbox.Receipts(v.Context(), query.Thread); err == nil && first.Message.ThreadID == "" {
			page.Messages = append(page.Messages, first.Message)
		}
	}
	list.pager = v.turns("before", next, before > 0, "The newest", "")
	reached, err := s.services.Log.Reached(v.Context(), page.Messages)
	if err != nil {
		return nil, err
	}
	list.Talks = s.talks(page.Messages, reached)
	if query.Thread != "" {
		v.title = "Thread " + short(60, query.Thread)
		list.People = peopleOf(page.Messages, list.Sender)
	}
	return list, nil
}

// talks gathers messages, the newest first, by their threads.
func (s *Server) talks(messages []operational.Message, reached map[int64][]operational.Receipt) (talks []talk) {
	for _, m := range messages {
		one := s.said(m, reached[m.Seq])
		i := slices.IndexFunc(talks, func(t talk) bool { return t.Thread == one.Thread })
		if i < 0 {
			i = len(talks)
			talks = append(talks, talk{Thread: one.Thread})
		}
		talks[i].Begun = talks[i].Begun || m.ThreadID != ""
		talks[i].Said = append(talks[i].Said, one)
	}
	for i, t := range talks {
		slices.Reverse(t.Said)
		for _, m := range t.Said {
			for _, one := range []string{m.From, m.To} {
				if one != "" && !slices.Contains(talks[i].People, one) {
					talks[i].People = append(talks[i].People, one)
				}
			}
		}
	}
	return talks
}

// said prepares a message for people, with how far it has come.
func (s *Server) said(m operational.Message, receipts []operational.Receipt) said {
	one := said{Message: m, Text: m.Text(), Thread: m.ThreadID, Expired: m.ExpiresAt != nil && !s.now().Before(*m.ExpiresAt)}
	one.Thread = cmp.Or(one.Thread, m.ID)
	if len(m.Context) > 0 {
		one.Raw = indented(m.Context)
		members, _ := membersOf(m.Context) // it is an object, or shows nothing
		one.More = slices.DeleteFunc(members, func(member memoryMember) bool { return strings.Contains(one.Text, member.Value) })
	}
	if m.To != "" && len(receipts) > 0 { // there are none of what was swept away meanwhile, nor of another's
		one.Reached = reachedBy(receipts)
	}
	return one
}

// reachedBy counts receipts; of an only one it says how far it has come.
func reachedBy(receipts []operational.Receipt) *reached {
	r := &reached{Of: len(receipts)}
	for _, one := range receipts {
		for _, step := range []struct {
			name  string
			at    *time.Time
			count *int
		}{{"delivered", one.DeliveredAt, &r.Delivered}, {"read", one.ReadAt, &r.Read}, {"acknowledged", one.AckedAt, &r.Acked}} {
			if step.at != nil {
				*step.count++
				r.State, r.At = step.name, step.at
			}
		}
	}
	return r
}

// memberPath is the page of what a member names by its id, such as lesson_id; empty: there is none.
func memberPath(m memoryMember) string {
	of, named := strings.CutSuffix(m.Name, "_id")
	switch {
	case of == "agent" || strings.HasSuffix(of, "_agent") || strings.HasSuffix(m.Name, "_agent"):
		return whoPath(m.Value)
	case named:
		return hitPath(of, m.Value)
	}
	return ""
}

// indented is JSON as people read it.
func indented(raw json.RawMessage) string {
	var text bytes.Buffer
	if json.Indent(&text, raw, "", "  ") != nil {
		return ""
	}
	return text.String()
}

// peopleOf are those who wrote and were written to, without whoever answers; who wrote last comes first.
func peopleOf(messages []operational.Message, sender string) (people []string) {
	for _, m := range messages {
		for _, one := range []string{m.From, m.To} {
			if one != "" && one != sender && one != operational.RouterName && !slices.Contains(people, one) {
				people = append(people, one)
			}
		}
	}
	return people
}

// answer sends a message of a thread to one of those who are in it.
func (s *Server) answer(v *visit) (string, error) {
	thread, to := v.value("thread"), v.value("to")
	switch {
	case thread == "":
		return "", errs.InvalidField("thread", "is required")
	case to == "": // without a recipient it would be for everybody
		return "", errs.InvalidField("to", "is required")
	case v.value("text") == "":
		return "", errs.InvalidField("text", "is required")
	}
	sent, err := s.send(v, to, operational.SignalMessage, thread)
	return link(messagesPath, "thread", thread, "done", sent), err
}

// broadcast sends a signal to every agent.
func (s *Server) broadcast(v *visit) (string, error) {
	if v.value("sure") == "" {
		return "", errs.InvalidField("sure", "must be ticked: every agent gets this")
	}
	_, err := s.send(v, "", v.value("signal"), "")
	return link(messagesPath, "done", "broadcast"), err
}

// messageDetail is what the page of one message shows.
type messageDetail struct {
	said
	Receipts []operational.Receipt
	Further  int // recipients that are not listed
}

func (s *Server) message(v *visit) (any, error) {
	found, err := s.services.Mailbox.Receipts(v.Context(), v.value("id"))
	if err != nil {
		return nil, err
	}
	if !v.principal().Walled() { // numbers run through all projects
		v.title = "Message " + strconv.FormatInt(found.Message.Seq, 10)
	}
	d := messageDetail{said: s.said(found.Message, found.Receipts), Receipts: found.Receipts}
	if n := len(d.Receipts) - shownReceipts; n > 0 {
		d.Receipts, d.Further = d.Receipts[:shownReceipts], n
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
