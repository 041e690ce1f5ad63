package httpapi

import "skillrouter/learning/guard"

func (s *Server) guardRoutes(guard guard.Service) {
	const id = "The rule's id, percent-encoded as one segment of the path"
	at := s.at("guard", "/check")
	at.post("/anti-pattern", "Judge a proposed action before it is taken: a command in proposed_action, or a call of tool with args", sent(guard.Check))
	at.post("/outcome", "Say what was done after a check, and how it went", sent(guard.Outcome))
	at.get("/rules", "The rules and how they did: the built-in ones first, then the newest first", asked(guard.Rules))
	at.get("/rules/{id}", "One rule and how it did", named(guard.Rule).saying(id))
	at.post("/rules/{id}/restore", "Let a rule that was demoted to warning block again", changed(guard.RestoreRule).saying(id))
	at.get("/packs", "The packs of rules, and whether they are off, warn or block, everywhere or in a project", asked(guard.Packs))
	at.post("/packs", "Switch packs off, to warn or to block, everywhere or in a project; for the captain", sent(guard.SetPacks))
	at.post("/packs/add", "Add a team's own pack, or a higher version of it; one bad row refuses it as a whole; for the captain", sent(guard.AddPack))
	at.delete("/packs/{id}", "Remove a team's own pack; for the captain", named(guard.RemovePack).saying("The pack's name"))
	at.get("/approvals", "What was blocked and may be allowed by a person, newest first", asked(guard.Approvals))
	at.post("/approvals/{id}/approve", "Allow exactly this, once or again and again; for a person, never for an agent's token nor while no token was issued", changed(guard.Approve))
	at.post("/approvals/{id}/deny", "Refuse it; for a person", changed(guard.Deny))
	at.get("/permissions", "The standing permissions, newest first", bare(guard.Permissions))
	at.post("/permissions/{id}/revoke", "End a standing permission at once; for a person", verb(guard.RevokePermission))
	at.post("/explain", "What the guard reads in an action and would say of it; no check is made", sent(guard.Explain))
	at.post("/offline", "Hand over what hooks judged by their copy of the rules while the router was away; each check is stored once", sent(guard.Offline))
	at.get("/ledger", "The checks that were made, newest first", asked(guard.Ledger))
}
