package guard

import "github.com/skillrouter/skillrouter/internal/operation"

const aRule = "The rule's id, percent-encoded as one segment of the path"

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("guard", "/check",
	operation.Post("/anti-pattern", "Judge a proposed action before it is taken: a command in proposed_action, or a call of tool with args", Service.Check).Keeps(),
	operation.Post("/outcome", "Say what was done after a check, and how it went", Service.Outcome).Keeps(),
	operation.Get("/rules", "The rules and how they did: the built-in ones first, then the newest first", Service.Rules),
	operation.Get("/rules/{id}", "One rule and how it did", Service.Rule).Named(aRule),
	operation.Post("/rules/{id}/restore", "Let a rule that was demoted to warning block again", Service.RestoreRule).Named(aRule).Needs("captain"),
	operation.Get("/packs", "The packs of rules, and whether they are off, warn or block, everywhere or in a project", Service.Packs),
	operation.Post("/packs", "Switch packs off, to warn or to block, everywhere or in a project; for the captain", Service.SetPacks).Needs("captain"),
	operation.Get("/approvals", "What was blocked and may be allowed by a person, newest first", Service.Approvals),
	operation.Post("/approvals/{id}/approve", "Allow exactly this, once or again and again; for a person, never for an agent's token nor while no token was issued", Service.Approve),
	operation.Post("/approvals/{id}/deny", "Refuse it; for a person", Service.Deny),
	operation.Get("/permissions", "The standing permissions, newest first", Service.Permissions),
	operation.Post("/permissions/{id}/revoke", "End a standing permission at once; for a person", Service.RevokePermission),
	operation.Post("/explain", "What the guard reads in an action and would say of it; no check is made", Service.Explain).Needs("read"),
	operation.Post("/offline", "Hand over what hooks judged by their copy of the rules while the router was away; each check is stored once", Service.Offline),
	operation.Get("/ledger", "The checks that were made, newest first", Service.Ledger),
)
