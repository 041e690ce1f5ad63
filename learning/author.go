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

// mayChange returns a Forbidden error unless p wrote the entry or is a captain.
func mayChange(p skillrouter.Principal, entry Knowledge) error {
	if p.Has(skillrouter.ScopeCaptain) || p.Has(skillrouter.ScopeAgent) && p.AgentID != "" && p.AgentID == entry.Author {
		return nil
	}
	return skillrouter.Errorf(skillrouter.Forbidden, "another agent wrote this entry: only its author or a captain may change it")
}
