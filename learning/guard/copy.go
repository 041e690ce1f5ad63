package guard

import (
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// Copy is what hooks judge by while the router is away. Its Router and Version are the caller's to say.
func (g *Guards) Copy() rule.Copy {
	c := rule.Copy{At: g.clock(), Packs: map[string]rule.Mode{}, Demoted: []string{}, Rules: []rule.RuleDraft{}}
	g.mu.RLock()
	defer g.mu.RUnlock()
	packed := map[string]bool{}
	for _, p := range g.packs {
		modes := p.modes()
		c.Packs[p.Name] = modes.All
		if len(modes.Projects) > 0 {
			if c.Projects == nil {
				c.Projects = map[string]map[string]rule.Mode{}
			}
			c.Projects[p.Name] = modes.Projects
		}
		for _, r := range p.Rules {
			packed[r.Draft.ID] = true
		}
	}
	for id, k := range g.rules {
		switch {
		case packed[id]:
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
func (g *Guards) tell() { committer.Nudge(g.changed) }
