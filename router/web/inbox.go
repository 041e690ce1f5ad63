package web

import (
	"cmp"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/decision"
)

// What waits for a person. Approving a blocked command is done on its own page alone.

const (
	// mostDecided is how many things one form decides on: two full lists. Each is a write of its own, some milliseconds long.
	mostDecided = 2 * decision.MaxWaiting
	// shownGaps is how many unanswered questions stand among what waits.
	shownGaps = "20"
)

// wait says how what waits for a person is gathered, and what is said of it.
type wait struct {
	Of             string // the member of decision.Waiting that has it; empty: the kind's own list
	Rank           string // how urgent it is, as escalations are
	Say, Agent, At string
}

// waiting counts what waits.
func (s *Server) waiting(v *visit) (int, error) {
	if s.services.Decisions == nil {
		return 0, nil
	}
	found, err := s.services.Decisions.Waiting(v.Context())
	return len(found.Items()), err
}

// gathered are all matters that wait, the most urgent first, and among these the newest.
func (s *Server) gathered(v *visit) (matters []row, err error) {
	found, err := s.services.Decisions.Waiting(v.Context())
	if err != nil {
		return nil, err
	}
	for _, described := range described().Things {
		t := s.things[described.Kind]
		if t == nil || t.Waits.Say == "" {
			continue
		}
		var all []any
		if waiting := reflect.ValueOf(found).FieldByName(t.Waits.Of); waiting.IsValid() {
			all = elements(waiting)
		} else {
			answer, err := s.call(v, t.List, "", url.Values{"order": {"count"}, "limit": {shownGaps}}, "")
			if err != nil {
				return nil, err
			}
			all, _, _ = items(answer)
		}
		rows, err := s.rowsFrom(v, t, all, "")
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if project, asked := r.Say("project"), v.value("project"); asked == "" || project == "" || project == asked {
				matters = append(matters, s.matter(t, r))
			}
		}
	}
	slices.SortStableFunc(matters, func(a, b row) int { return cmp.Or(a.rank-b.rank, b.at().Compare(a.at())) })
	return matters, nil
}

// matter is a row that waits, with what the keys a and d do with it: of what can be done with many, the first and the dangerous.
func (s *Server) matter(t *thing, m row) row {
	rank, of := m.titled(t.Waits.Rank), m.record
	m.rank = max(slices.Index(operational.EscalationPriorities(), operational.EscalationPriority(rank)), 0)
	m.Columns, m.Title = s.things["matter"].Columns, strings.TrimRight(m.titled(t.Waits.Say), ": ")
	m.record = record{
		{Name: "rank", Value: rank},
		{Name: "tone", Value: []string{"bad", "warn", "calm", "plain"}[m.rank]},
		{Name: "kind", Value: t.Kind},
		{Name: "project", Value: of.Say("project")},
		{Name: "agent", Value: strings.Split(of.Say(t.Waits.Agent), ", ")[0]},
		{Name: "at", Value: of.Say(t.Waits.At)},
	}
	for _, a := range t.Acts {
		switch verb := t.Kind + "." + a.Verb; {
		case a.Bulk && a.First:
			m.Accept = verb
		case a.Bulk:
			m.Decline = verb
		}
	}
	m.items = url.Values{"kind": {t.Kind}, "title": {short(120, m.Title)}, "id": {m.ID}}
	if ids := of.Say("IDs"); ids != "" { // of what was escalated to several
		m.items["id"] = strings.Split(ids, ", ")
	}
	for _, name := range t.Hidden {
		m.items.Set(name, of.Say(name))
	}
	if t.Also == inboxPath { // its page is at another place, and it is decided on here
		m.Path = link(inboxPath, "kind", t.Kind, "id", m.ID)
	}
	return m
}

// folded are the rows of matters, each of what says the same once.
func folded(matters []row) (once []row) {
	times := map[string]int{}
	for _, m := range matters {
		i := slices.IndexFunc(once, func(f row) bool {
			return f.Kind == m.Kind && f.Title == m.Title && f.Say("agent") == m.Say("agent") && len(m.items) == 3 // what is asked again has a number
		})
		if i < 0 {
			i, once = len(once), append(once, m)
		} else {
			once[i].items["id"] = append(once[i].items["id"], m.items["id"]...)
		}
		times[once[i].Path]++
	}
	for i := range once {
		m := &once[i]
		if m.Decline != "" {
			m.Pick = m.items.Encode()
		}
		m.set("times", count(times[m.Path]))
	}
	return once
}

func (s *Server) matters(v *visit, _ *thing) (listing, error) {
	found, err := s.gathered(v)
	l := listing{table: table{Rows: folded(found), Picks: v.principal().Has(principal.ScopeAgent)}, Title: "Waits for you"}
	for _, kind := range []string{"escalation", "incident", "proposal", "approval"} {
		t := s.things[kind]
		if t == nil || !l.Picks {
			continue
		}
		for _, a := range t.Acts {
			verb := kind + "." + a.Verb
			if a.Bulk && slices.ContainsFunc(l.Rows, func(r row) bool { return r.Accept == verb || r.Decline == verb }) {
				l.Bulk = append(l.Bulk, act{Verb: verb, Say: a.Say + ": " + strings.ToLower(t.Many)})
			}
		}
	}
	return l, err
}

// decided is what became of one decision.
type decided struct {
	Title, Fault string
}

// decideAll does what a button says with all that is chosen of its kind, each by itself, and shows what became of each.
func (s *Server) decideAll(v *visit) (string, error) {
	if err := v.principal().Need(principal.ScopeAgent); err != nil {
		return "", err
	}
	verb := v.value("do")
	kind, name, _ := strings.Cut(verb, ".")
	t, of := s.things[kind], -1
	if t != nil {
		of = slices.IndexFunc(t.Acts, func(a act) bool { return a.Bulk && a.Verb == name })
	}
	if of < 0 { // nor is a blocked command allowed so
		return "", errs.InvalidField("do", "is no decision")
	}
	var chosen []url.Values
	for _, text := range v.Form["item"] {
		item, err := url.ParseQuery(text)
		if err != nil || len(item["id"]) == 0 || len(item["id"]) > mostDecided {
			return "", errs.InvalidField("item", "names nothing to decide on")
		}
		if item.Get("kind") == kind { // what else is chosen waits for its own button
			chosen = append(chosen, item)
		}
	}
	if len(chosen) == 0 || len(chosen) > mostDecided {
		return "", errs.InvalidField("item", "must be there 1 to %d times: choose what is decided", mostDecided)
	}
	for _, item := range chosen {
		one := decided{Title: cmp.Or(item.Get("title"), item.Get("id"))}
		for _, id := range item["id"] { // those that are folded in one row
			if err := s.decide(v, t, t.Acts[of], id, url.Values{"number": item["number"]}); err != nil {
				one.Fault = errs.MessageOf(err)
				s.log.InfoContext(v.Context(), "a decision was refused", "decision", verb, "code", errs.CodeOf(err), "error", err)
			}
		}
		v.Outcomes = append(v.Outcomes, one)
	}
	v.Form.Del("kind")
	v.Form.Del("id")
	return "", nil
}

// decide decides on one row; what somebody decided so already is no decision.
func (s *Server) decide(v *visit, t *thing, a act, id string, form url.Values) error {
	made, err := s.carryOut(v, t, a, id, form)
	if err != nil {
		return err
	}
	of, err := recordOf(made)
	if of.Say("changed") == "0" {
		return errs.Errorf(errs.Conflict, "somebody decided so already")
	}
	return err
}

// openTasks counts the unfinished tasks.
func (s *Server) openTasks(v *visit) (int, error) {
	if s.services.Tasks == nil {
		return 0, nil
	}
	summary, err := s.services.Tasks.Summary(v.Context(), operational.TaskFilter{Project: v.value("project")})
	return summary.Open, err
}
