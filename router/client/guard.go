package client

import (
	"context"
	"net/http"

	"skillrouter/learning/guard"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/lesson"
)

// Guard is guard.Service over HTTP.
type Guard struct{ c *Client }

var _ guard.Service = Guard{}

// Check implements guard.Service.
func (g Guard) Check(ctx context.Context, action rule.Action) (guard.Checked, error) {
	return call[guard.Checked](ctx, g.c, http.MethodPost, at("/check/anti-pattern"), action)
}

// Outcome implements guard.Service.
func (g Guard) Outcome(ctx context.Context, draft guard.OutcomeDraft) (guard.Settled, error) {
	return call[guard.Settled](ctx, g.c, http.MethodPost, at("/check/outcome"), draft)
}

// Rules implements guard.Service.
func (g Guard) Rules(ctx context.Context, filter guard.RuleFilter) (guard.RulePage, error) {
	return call[guard.RulePage](ctx, g.c, http.MethodGet, at("/check/rules").with(filter), nil)
}

// Rule implements guard.Service.
func (g Guard) Rule(ctx context.Context, id string) (guard.Rule, error) {
	return g.rule(ctx, http.MethodGet, id, "", nil)
}

// RestoreRule implements guard.Service.
func (g Guard) RestoreRule(ctx context.Context, id string, draft guard.RestorationDraft) (guard.Rule, error) {
	return g.rule(ctx, http.MethodPost, id, "/restore", draft)
}

func (g Guard) rule(ctx context.Context, method, id, verb string, in any) (guard.Rule, error) {
	return call[guard.Rule](ctx, g.c, method, at("/check/rules/{rule_id}"+verb, id), in)
}

// Packs implements guard.Service.
func (g Guard) Packs(ctx context.Context, filter guard.PackFilter) (guard.PackList, error) {
	return call[guard.PackList](ctx, g.c, http.MethodGet, at("/check/packs").with(filter), nil)
}

// SetPacks implements guard.Service.
func (g Guard) SetPacks(ctx context.Context, draft guard.PackDraft) (guard.PackList, error) {
	return call[guard.PackList](ctx, g.c, http.MethodPost, at("/check/packs"), draft)
}

// AddPack implements guard.Service.
func (g Guard) AddPack(ctx context.Context, file guard.PackFile) (guard.PackList, error) {
	return call[guard.PackList](ctx, g.c, http.MethodPost, at("/check/packs/add"), file)
}

// RemovePack implements guard.Service.
func (g Guard) RemovePack(ctx context.Context, name string) (guard.PackList, error) {
	return call[guard.PackList](ctx, g.c, http.MethodDelete, at("/check/packs/{id}", name), nil)
}

// Approvals implements guard.Service.
func (g Guard) Approvals(ctx context.Context, filter guard.ApprovalFilter) (guard.ApprovalPage, error) {
	return call[guard.ApprovalPage](ctx, g.c, http.MethodGet, at("/check/approvals").with(filter), nil)
}

// Approve implements guard.Service.
func (g Guard) Approve(ctx context.Context, id string, draft guard.ApprovalDraft) (lesson.Approval, error) {
	return call[lesson.Approval](ctx, g.c, http.MethodPost, at("/check/approvals/{id}/approve", id), draft)
}

// Deny implements guard.Service.
func (g Guard) Deny(ctx context.Context, id string, draft guard.DenialDraft) (lesson.Approval, error) {
	return call[lesson.Approval](ctx, g.c, http.MethodPost, at("/check/approvals/{id}/deny", id), draft)
}

// Permissions implements guard.Service.
func (g Guard) Permissions(ctx context.Context) (guard.PermissionList, error) {
	return call[guard.PermissionList](ctx, g.c, http.MethodGet, at("/check/permissions"), nil)
}

// RevokePermission implements guard.Service.
func (g Guard) RevokePermission(ctx context.Context, id string) (lesson.Permission, error) {
	return call[lesson.Permission](ctx, g.c, http.MethodPost, at("/check/permissions/{id}/revoke", id), nil)
}

// Explain implements guard.Service.
func (g Guard) Explain(ctx context.Context, action rule.Action) (guard.Explained, error) {
	return call[guard.Explained](ctx, g.c, http.MethodPost, at("/check/explain"), action)
}

// Offline implements guard.Service.
func (g Guard) Offline(ctx context.Context, draft guard.OfflineDraft) (guard.OfflineStored, error) {
	return call[guard.OfflineStored](ctx, g.c, http.MethodPost, at("/check/offline"), draft)
}

// Ledger implements guard.Service.
func (g Guard) Ledger(ctx context.Context, filter lesson.LedgerFilter) (guard.LedgerPage, error) {
	return call[guard.LedgerPage](ctx, g.c, http.MethodGet, at("/check/ledger").with(filter), nil)
}
