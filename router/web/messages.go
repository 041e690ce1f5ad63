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

// overdueAfter is how long a message may wait for the acknowledgement that it asked for.
const overdueAfter = 10 * time.Minute

// unread counts what whoever looks has not read or, of somebody who is no agent, what was not acknowledged in time.
func (s *Server) unread(v *visit) (int, error) {
	p := v.principal()
	switch {
	case s.services.Mailbox == nil || !p.Has(principal.ScopeAgent):
		return 0, nil
	case p.AgentID != "" && s.services.Presence != nil:
		n, err := s.services.Presence.Unread(v.Context(), p.AgentID)
		if errs.CodeOf(err) == errs.NotFound {
			err = nil
		}
		return n, err
	}
	found, err := s.services.Mailbox.Overdue(v.Context(), overdueAfter, operational.DefaultLimit)
	return len(found), err
}

func (s *Server) messageThings() {
	s.own["thread"] = func(t *thing) {
		t.list, t.read, t.do = s.threads, s.thread, s.talk
	}
	s.own["overdue"] = func(t *thing) {
		t.list = s.overdue
		t.row = func(_ *visit, item any, of *record) { of.set("context", item.(comms.OverdueMessage).Text()) }
	}
	s.own["message"] = func(t *thing) { t.more = s.message }
}

// said is a message as people read it.
type said struct {
	operational.Message
	Text    string      // what its context says
	More    []shownFact // what else its context says, but for what the text says too
	Raw     string      // its context as it was sent, indented
	Thread  string      // of its answers: its own, or one that begins with it
	State   string      // how far it has come
	Reached bool        // with its only recipient, who has read it
	Expired bool
}

// asSaid prepares messages for people, with how far they have come.
func (s *Server) asSaid(v *visit, messages []operational.Message) (list []said, err error) {
	reached, err := s.services.Mailbox.Reached(v.Context(), messages)
	for _, m := range messages {
		list = append(list, s.said(v, m, reached[m.Seq]))
	}
	return list, err
}

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
	for _, r := range receipts {
		one.State = "not delivered yet"
		if r.DeliveredAt != nil {
			delivered++
			one.State = "delivered"
		}
		if r.ReadAt != nil {
			read++
			one.State = "read"
		}
		if r.AckedAt != nil {
			acked++
			one.State = "acknowledged"
		}
	}
	if len(receipts) > 1 {
		one.State = fmt.Sprintf("of %d: %d delivered, %d read, %d acknowledged", len(receipts), delivered, read, acked)
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
	page, err := s.services.Mailbox.Log(v.Context(), query)
	if err != nil {
		return l, err
	}
	l.next = seqText(page.Next)
	messages, err := s.asSaid(v, page.Messages)
	counts, people := map[string]int{}, map[string][]string{}
	machine := func(m said) bool { return m.From == operational.RouterName && query.Agent != operational.RouterName }
	for i, m := range messages {
		if machine(m) {
			messages[i].Thread = operational.RouterName
		}
		thread := messages[i].Thread
		counts[thread]++
		for _, one := range []string{m.From, cmp.Or(m.To, "everybody")} {
			if !slices.Contains(people[thread], one) {
				people[thread] = append(people[thread], one)
			}
		}
	}
	for _, m := range messages {
		if counts[m.Thread] == 0 { // a newer message of it stands above
			continue
		}
		name, words := head(pathOf("thread", m.Thread), strings.Join(people[m.Thread], ", "), ""), cmp.Or(m.Text, factWords(m.More))
		state, unread := cell{Text: m.State}, m.To != "" && !m.Reached
		switch {
		case machine(m):
			name, state, unread = head(link(messagesPath, "agent", operational.RouterName), operational.RouterName, ""), cell{}, false
		case m.AckRequired && m.State != "acknowledged":
			state = cell{Chip: "wants an acknowledgement", Sub: m.State}
		}
		if m.Signal != operational.SignalMessage {
			words = m.Signal + after(": ", words)
		}
		mark := cell{}
		if unread && m.State != "" {
			mark.Icon = "dot"
		}
		name.Times, counts[m.Thread] = counts[m.Thread], 0
		l.Rows = append(l.Rows, row{ID: m.Thread, Kind: "thread", Title: name.Text, Path: name.Path, Unread: unread, Cells: []cell{mark, name, text(short(200, words)), state, at(m.CreatedAt)}})
	}
	return l, err
}

// seqText is a message's number as a cursor; empty: there is none.
func seqText(seq int64) string {
	if seq == 0 {
		return ""
	}
	return strconv.FormatInt(seq, 10)
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
	page, err := s.services.Mailbox.Log(v.Context(), operational.LogQuery{Thread: id, Before: int64(before), Limit: pageRows})
	if err != nil {
		return nil, err
	}
	d := &detail{Title: "Thread " + short(60, id), Acts: s.acts(v, s.things["thread"], id, nil)}
	if page.Next > 0 {
		d.Blocks = append(d.Blocks, block{ID: "older", More: []option{{Name: "Older messages", Value: v.with("cursor", seqText(page.Next))}}})
	} else if first, err := s.services.Mailbox.Receipts(v.Context(), id); err == nil && first.Message.ThreadID == "" { // a message without a thread begins one, which has the message's id
		page.Messages = append(page.Messages, first.Message)
	}
	messages, err := s.asSaid(v, page.Messages)
	var people []string
	for _, m := range page.Messages {
		for _, one := range []string{m.From, m.To} {
			if one != "" && one != v.sender() && one != operational.RouterName && !slices.Contains(people, one) {
				people = append(people, one)
			}
		}
	}
	if len(d.Acts) > 0 && len(people) > 0 {
		to := &d.Acts[0].Inputs[0]
		to.Form = "choice"
		for _, one := range people {
			to.Choices = append(to.Choices, option{Value: one, Name: one, Chosen: one == v.value("to")})
		}
	}
	slices.Reverse(messages)
	d.Blocks = append(d.Blocks, block{ID: "said", Live: "message.", Said: messages, Empty: "There are no messages here."})
	return d, err
}

// talk sends a signal to everybody, or an answer to one of those who are in a thread.
func (s *Server) talk(v *visit, verb, thread string) error {
	if verb == "new" {
		err := s.send(v, operational.MessageDraft{Signal: v.value("signal")})
		v.done = "" // the act has a sentence of its own
		return err
	}
	v.Form.Set("thread", thread)
	for _, name := range []string{"thread", "to", "text"} { // without a recipient it would be for everybody
		if v.value(name) == "" {
			return errs.InvalidField(name, "is required")
		}
	}
	return s.send(v, operational.MessageDraft{To: v.value("to"), Signal: operational.SignalMessage, ThreadID: thread})
}

// message shows a message in place of its record. Numbers run through all projects.
func (s *Server) message(v *visit, item any, d *detail) (err error) {
	found := item.(comms.MessageReceipts)
	one := s.said(v, found.Message, found.Receipts)
	d.Title, d.Chips = "Message", []string{one.Signal}
	if !v.principal().Walled() {
		d.Title += " " + seqText(found.Message.Seq)
	}
	d.Facts, err = v.facts(found.Message, "seq", "context")
	d.Blocks = []block{{ID: "said", Said: []said{one}, More: []option{{Name: "The thread, with answers", Value: pathOf("thread", one.Thread)}}}}
	return err
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
	l.items, _, _ = items(found)
	l.Rows, err = s.rowsFrom(v, s.things["overdue"], l.items, "")
	return l, err
}
