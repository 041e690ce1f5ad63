package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter/learning"
)

const rulesPath = "/check/rules"

// ruleRef is the rule in the path. Any id can be reached: "/" as %2F, "%" as %25.
type ruleRef struct {
	ID string `path:"id" doc:"The rule's id, percent-encoded as one segment of the path"`
}

// ruleSelection selects a page of rules.
type ruleSelection struct {
	Source   string            `query:"source" doc:"lesson, pattern or builtin"`
	Domain   string            `query:"domain"`
	Severity learning.Severity `query:"severity"`
	Demoted  string            `query:"demoted" enum:"true,false" doc:"Only those that were demoted to warning, or that were not"`
	Blocks   string            `query:"blocks" enum:"true,false" doc:"Only those that block, or that only warn"`
	Cursor   string            `query:"cursor" doc:"The answer's next of the page before"`
	Limit    int               `query:"limit" doc:"1 to 200; 0: 50"`
}

// ledgerSelection selects a page of the ledger.
type ledgerSelection struct {
	Agent    string            `query:"agent"`
	Project  string            `query:"project"`
	RuleID   string            `query:"rule_id" doc:"Only checks that this rule matched"`
	Decision learning.Decision `query:"decision" doc:"allow, warn or block"`
	Outcome  learning.Outcome  `query:"outcome" doc:"heeded or overridden"`
	Since    time.Time         `query:"since" doc:"Not before this time"`
	Until    time.Time         `query:"until" doc:"Before this time"`
	Cursor   string            `query:"cursor" doc:"The answer's next of the page before"`
	Limit    int               `query:"limit" doc:"1 to 200; 0: 50"`
}

// restoreRuleInput is a restoration, whose body may be missing.
type restoreRuleInput struct {
	ruleRef
	Body *learning.RestorationDraft
}

func (s *Server) guardRoutes() {
	guard := s.services.Guard
	if guard == nil {
		return
	}
	op := func(method, path, summary string) huma.Operation { return operation(method, path, "guard", summary) }

	register(s, op(http.MethodPost, "/check/anti-pattern", "Judge a proposed action before it is taken: a command in proposed_action, or a call of tool with args"),
		func(ctx context.Context, in *struct{ Body learning.Action }) (*answer[learning.Checked], error) {
			checked, err := guard.Check(ctx, in.Body)
			return reply(checked), err
		})
	register(s, op(http.MethodPost, "/check/outcome", "Say what was done after a check, and how it went"),
		func(ctx context.Context, in *struct{ Body learning.OutcomeDraft }) (*answer[learning.Settled], error) {
			settled, err := guard.Outcome(ctx, in.Body)
			return reply(settled), err
		})
	register(s, op(http.MethodGet, rulesPath, "The rules and how they did: the built-in ones first, then the newest first"),
		func(ctx context.Context, in *ruleSelection) (*answer[learning.RulePage], error) {
			page, err := guard.Rules(ctx, learning.RuleFilter{
				Source: in.Source, Domain: in.Domain, Severity: in.Severity, Demoted: yesOrNo(in.Demoted), Blocks: yesOrNo(in.Blocks), Cursor: in.Cursor, Limit: in.Limit,
			})
			return reply(page), err
		})
	register(s, op(http.MethodGet, rulesPath+"/{id}", "One rule and how it did"),
		func(ctx context.Context, in *ruleRef) (*answer[learning.Rule], error) {
			rule, err := guard.Rule(ctx, in.ID)
			return reply(rule), err
		})
	register(s, op(http.MethodPost, rulesPath+"/{id}/restore", "Let a rule that was demoted to warning block again"),
		func(ctx context.Context, in *restoreRuleInput) (*answer[learning.Rule], error) {
			var draft learning.RestorationDraft
			if in.Body != nil {
				draft = *in.Body
			}
			rule, err := guard.RestoreRule(ctx, in.ID, draft)
			return reply(rule), err
		})
	register(s, op(http.MethodGet, "/check/ledger", "The checks that were made, newest first"),
		func(ctx context.Context, in *ledgerSelection) (*answer[learning.LedgerPage], error) {
			page, err := guard.Ledger(ctx, learning.LedgerFilter(*in))
			return reply(page), err
		})
}

// yesOrNo is a parameter that may be left out.
func yesOrNo(text string) *bool {
	if text == "" {
		return nil
	}
	yes := text == "true"
	return &yes
}
