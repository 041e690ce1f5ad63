package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/kind"
)

// overdueAfter is how many seconds a message may wait for the acknowledgement that it asked for.
const overdueAfter = 600

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
	found, err := s.services.Mailbox.Overdue(v.Context(), comms.OverdueQuery{Age: overdueAfter})
	return len(found), err
}

// said is a message as people read it.
type said struct {
	operational.Message
	Text     string      // what its context says
	More     []shownFact // what else its context says, but for what the text says too
	Raw      string      // its context as it was sent, indented
	Thread   string      // of its answers: its own, or one that begins with it
	State    string      // how far it has come
	Reached  bool        // with one whom it is for, who has read it
	Expired  bool
	Receipts []operational.Receipt
}

// asSaid prepares messages for people, with how far they have come.
func (s *Server) asSaid(v *visit, messages []operational.Message) (list []said, err error) {
	reached, err := s.services.Mailbox.Reached(v.Context(), messages)
	for _, m := range messages {
		one := said{Message: m, Text: m.Text(), Thread: cmp.Or(m.ThreadID, m.ID), Expired: m.ExpiresAt != nil && !s.now().Before(*m.ExpiresAt)}
		if len(m.Context) > 0 {
			one.Raw = kind.Raw.Write(m.Context)
			facts, _ := v.facts(m.Context) // it is an object, or shows nothing
			one.More = slices.DeleteFunc(facts, func(f shownFact) bool { return f.Text != "" && strings.Contains(one.Text, f.Text) })
		}
		if m.To != "" { // everybody got what is for nobody by name
			one.Receipts = reached[m.Seq]
		}
		one.come()
		list = append(list, one)
	}
	return list, err
}

// come says how far a message has come.
func (m *said) come() {
	steps := map[string]int{}
	for _, r := range m.Receipts {
		m.State = "not delivered yet"
		for _, step := range []struct {
			name string
			at   *time.Time
		}{{"delivered", r.DeliveredAt}, {"read", r.ReadAt}, {"acknowledged", r.AckedAt}} {
			if step.at != nil {
				m.State = step.name
				steps[step.name]++
			}
		}
	}
	if len(m.Receipts) > 1 {
		m.State = fmt.Sprintf("of %d: %d delivered, %d read, %d acknowledged", len(m.Receipts), steps["delivered"], steps["read"], steps["acknowledged"])
	}
	m.Reached = steps["read"]+steps["acknowledged"] > 0
}

// threads lists talks, the one with the newest message first. What the router itself wrote is one row.
func (s *Server) threads(v *visit, t *thing) (l listing, err error) {
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
	place := map[string]int{} // of a thread's row, behind its newest message
	var times []int
	for _, m := range messages {
		machine := m.From == operational.RouterName && query.Agent != operational.RouterName
		if machine {
			m.Thread = operational.RouterName
		}
		i, there := place[m.Thread]
		if !there {
			i = len(l.Rows)
			place[m.Thread], times = i, append(times, 0)
			l.Rows = append(l.Rows, threadRow(t, m, machine))
		}
		times[i]++
		l.Rows[i].set("times", count(times[i]))
	}
	return l, err
}

// threadRow is the row of a talk by its newest message.
func threadRow(t *thing, m said, machine bool) row {
	r := row{Columns: t.Columns, Kind: t.Kind, ID: m.Thread, Path: pathOf(t.Kind, m.Thread), Title: m.From + ", " + cmp.Or(m.To, "everybody")}
	text := cmp.Or(m.Text, factWords(m.More))
	if m.Signal != operational.SignalMessage {
		text = strings.TrimSuffix(m.Signal+": "+text, ": ")
	}
	r.set("text", short(200, text))
	r.set("at", stampOf(m.CreatedAt))
	switch {
	case machine:
		r.Path, r.Title = link(messagesPath, "agent", operational.RouterName), operational.RouterName
		return r
	case m.AckRequired && m.State != "acknowledged":
		r.set("state", "wants an acknowledgement")
		r.set("come", m.State)
	default:
		r.set("come", m.State)
	}
	if r.Unread = m.To != "" && !m.Reached; r.Unread && m.State != "" {
		r.set("mark", "dot")
	}
	return r
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

// thread shows a talk from its beginning, and answers it. A message's page is its talk.
func (s *Server) thread(v *visit, t *thing, id string) (*detail, error) {
	before, err := v.number("cursor", 1<<53)
	if err != nil {
		return nil, err
	}
	first, failed := s.services.Mailbox.Receipts(v.Context(), id)
	if failed != nil && t.Kind == "message" {
		return nil, failed
	}
	thread := cmp.Or(first.Message.ThreadID, id)
	page, err := s.services.Mailbox.Log(v.Context(), operational.LogQuery{Thread: thread, Before: int64(before), Limit: pageRows})
	if err != nil {
		return nil, err
	}
	d := &detail{ID: thread, Title: "Thread " + short(60, thread), Acts: s.acts(v, s.things["thread"], thread, nil)}
	if page.Next > 0 {
		d.Blocks = append(d.Blocks, block{ID: "older", More: []option{{Name: "Older messages", Value: v.with("cursor", seqText(page.Next))}}})
	} else if failed == nil && thread == id { // a message without a thread begins one, which has the message's id
		page.Messages = append(page.Messages, first.Message)
	}
	messages, err := s.asSaid(v, page.Messages)
	if len(d.Acts) > 0 {
		var people []string
		for _, m := range page.Messages {
			for _, one := range []string{m.From, m.To} {
				if one != "" && one != cmp.Or(v.principal().AgentID, boardAgent) && one != operational.RouterName && !slices.Contains(people, one) {
					people = append(people, one)
				}
			}
		}
		if to := &d.Acts[0].Inputs[0]; len(people) > 0 {
			to.Form, to.Choices = "choice", options("", v.value("to"), people)
		}
	}
	slices.Reverse(messages)
	d.Blocks = append(d.Blocks, block{ID: "said", Live: "message.", Said: messages, Empty: "There are no messages here."})
	return d, err
}

// boardAgent is whom signals are from that somebody sends who is no agent.
const boardAgent = "dashboard"

// number is a field that is a whole number of 0 or more, and 0 if it is not there.
func (v *visit) number(name string, most int) (int, error) {
	n, err := strconv.Atoi(cmp.Or(v.value(name), "0"))
	if err != nil || n < 0 || n > most {
		return 0, errs.InvalidField(name, "must be a whole number between 0 and %d", most)
	}
	return n, nil
}
