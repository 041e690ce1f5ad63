package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning/history"
	"skillrouter/learning/lesson"
	"skillrouter/learning/verdict"
	"skillrouter/operational"
	"skillrouter/router/decision"
)

const (
	// mostDecided is how many things one form decides on: two full lists. Each is a write of its own, some milliseconds long.
	mostDecided = 2 * decision.MaxWaiting
	// shownGaps is how many unanswered questions stand among what waits.
	shownGaps = 20
)

var inboxColumns = columnsOf(" | | | w20", "Kind | | | w88 x", "What waits | | | t", "Project | | | w112 x", "Agent | | | w128 x", "Age | | | w56 n")

// inboxThings are what waits for a person. Approving a blocked command is done on its own page alone.
func (s *Server) inboxThings() {
	if s.services.Decisions != nil {
		s.put(thing{
			Place: inboxPath, Kind: "matter", One: "Matter", Many: "Everything", Live: "guard. proposal. transcript. escalation. knowledge. lesson. agent. task.",
			Empty: "Nothing waits for you: no blocked command, no escalation, no proposal, no stuck agent.", list: s.matters,
			read: func(*visit, string) (*detail, error) { return nil, errs.InvalidField("kind", "is required") },
		})
		s.action(inboxPath+"/do", inboxPath, s.decideAll)
	}
	s.own["approval"] = func(t *thing) bool {
		t.more = s.approval
		return s.services.Guard != nil
	}
	s.own["proposal"] = func(t *thing) bool {
		t.row = func(_ *visit, item any, of record) { of["says"] = item.(history.Proposal).Says() }
		t.Title = "{says}"
		t.more = func(v *visit, _ string, item any, _ record, d *detail) error {
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
		return s.services.Consolidation != nil
	}
}

// The ranks of what waits, the most urgent first, each with its icon.
const (
	rankStops = iota // somebody cannot go on
	rankHigh
	rankMedium
	rankLow
)

var rankIcons = []string{"bad", "warn", "calm", "plain"}

// matter is one thing that waits.
type matter struct {
	rank    int
	kind    string
	id, say string
	project string
	agent   string
	at      time.Time
	items   []string // of the checkbox
	number  int64    // of the asking that was seen
	path    string
	yes, no string
}

// line is a matter as a row of the inbox; times is how many alike are folded in it.
func (m matter) line(times int, items []string) row {
	r := row{ID: m.id, Kind: m.kind, Title: m.say, Path: cmp.Or(m.path, link(inboxPath, "kind", m.kind, "id", m.id)), Accept: m.yes, Decline: m.no}
	if m.no != "" {
		choice := url.Values{"kind": {m.kind}, "title": {short(120, m.say)}, "id": items}
		if m.number > 0 {
			choice.Set("number", strconv.FormatInt(m.number, 10))
		}
		r.Pick = choice.Encode()
	}
	name := head(r.Path, m.say, "")
	name.Times = times
	r.Cells = []cell{{Icon: rankIcons[m.rank], Sub: []string{"stops somebody", "high", "medium", "low"}[m.rank]}, text(m.kind), name, text(m.project), agentCell(m.agent), at(m.at)}
	return r
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
	for _, a := range found.Approvals {
		matters = append(matters, matter{kind: "approval", id: a.ID, say: "Blocked: " + saidBy(a.Withheld, a.Action), project: a.Project, agent: a.Agent, at: a.AskedAt, items: []string{a.ID}, number: a.Number, no: "approval.deny"})
	}
	for _, e := range found.Escalations {
		rank := max(slices.Index(operational.EscalationPriorities(), e.Priority), rankStops)
		matters = append(matters, matter{rank: rank, kind: "escalation", id: e.IDs[0], say: e.Title, project: e.Domain, agent: e.SourceAgent, at: e.LastRaised, items: e.IDs, yes: "escalation.resolve", no: "escalation.dismiss"})
	}
	for _, t := range found.Blocked {
		matters = append(matters, matter{rank: rankHigh, kind: "task", id: strconv.FormatInt(t.Number, 10), say: fmt.Sprintf("#%d %s: %s", t.Number, t.Title, cmp.Or(t.BlockedReason, "blocked")), project: t.Project, agent: t.AgentID, at: t.UpdatedAt, path: pathOf("task", strconv.FormatInt(t.Number, 10))})
	}
	for _, i := range found.Incidents {
		matters = append(matters, matter{rank: rankMedium, kind: "incident", id: i.ID, say: i.Command + ": " + i.Example, project: i.Project, at: i.Last, items: []string{i.ID}, yes: "incident.accept", no: "incident.decline"})
	}
	for _, a := range found.Stale {
		matters = append(matters, matter{rank: rankMedium, kind: "agent", id: a.ID, say: a.ID + " has gone silent" + after(": ", a.CurrentTask), project: a.Project, agent: a.ID, at: a.LastSeen, path: pathOf("agent", a.ID)})
	}
	for _, p := range found.Proposals {
		matters = append(matters, matter{rank: rankLow, kind: "proposal", id: p.ID, say: p.Says(), agent: p.AgentID, at: p.CreatedAt, items: []string{p.ID}, yes: "proposal.accept", no: "proposal.reject"})
	}
	if s.services.Verdicts != nil {
		gaps, err := s.services.Verdicts.Gaps(v.Context(), verdict.GapQuery{Order: verdict.GapsOften, Limit: shownGaps})
		if err != nil {
			return nil, err
		}
		for _, g := range gaps.Gaps {
			matters = append(matters, matter{rank: rankLow, kind: "gap", id: g.ID, say: "No answer: " + g.Question, project: g.Project, agent: first(g.Agents), at: g.LastAsked})
		}
	}
	if project := v.value("project"); project != "" {
		matters = slices.DeleteFunc(matters, func(m matter) bool {
			return m.project != project && m.kind != "escalation" && m.kind != "proposal" && m.kind != "gap" || m.kind == "gap" && m.project != "" && m.project != project
		})
	}
	slices.SortStableFunc(matters, func(a, b matter) int { return cmp.Or(a.rank-b.rank, b.at.Compare(a.at)) })
	return matters, nil
}

// folded are the rows of matters, each of what says the same once.
func folded(matters []matter) (rows []row) {
	type fold struct {
		matter
		times int
	}
	var folds []*fold
	for _, m := range matters {
		i := slices.IndexFunc(folds, func(f *fold) bool {
			return f.kind == m.kind && f.say == m.say && f.agent == m.agent && m.kind != "approval"
		})
		if i < 0 {
			folds = append(folds, &fold{m, 1})
			continue
		}
		folds[i].times++
		folds[i].items = append(slices.Clone(folds[i].items), m.items...)
	}
	for _, f := range folds {
		rows = append(rows, f.line(f.times, f.items))
	}
	return rows
}

func (s *Server) matters(v *visit) (listing, error) {
	found, err := s.gathered(v)
	l := listing{table: table{Columns: inboxColumns, Rows: folded(found), Picks: v.principal().Has(principal.ScopeAgent)}, Title: "Waits for you", Order: "The most urgent first"}
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
			if err := s.decide(v, t.Acts[of], id, number); err != nil {
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
func (s *Server) decide(v *visit, a act, id string, form url.Values) error {
	made, err := s.carryOut(v, a, id, form)
	if err != nil {
		return err
	}
	of, err := recordOf(made)
	if changed, ok := of["changed"]; ok && fmt.Sprint(changed) == "0" {
		return errs.Errorf(errs.Conflict, "somebody decided so already")
	}
	return err
}

// saidBy is what somebody wrote, unless it is withheld.
func saidBy(withheld bool, text string) string {
	if withheld {
		return "another agent’s command"
	}
	return text
}

// after puts words before a text that may be empty.
func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// approval shows a blocked command whole: what it is and why it was blocked.
func (s *Server) approval(_ *visit, _ string, item any, _ record, d *detail) error {
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
