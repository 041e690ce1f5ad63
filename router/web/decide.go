package web

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"strings"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning/guard"
	"skillrouter/learning/history"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
	"skillrouter/router/decision"
)

const (
	decidePath = "/ui/decide"
	// mostDecided is how many things one form decides on: two full lists. Each is a write of its own, some milliseconds long.
	mostDecided = 2 * decision.MaxWaiting
)

func (s *Server) decidePages() {
	if s.services.Decisions == nil {
		return
	}
	s.page(decidePath, "decide.html", "Decide", s.decide)
	s.section(operations, "Decide", decidePath)
	s.action("/ui/decide/do", decidePath, s.decideAll)
}

// decisionsPage is what wants a person's decision, and what became of those that were just made.
type decisionsPage struct {
	decision.Waiting
	May      bool // the visitor decides on approvals
	LogIn    bool // the passphrase would let him
	None     bool
	Outcomes []decided
	Keys     string // of all that waits, for the script that tells of what is new
}

// decided is what became of one decision.
type decided struct {
	Title, Fault string
}

func (s *Server) decide(v *visit) (any, error) {
	waiting, err := s.services.Decisions.Waiting(v.context())
	if err != nil {
		return nil, err
	}
	page := decisionsPage{Waiting: waiting, Outcomes: v.decided}
	items := waiting.Items()
	keys := make([]string, len(items))
	for i, item := range items {
		keys[i] = url.QueryEscape(item.Key)
	}
	page.None, page.Keys = len(items) == 0, strings.Join(keys, " ")
	_, refused := v.principal().AsPerson()
	page.May, page.LogIn = refused == nil, errs.CodeOf(refused) == errs.PassphraseNeeded
	return page, nil
}

// pick is the value of a checkbox: what a decision is about, as its kind names it, and how a person knows it again.
func pick(kind, title string, ids ...string) string {
	return url.Values{"kind": {kind}, "title": {short(120, title)}, "id": ids}.Encode()
}

// verdicts do what a button says, by the kind and the button's verb. An approval's second id is its number.
func (s *Server) verdicts() map[string]func(ctx context.Context, ids []string) error {
	escalated := func(say func(context.Context, string, operational.EscalationVerdict) (operational.Escalation, error)) func(context.Context, []string) error {
		return func(ctx context.Context, ids []string) (err error) {
			for _, id := range ids {
				_, failed := say(ctx, id, operational.EscalationVerdict{})
				err = cmp.Or(err, failed)
			}
			return err
		}
	}
	accept := func(decline bool) func(context.Context, []string) error {
		return func(ctx context.Context, ids []string) error {
			done, err := s.services.Incidents.Accept(ctx, history.Decision{IDs: ids[:1], Decline: decline})
			if err == nil && done.Changed == 0 {
				err = errs.Errorf(errs.Conflict, "somebody decided so already")
			}
			return err
		}
	}
	number := func(ids []string) int64 {
		n, _ := strconv.ParseInt(ids[len(ids)-1], 10, 64) // 0, the last one, if it is none
		return n
	}
	return map[string]func(ctx context.Context, ids []string) error{
		"approval.approve": func(ctx context.Context, ids []string) error {
			_, err := s.services.Guard.Approve(ctx, ids[0], guard.ApprovalDraft{Number: number(ids)})
			return err
		},
		"approval.deny": func(ctx context.Context, ids []string) error {
			_, err := s.services.Guard.Deny(ctx, ids[0], guard.DenialDraft{Number: number(ids)})
			return err
		},
		"proposal.accept": func(ctx context.Context, ids []string) error {
			_, err := s.services.Consolidation.Accept(ctx, ids[0])
			return err
		},
		"proposal.reject": func(ctx context.Context, ids []string) error {
			_, err := s.services.Consolidation.Reject(ctx, ids[0], "")
			return err
		},
		"escalation.resolve": escalated(s.services.Escalations.Resolve),
		"escalation.dismiss": escalated(s.services.Escalations.Dismiss),
		"incident.accept":    accept(false),
		"incident.decline":   accept(true),
	}
}

// decideAll does what a button says with all that is chosen of its kind, each by itself, and shows what became of each.
func (s *Server) decideAll(v *visit) (string, error) {
	if err := v.principal().Need(principal.ScopeAgent); err != nil {
		return "", err
	}
	verb := v.value("do")
	do := s.verdicts()[verb]
	if do == nil {
		return "", errs.InvalidField("do", "is no decision")
	}
	var chosen []url.Values
	for _, text := range v.Form["item"] {
		item, err := url.ParseQuery(text)
		if err != nil || len(item["id"]) == 0 || len(item["id"]) > mostDecided {
			return "", errs.InvalidField("item", "names nothing to decide on")
		}
		if kind, _, _ := strings.Cut(verb, "."); item.Get("kind") == kind { // what else is chosen waits for its own button
			chosen = append(chosen, item)
		}
	}
	switch {
	case len(chosen) == 0:
		return "", errs.InvalidField("item", "is required: choose what is decided")
	case len(chosen) > mostDecided:
		return "", errs.InvalidField("item", "may be there %d times", mostDecided)
	case verb == "approval.approve" && len(chosen) > 1:
		return "", errs.InvalidField("item", "may be one blocked command alone: each is read before it is allowed")
	}
	for _, item := range chosen {
		one := decided{Title: cmp.Or(item.Get("title"), item.Get("id"))}
		if err := do(v.context(), item["id"]); err != nil {
			one.Fault = errs.MessageOf(err)
			s.log.InfoContext(v.context(), "a decision was refused", "decision", verb, "code", errs.CodeOf(err), "error", err)
		}
		v.decided = append(v.decided, one)
	}
	return "", nil
}

// pickApproval and the others are the values of checkboxes.
func pickApproval(a lesson.Approval) string {
	return pick("approval", "what "+a.Agent+" wanted to run", a.ID, strconv.FormatInt(a.Number, 10))
}

func pickProposal(p history.Proposal) string { return pick("proposal", p.Says(), p.ID) }

func pickMatter(m decision.Matter) string { return pick("escalation", m.Title, m.IDs...) }

func pickIncident(i history.Incident) string {
	return pick("incident", i.Program+": "+i.Example, i.ID)
}
