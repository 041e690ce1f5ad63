package learning

import "skillrouter"

// MayReplace returns a Forbidden error unless p may write over or delete what
// owner wrote last for a persona: as that agent, or as a captain; for the personas
// that are everybody's, any agent may. What nobody in particular wrote, such as a
// file that a person edits, is the captains'.
func MayReplace(p skillrouter.Principal, persona, owner string) error {
	if persona == skillrouter.DefaultPersona || persona == skillrouter.SharedPersona || owner != "" && p.ActAs(owner) == nil || p.Has(skillrouter.ScopeCaptain) {
		return nil
	}
	return skillrouter.Errorf(skillrouter.Forbidden, "another agent wrote this for the persona %s: only that agent or a captain may change it; what is for the persona %s or %s any agent may",
		persona, skillrouter.DefaultPersona, skillrouter.SharedPersona)
}
