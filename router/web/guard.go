package web

import (
	"strconv"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning/guard"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/lesson"
	"skillrouter/router"
)

func (s *Server) guardPages() {
	s.page("/ui/guard", "guard.html", "Guard", s.guard)
	s.page("/ui/guard/ledger", "ledger.html", "Guard ledger", s.ledger)
	s.page("/ui/guard/approvals", "approvals.html", "Approvals", s.approvals)
	s.section(memory, "Guard", "/ui/guard")
	s.section(memory, "Approvals", "/ui/guard/approvals")
	s.section(memory, "Guard ledger", "/ui/guard/ledger")
	s.notice("rule-restored", "The rule blocks again.")
	s.action("/ui/guard/restore", "/ui/guard", func(v *visit) (string, error) {
		_, err := s.services.Guard.RestoreRule(v.context(), v.value("id"), guard.RestorationDraft{By: v.by(), Notes: v.value("notes")})
		return link("/ui/guard", "done", "rule-restored"), err
	})
	s.approvalActions()
}

// approvalActions are what a person says of what the guard blocked. Who says it is the token's bearer, never a field.
func (s *Server) approvalActions() {
	const page = "/ui/guard/approvals"
	for verb, say := range map[string]string{"approve": "It is allowed once.", "deny": "It is refused.", "revoke": "The permission has ended."} {
		s.notice("approval-"+verb, say)
		s.action("/ui/guard/"+verb, page, func(v *visit) (string, error) {
			var err error
			number, _ := strconv.ParseInt(v.value("number"), 10, 64) // 0, the last one, if it is none
			switch verb {
			case "approve":
				_, err = s.services.Guard.Approve(v.context(), v.value("id"), guard.ApprovalDraft{Number: number, Notes: v.value("notes"), Always: v.value("always") != ""})
			case "deny":
				_, err = s.services.Guard.Deny(v.context(), v.value("id"), guard.DenialDraft{Number: number, Notes: v.value("notes")})
			default:
				_, err = s.services.Guard.RevokePermission(v.context(), v.value("id"))
			}
			return link(page, "done", "approval-"+verb), err
		})
	}
}

// approvalsPage is what waits for a person, what became of it, and what is allowed until further notice.
type approvalsPage struct {
	Approvals   []lesson.Approval
	Permissions []lesson.Permission
	May         bool   // the visitor decides
	Why         string // why not
	LogIn       bool   // the passphrase would help
	States      []option
	pager
}

func (s *Server) approvals(v *visit) (any, error) {
	filter := guard.ApprovalFilter{State: lesson.ApprovalState(v.value("state")), Cursor: v.value("cursor")}
	found, err := s.services.Guard.Approvals(v.context(), filter)
	if err != nil {
		return nil, err
	}
	standing, err := s.services.Guard.Permissions(v.context())
	if err != nil {
		return nil, err
	}
	_, refused := principal.Of(v.context()).AsPerson()
	page := approvalsPage{
		Approvals: found.Approvals, Permissions: standing.Permissions, May: refused == nil, States: options("all", string(filter.State), lesson.ApprovalStates()),
		pager: v.pages("/ui/guard/approvals", found.Next, "Newest", "Older", "state"),
	}
	if refused != nil {
		page.Why, page.LogIn = errs.MessageOf(refused), errs.CodeOf(refused) == errs.PassphraseNeeded
	}
	return page, nil
}

// ruleList is what the list of the guard's rules shows.
type ruleList struct {
	Hooks              []router.SystemCheck // nothing for whoever is no captain
	Rules              []guard.Rule
	Total              int
	Domain             string
	Sources, Standings []option
	pager
}

// What a rule does, as the list's filter names it.
const (
	ruleBlocks  = "blocks"
	ruleWarns   = "warns"
	ruleDemoted = "demoted"
)

func (s *Server) guard(v *visit) (any, error) {
	yes, no := true, false
	filter := guard.RuleFilter{Source: v.value("source"), Domain: v.value("domain"), Cursor: v.value("cursor")}
	switch v.value("standing") {
	case ruleBlocks:
		filter.Blocks = &yes
	case ruleWarns:
		filter.Blocks = &no
	case ruleDemoted:
		filter.Demoted = &yes
	}
	found, err := s.services.Guard.Rules(v.context(), filter)
	if err != nil {
		return nil, err
	}
	fields := []string{"source", "standing", "domain"}
	var hooks []router.SystemCheck
	if s.services.Hooks != nil && principal.Of(v.context()).Has(principal.ScopeCaptain) {
		hooks = s.services.Hooks(v.context())
	}
	return ruleList{
		Hooks: hooks, Rules: found.Rules, Total: found.Total, Domain: filter.Domain,
		Sources:   options("every source", filter.Source, []string{guard.RuleOfLesson, guard.RuleOfPattern, guard.RuleBuiltin}),
		Standings: options("all", v.value("standing"), []string{ruleBlocks, ruleWarns, ruleDemoted}),
		pager:     v.pages("/ui/guard", found.Next, "First", "More", fields...),
	}, nil
}

// ledgerPage is what the ledger shows.
type ledgerPage struct {
	Checks              []lesson.CheckRecord
	Rule                *guard.Rule
	Agent               string
	Decisions, Outcomes []option
	pager
}

// decisions are what a check can come to.
var decisions = []rule.Decision{rule.DecisionAllow, rule.DecisionWarn, rule.DecisionBlock}

func (s *Server) ledger(v *visit) (any, error) {
	filter := lesson.LedgerFilter{
		Agent: v.value("agent"), RuleID: v.value("rule"), Decision: rule.Decision(v.value("decision")), Outcome: lesson.Outcome(v.value("outcome")), Cursor: v.value("cursor"),
	}
	found, err := s.services.Guard.Ledger(v.context(), filter)
	if err != nil {
		return nil, err
	}
	fields := []string{"agent", "rule", "decision", "outcome"}
	page := ledgerPage{
		Checks: found.Checks, Agent: filter.Agent,
		Decisions: options("every decision", v.value("decision"), decisions),
		Outcomes:  options("any", v.value("outcome"), lesson.Outcomes()),
		pager:     v.pages("/ui/guard/ledger", found.Next, "Newest", "", fields...),
	}
	if filter.RuleID != "" {
		rule, err := s.services.Guard.Rule(v.context(), filter.RuleID)
		if err != nil && errs.CodeOf(err) != errs.NotFound { // its checks outlive a rule
			return nil, err
		}
		rule.ID = filter.RuleID
		page.Rule = &rule
	}
	return page, nil
}
