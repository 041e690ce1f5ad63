package learning

import (
	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// MayReplace returns a Forbidden error unless p may write over or delete what
// owner wrote last for a persona: as that agent, or as a captain; for the personas
// that are everybody's, any agent may. What nobody in particular wrote, such as a
// file that a person edits, is the captains'.
func MayReplace(p principal.Principal, persona, owner string) error {
	if persona == check.DefaultPersona || persona == check.SharedPersona || owner != "" && p.ActAs(owner) == nil || p.Has(principal.ScopeCaptain) {
		return nil
	}
	return errs.Errorf(errs.Forbidden, "another agent wrote this for the persona %s: only that agent or a captain may change it; what is for the persona %s or %s any agent may",
		persona, check.DefaultPersona, check.SharedPersona)
}
