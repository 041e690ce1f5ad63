package guard

import (
	"slices"
	"strings"

	"skillrouter/learning/guard/rule"
)

// Copy is what hooks judge by while the router is away. Its Router and Version are the caller's to say.
func (g *Guards) Copy() rule.Copy {
	c := rule.Copy{At: g.clock(), Packs: map[string]rule.Mode{}, Demoted: []string{}, Rules: []rule.RuleDraft{}}
	for _, p := range rule.Packs() {
		c.Packs[p.Name] = rule.ModeOff // one that is on has rules
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	for id, k := range g.rules {
		switch {
		case k.pack != "":
			c.Packs[k.pack] = k.mode
			if k.demoted {
				c.Demoted = append(c.Demoted, id)
			}
		case k.active && k.rule != nil && k.rule.Deterministic():
			c.Rules = append(c.Rules, k.rule.Draft)
		}
	}
	slices.Sort(c.Demoted)
	slices.SortFunc(c.Rules, func(a, b rule.RuleDraft) int { return strings.Compare(a.ID, b.ID) })
	return c
}

// Changed receives after the rules have changed. It is for one reader.
func (g *Guards) Changed() <-chan struct{} { return g.changed }

// tell says that the rules have changed; g.mu is held.
func (g *Guards) tell() {
	select {
	case g.changed <- struct{}{}:
	default: // it is known already
	}
}
