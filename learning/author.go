package learning

import "skillrouter"

// authorOf returns who writes: the agent that the token belongs to or, for a
// token that is nobody's own, who the writer says it is. It is a Forbidden
// error to write as another agent without the right to.
func authorOf(p skillrouter.Principal, claimed string) (string, error) {
	if err := p.Need(skillrouter.ScopeAgent); err != nil {
		return "", err
	}
	if claimed == "" {
		return p.AgentID, nil
	}
	if err := skillrouter.CheckAgentID("agent_id", claimed); err != nil {
		return "", err
	}
	return claimed, p.ActAs(claimed)
}

// mayReplace returns a Forbidden error unless p may write over or delete what
// owner wrote last for a persona: as that agent, or as a captain; for the personas
// that are everybody's, any agent may. What nobody in particular wrote, such as a
// file that a person edits, is the captains'.
func mayReplace(p skillrouter.Principal, persona, owner string) error {
	if persona == skillrouter.DefaultPersona || persona == skillrouter.SharedPersona || owner != "" && p.ActAs(owner) == nil || p.Has(skillrouter.ScopeCaptain) {
		return nil
	}
	return skillrouter.Errorf(skillrouter.Forbidden, "another agent wrote this for the persona %s: only that agent or a captain may change it; what is for the persona %s or %s any agent may",
		persona, skillrouter.DefaultPersona, skillrouter.SharedPersona)
}

// mayChange returns a Forbidden error unless p wrote the entry or is a captain.
func mayChange(p skillrouter.Principal, entry Knowledge) error {
	if p.Has(skillrouter.ScopeCaptain) || p.Has(skillrouter.ScopeAgent) && p.AgentID != "" && p.AgentID == entry.Author {
		return nil
	}
	return skillrouter.Errorf(skillrouter.Forbidden, "another agent wrote this entry: only its author or a captain may change it")
}
