package client

import (
	"context"
	"net/http"
	"strconv"

	"skillrouter/learning"
)

// Guard is learning.GuardService over HTTP.
type Guard struct{ c *Client }

var _ learning.GuardService = Guard{}

// Check implements learning.GuardService.
func (g Guard) Check(ctx context.Context, action learning.Action) (learning.Checked, error) {
	return call[learning.Checked](ctx, g.c, http.MethodPost, "/check/anti-pattern", nil, action)
}

// Outcome implements learning.GuardService.
func (g Guard) Outcome(ctx context.Context, draft learning.OutcomeDraft) (learning.Settled, error) {
	return call[learning.Settled](ctx, g.c, http.MethodPost, "/check/outcome", nil, draft)
}

// Rules implements learning.GuardService.
func (g Guard) Rules(ctx context.Context, filter learning.RuleFilter) (learning.RulePage, error) {
	query := values("source", filter.Source, "domain", filter.Domain, "severity", filter.Severity, "cursor", filter.Cursor, "limit", filter.Limit)
	for name, value := range map[string]*bool{"demoted": filter.Demoted, "blocks": filter.Blocks} {
		if value != nil {
			query.Set(name, strconv.FormatBool(*value))
		}
	}
	return call[learning.RulePage](ctx, g.c, http.MethodGet, "/check/rules", query, nil)
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
	path, err := segment("rule_id", id)
	if err != nil {
		return learning.Rule{}, err
	}
	return call[learning.Rule](ctx, g.c, method, "/check/rules/"+path+verb, nil, in)
}

// Ledger implements learning.GuardService.
func (g Guard) Ledger(ctx context.Context, filter learning.LedgerFilter) (learning.LedgerPage, error) {
	return call[learning.LedgerPage](ctx, g.c, http.MethodGet, "/check/ledger", values(
		"agent", filter.Agent, "project", filter.Project, "rule_id", filter.RuleID, "decision", filter.Decision, "outcome", filter.Outcome,
		"since", filter.Since, "until", filter.Until, "cursor", filter.Cursor, "limit", filter.Limit,
	), nil)
}
