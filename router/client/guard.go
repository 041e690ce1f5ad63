package client

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

// Guard is learning.GuardService over HTTP.
type Guard struct{ c *Client }

var _ learning.GuardService = Guard{}

// Check implements learning.GuardService.
func (g Guard) Check(ctx context.Context, action learning.Action) (learning.Checked, error) {
	return call[learning.Checked](ctx, g.c, http.MethodPost, at("/check/anti-pattern"), action)
}

// Outcome implements learning.GuardService.
func (g Guard) Outcome(ctx context.Context, draft learning.OutcomeDraft) (learning.Settled, error) {
	return call[learning.Settled](ctx, g.c, http.MethodPost, at("/check/outcome"), draft)
}

// Rules implements learning.GuardService.
func (g Guard) Rules(ctx context.Context, filter learning.RuleFilter) (learning.RulePage, error) {
	return call[learning.RulePage](ctx, g.c, http.MethodGet, at("/check/rules").with(filter), nil)
}

// Rule implements learning.GuardService.
func (g Guard) Rule(ctx context.Context, id string) (learning.Rule, error) {
	return g.rule(ctx, http.MethodGet, id, "", nil)
}

// RestoreRule implements learning.GuardService.
func (g Guard) RestoreRule(ctx context.Context, id string, draft learning.RestorationDraft) (learning.Rule, error) {
	return g.rule(ctx, http.MethodPost, id, "/restore", draft)
}

func (g Guard) rule(ctx context.Context, method, id, verb string, in any) (learning.Rule, error) {
	return call[learning.Rule](ctx, g.c, method, at("/check/rules/{rule_id}"+verb, id), in)
}

// Ledger implements learning.GuardService.
func (g Guard) Ledger(ctx context.Context, filter learning.LedgerFilter) (learning.LedgerPage, error) {
	return call[learning.LedgerPage](ctx, g.c, http.MethodGet, at("/check/ledger").with(filter), nil)
}
