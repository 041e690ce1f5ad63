package web

import (
	"cmp"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning/history"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
	"skillrouter/router/decision"
)

const (
	// mostDecided is how many things one form decides on: two full lists. Each is a write of its own, some milliseconds long.
	mostDecided = 2 * decision.MaxWaiting
	// shownGaps is how many unanswered questions stand among what waits.
	shownGaps = "20"
)

// inboxThings are what waits for a person. Approving a blocked command is done on its own page alone.
func (s *Server) inboxThings() {
	s.own["matter"] = func(t *thing) {
		t.list = s.matters
		t.read = func(*visit, string) (*detail, error) { return nil, errs.InvalidField("kind", "is required") }
		s.action(inboxPath+"/do", inboxPath, s.decideAll)
	}
	s.own["approval"] = func(t *thing) { t.more = s.approval }
	s.own["proposal"] = func(t *thing) {
		t.row = func(_ *visit, item any, of *record) { of.set("says", item.(history.Proposal).Says()) }
		t.more = func(_ *visit, item any, d *detail) error {
			p := item.(history.Proposal)
			stored := p.StoredAs
			if p.Kind != history.ProposalEpisode {
				stored = p.Persona + "/" + stored
			}
			if p.StoredAs != "" {
				d.Facts = append(d.Facts, shownFact{Name: "The memory", Text: p.StoredAs, Path: pathOf(string(p.Kind), stored)})
			}
			return nil
		}
	}
}

// wait says how what waits for a person is gathered, and what is said of it.
type wait struct {
	Of             string // the member of decision.Waiting that has it; empty: the kind's own list
	Rank           string // how urgent it is, as escalations are
	Say, Agent, At string
}

// matter is one thing that waits.
type matter struct {
	row
	rank  int // 0: somebody cannot go on
	at    time.Time
	agent string
	items url.Values // what the checkbox sends
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
func (s *Server) gathered(v *visit) (matters []matter, err error) {
	if s.services.Decisions == nil {
		return nil, nil
	}
	found, err := s.services.Decisions.Waiting(v.Context())
	if err != nil {
		return nil, err
	}
	for _, described := range described().Things {
		t := s.things[described.Kind]
		if t == nil || t.Waits.Say == "" {
			continue
		}
		waiting := reflect.ValueOf(found).FieldByName(t.Waits.Of)
		var all []any
		if waiting.IsValid() {
			all = elements(waiting)
		} else {
			answer, err := s.call(v, t.List, "", url.Values{"order": {"count"}, "limit": {shownGaps}}, "")
			if err != nil {
				return nil, err
			}
			all, _, _ = items(answer)
		}
		for _, item := range all {
			m, err := s.matter(v, t, item)
			if err != nil {
				return nil, err
			}
			if project := v.value("project"); project == "" || m.Cells[3].Text == "" || m.Cells[3].Text == project {
				matters = append(matters, m)
			}
		}
	}
	slices.SortStableFunc(matters, func(a, b matter) int { return cmp.Or(a.rank-b.rank, b.at.Compare(a.at)) })
	return matters, nil
}

// matter is a row that waits, with what the keys a and d do with it: of what can be done with many, the first and the dangerous.
func (s *Server) matter(v *visit, t *thing, item any) (m matter, err error) {
	of, err := recordOf(item)
	if err != nil {
		return m, err
	}
	if t.row != nil {
		t.row(v, item, &of)
	}
	id, rank := of.say(cmp.Or(t.ID, "id")), of.titled(t.Waits.Rank)
	m.rank = max(slices.Index(operational.EscalationPriorities(), operational.EscalationPriority(rank)), 0)
	m.at, _ = time.Parse(time.RFC3339, of.say(t.Waits.At))
	m.agent = strings.Split(of.say(t.Waits.Agent), ", ")[0]
	m.row = row{ID: id, Kind: t.Kind, Title: strings.TrimRight(of.titled(t.Waits.Say), ": "), Path: pathOf(t.Kind, id)}
	for _, a := range t.Acts {
		switch verb := t.Kind + "." + a.Verb; {
		case a.Bulk && a.First:
			m.Accept = verb
		case a.Bulk:
			m.Decline = verb
		}
	}
	m.items = url.Values{"kind": {t.Kind}, "title": {short(120, m.Title)}, "id": {id}}
	if ids := of.say("IDs"); ids != "" { // of what was escalated to several
		m.items["id"] = strings.Split(ids, ", ")
	}
	for _, name := range t.Hidden {
		m.items.Set(name, of.say(name))
	}
	if t.Also == inboxPath { // its page is at another place, and it is decided on here
		m.Path = link(inboxPath, "kind", t.Kind, "id", id)
	}
	m.Cells = []cell{{Icon: []string{"bad", "warn", "calm", "plain"}[m.rank], Sub: rank}, text(t.Kind), head(m.Path, m.Title, ""), text(of.say("project")), agentCell(m.agent), at(m.at)}
	return m, nil
}

// folded are the rows of matters, each of what says the same once.
func folded(matters []matter) (rows []row) {
	var once []matter
	for _, m := range matters {
		i := slices.IndexFunc(once, func(f matter) bool {
			return f.Kind == m.Kind && f.Title == m.Title && f.agent == m.agent && len(m.items) == 3 // what is asked again has a number
		})
		if i < 0 {
			i, once = len(once), append(once, m)
		} else {
			once[i].items["id"] = append(once[i].items["id"], m.items["id"]...)
		}
		once[i].Cells[2].Times++
	}
	for _, m := range once {
		if m.Decline != "" {
			m.Pick = m.items.Encode()
		}
		rows = append(rows, m.row)
	}
	return rows
}

func (s *Server) matters(v *visit) (listing, error) {
	found, err := s.gathered(v)
	l := listing{table: table{Rows: folded(found), Picks: v.principal().Has(principal.ScopeAgent)}, Title: "Waits for you", Order: "The most urgent first"}
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
	switch {
	case len(chosen) == 0:
		return "", errs.InvalidField("item", "is required: choose what is decided")
	case len(chosen) > mostDecided:
		return "", errs.InvalidField("item", "may be there %d times", mostDecided)
	}
	for _, item := range chosen {
		one := decided{Title: cmp.Or(item.Get("title"), item.Get("id"))}
		for _, id := range item["id"] { // those that are folded in one row
			number := url.Values{"number": item["number"]}
			if err := s.decide(v, t, t.Acts[of], id, number); err != nil {
				one.Fault = errs.MessageOf(err)
				s.log.InfoContext(v.Context(), "a decision was refused", "decision", verb, "code", errs.CodeOf(err), "error", err)
			}
		}
		v.decided = append(v.decided, one)
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
	if of.say("changed") == "0" {
		return errs.Errorf(errs.Conflict, "somebody decided so already")
	}
	return err
}

// after puts words before a text that may be empty.
func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// approval shows a blocked command whole: what it is and why it was blocked.
func (s *Server) approval(_ *visit, item any, d *detail) error {
	a := item.(lesson.Approval)
	why := block{ID: "why", Title: "Why it was blocked", Empty: "No rule is named."}
	for _, m := range a.Matches {
		why.Facts = append(why.Facts, shownFact{Name: string(m.Severity), Text: m.Title + after("\n", m.Reason) + after("\n", m.WhyBad), Path: pathOf("rule", m.RuleID)})
		for _, instead := range m.Alternatives {
			why.Facts = append(why.Facts, shownFact{Name: "Instead", Text: instead})
		}
	}
	d.Blocks = []block{{ID: "command", Title: "The command", Text: a.Action, Empty: "It is another agent’s, and so it is not shown to you."}, why}
	return nil
}

// openTasks counts the unfinished tasks.
func (s *Server) openTasks(v *visit) (int, error) {
	if s.services.Tasks == nil {
		return 0, nil
	}
	summary, err := s.services.Tasks.Summary(v.Context(), operational.TaskFilter{Project: v.value("project")})
	return summary.Open, err
}
