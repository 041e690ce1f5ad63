package web

import (
	"cmp"
	"fmt"
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
	// overdueAfter is how long a message may wait for the acknowledgement that it asked for.
	overdueAfter = 10 * time.Minute
	// shownReceipts is how many recipients the page of a message lists.
	shownReceipts = 200
)

// unread counts what whoever looks has not read or, of somebody who is no agent, what was not acknowledged in time.
func (s *Server) unread(v *visit) (int, error) {
	p := v.principal()
	switch {
	case s.services.Mailbox == nil || !p.Has(principal.ScopeAgent):
		return 0, nil
	case p.AgentID != "" && s.services.Unread != nil:
		n, err := s.services.Unread.Unread(v.Context(), p.AgentID)
		if errs.CodeOf(err) == errs.NotFound {
			err = nil
		}
		return n, err
	}
	found, err := s.services.Mailbox.Overdue(v.Context(), overdueAfter, operational.DefaultLimit)
	return len(found), err
}

func (s *Server) messageThings() {
	if s.services.Mailbox == nil || s.services.Log == nil {
		return
	}
	s.own["thread"] = func(t *thing) bool {
		t.list, t.read = s.threads, s.thread
		t.Acts[0].do = s.answer
		t.New.do = func(v *visit, _ string) error {
			err := s.send(v, "", v.value("signal"), "")
			v.done = "thread-new"
			return err
		}
		return true
	}
	s.own["overdue"] = func(t *thing) bool {
		t.list = s.overdue
		t.row = func(_ *visit, item any, of record) { of["context"] = item.(comms.OverdueMessage).Text() }
		return true
	}
	s.own["message"] = func(t *thing) bool {
		t.read = s.message
		return true
	}
}

// said is a message as people read it.
type said struct {
	operational.Message
	Text    string      // what its context says
	More    []shownFact // what else its context says, but for what the text says too
	Raw     string      // its context as it was sent, indented
	Thread  string      // of its answers: its own, or one that begins with it
	State   string      // how far it has come
	At      *time.Time
	Reached bool // with its only recipient, who has read it
	Expired bool
}

// saidIn reads messages of the log, the latest first, with how far they have come.
func (s *Server) saidIn(v *visit, query operational.LogQuery) ([]said, error) {
	page, err := s.services.Log.Log(v.Context(), query)
	if err != nil {
		return nil, err
	}
	return s.asSaid(v, page.Messages)
}

func (s *Server) asSaid(v *visit, messages []operational.Message) (list []said, err error) {
	reached, err := s.services.Log.Reached(v.Context(), messages)
	for _, m := range messages {
		list = append(list, s.said(v, m, reached[m.Seq]))
	}
	return list, err
}

// said prepares a message for people, with how far it has come.
func (s *Server) said(v *visit, m operational.Message, receipts []operational.Receipt) said {
	one := said{Message: m, Text: m.Text(), Thread: cmp.Or(m.ThreadID, m.ID), Expired: m.ExpiresAt != nil && !s.now().Before(*m.ExpiresAt)}
	if len(m.Context) > 0 {
		one.Raw = indented(m.Context)
		facts, _ := v.facts(m.Context) // it is an object, or shows nothing
		one.More = slices.DeleteFunc(facts, func(f shownFact) bool { return f.Text != "" && strings.Contains(one.Text, f.Text) })
	}
	if m.To == "" { // everybody got it
		return one
	}
	var delivered, read, acked int
	if len(receipts) == 1 {
		one.State = "not delivered yet"
	}
	for _, r := range receipts {
		for _, step := range []struct {
			name  string
			at    *time.Time
			count *int
		}{{"delivered", r.DeliveredAt, &delivered}, {"read", r.ReadAt, &read}, {"acknowledged", r.AckedAt, &acked}} {
			if step.at != nil {
				*step.count++
				one.State, one.At = step.name, step.at
			}
		}
	}
	if len(receipts) > 1 {
		one.State, one.At = fmt.Sprintf("of %d: %d delivered, %d read, %d acknowledged", len(receipts), delivered, read, acked), nil
	}
	one.Reached = read+acked > 0
	return one
}

// threads lists talks, the one with the newest message first. What the router itself wrote is one row.
func (s *Server) threads(v *visit) (l listing, err error) {
	before, err := v.number("cursor", 1<<53)
	if err != nil {
		return l, err
	}
	query := operational.LogQuery{Before: int64(before), Agent: v.value("agent"), Thread: v.value("thread"), Signal: v.value("signal"), Limit: pageRows}
	page, err := s.services.Log.Log(v.Context(), query)
	if err != nil {
		return l, err
	}
	next := ""
	if page.Next > 0 {
		next = strconv.FormatInt(page.Next, 10)
	}
	l.next = next
	messages, err := s.asSaid(v, page.Messages)
	counts, people := map[string]int{}, map[string][]string{}
	for _, m := range messages {
		counts[m.Thread]++
		for _, one := range []string{m.From, cmp.Or(m.To, "everybody")} {
			if !slices.Contains(people[m.Thread], one) {
				people[m.Thread] = append(people[m.Thread], one)
			}
		}
	}
	machine := -1
	for _, m := range messages {
		if m.From == operational.RouterName && query.Agent != operational.RouterName {
			if machine < 0 {
				machine = len(l.Rows)
				path := link(messagesPath, "agent", operational.RouterName)
				l.Rows = append(l.Rows, row{ID: operational.RouterName, Kind: "thread", Title: "The router’s own messages", Path: path, Cells: []cell{{}, head(path, operational.RouterName, ""), text(short(160, cmp.Or(m.Text, words(m.Signal)))), {}, at(m.CreatedAt)}})
			}
			l.Rows[machine].Cells[1].Times++
			continue
		}
		if counts[m.Thread] == 0 { // a newer message of it stands above
			continue
		}
		name := head(pathOf("thread", m.Thread), strings.Join(people[m.Thread], ", "), "")
		name.Times = counts[m.Thread]
		counts[m.Thread] = 0
		words := cmp.Or(m.Text, factWords(m.More))
		if m.Signal != operational.SignalMessage {
			words = m.Signal + after(": ", words)
		}
		state := cell{Text: m.State}
		if m.AckRequired && m.State != "acknowledged" {
			state = cell{Chip: "wants an acknowledgement", Sub: m.State}
		}
		l.Rows = append(l.Rows, row{
			ID: m.Thread, Kind: "thread", Title: name.Text, Path: name.Path, Unread: m.To != "" && !m.Reached,
			Cells: []cell{{Icon: unreadIcon(m)}, name, text(short(200, words)), state, at(m.CreatedAt)},
		})
	}
	return l, err
}

func unreadIcon(m said) string {
	if m.To == "" || m.Reached || m.State == "" {
		return ""
	}
	return "dot"
}

// factWords are facts on one line.
func factWords(facts []shownFact) string {
	var all []string
	for _, f := range facts {
		all = append(all, strings.ToLower(f.Name)+": "+f.Text)
	}
	return strings.Join(all, ", ")
}

// thread shows a talk from its beginning, and answers it.
func (s *Server) thread(v *visit, id string) (*detail, error) {
	before, err := v.number("cursor", 1<<53)
	if err != nil {
		return nil, err
	}
	page, err := s.services.Log.Log(v.Context(), operational.LogQuery{Thread: id, Before: int64(before), Limit: pageRows})
	if err != nil {
		return nil, err
	}
	d := &detail{Title: "Thread " + short(60, id)}
	if page.Next > 0 {
		d.Blocks = append(d.Blocks, block{ID: "older", More: []option{{Name: "Older messages", Value: v.with("cursor", strconv.FormatInt(page.Next, 10))}}})
	} else if first, err := s.services.Mailbox.Receipts(v.Context(), id); err == nil && first.Message.ThreadID == "" { // a message without a thread begins one, which has the message's id
		page.Messages = append(page.Messages, first.Message)
	}
	messages, err := s.asSaid(v, page.Messages)
	var people []option
	for _, m := range page.Messages {
		for _, one := range []string{m.From, m.To} {
			if one != "" && one != v.sender() && one != operational.RouterName && !slices.ContainsFunc(people, func(o option) bool { return o.Value == one }) {
				people = append(people, option{Value: one, Name: one, Chosen: one == v.value("to")})
			}
		}
	}
	slices.Reverse(messages)
	d.Blocks = append(d.Blocks, block{ID: "said", Live: "message.", Said: messages, Empty: "There are no messages here."})
	d.Acts = s.acts(v, s.things["thread"], id, nil)
	for _, a := range d.Acts {
		if len(people) > 0 {
			a.Inputs[0].Form, a.Inputs[0].Choices = "choice", people
		}
	}
	return d, err
}

// answer sends a message of a thread to one of those who are in it.
func (s *Server) answer(v *visit, thread string) error {
	switch {
	case thread == "":
		return errs.InvalidField("id", "is required")
	case v.value("to") == "": // without a recipient it would be for everybody
		return errs.InvalidField("to", "is required")
	case v.value("text") == "":
		return errs.InvalidField("text", "is required")
	}
	return s.send(v, v.value("to"), operational.SignalMessage, thread)
}

func (s *Server) message(v *visit, id string) (*detail, error) {
	found, err := s.services.Mailbox.Receipts(v.Context(), id)
	if err != nil {
		return nil, err
	}
	one := s.said(v, found.Message, found.Receipts)
	d := &detail{Title: "Message", Chips: []string{one.Signal}}
	if !v.principal().Walled() { // numbers run through all projects
		d.Title = "Message " + strconv.FormatInt(found.Message.Seq, 10)
	}
	if d.Facts, err = v.facts(found.Message, "seq", "context"); err != nil {
		return nil, err
	}
	receipts := plainTable("Agent | t;Delivered | w112 n;Read | w112 n;Acknowledged | w112 n")
	for _, r := range found.Receipts[:min(len(found.Receipts), shownReceipts)] {
		receipts.add(head(whoPath(r.AgentID), r.AgentID, ""), when(r.DeliveredAt), when(r.ReadAt), when(r.AckedAt))
	}
	note := ""
	if n := len(found.Receipts) - shownReceipts; n > 0 {
		note = "And " + count(n) + " more."
	}
	d.Blocks = []block{
		{ID: "said", Said: []said{one}, More: []option{{Name: "The thread, with answers", Value: pathOf("thread", one.Thread)}}},
		{ID: "receipts", Title: "Receipts", Live: "message.", Table: receipts, Note: note, Empty: "It has reached nobody yet."},
	}
	return d, nil
}

func (s *Server) overdue(v *visit) (l listing, err error) {
	minutes, err := v.number("minutes", 60*24*365)
	if err != nil {
		return l, err
	}
	if v.value("minutes") == "" {
		minutes = int(overdueAfter / time.Minute)
	}
	found, err := s.services.Mailbox.Overdue(v.Context(), time.Duration(minutes)*time.Minute, pageRows)
	if err != nil {
		return l, err
	}
	l.Order = "The oldest first"
	l.items, _, _ = items(found)
	l.Rows, err = s.rowsFrom(v, s.things["overdue"], l.items)
	return l, err
}

// when is a time that may not be there.
func when(t *time.Time) cell {
	if t == nil {
		return cell{}
	}
	return at(*t)
}
