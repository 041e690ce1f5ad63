package guard

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrouter"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/lesson"
)

// Pack is a pack of rules and what its rules do.
type Pack struct {
	Name    string     `json:"name"`
	Version int        `json:"version"`
	About   string     `json:"about"`
	Mode    rule.Mode  `json:"mode"`    // off, warn or block
	Default rule.Mode  `json:"default"` // while nobody has said otherwise
	Rules   int        `json:"rules"`
	By      string     `json:"changed_by,omitempty"`
	At      *time.Time `json:"changed_at,omitempty"`
}

// PackList is the answer to a question for the packs.
type PackList struct {
	Packs []Pack `json:"packs"`
	Count int    `json:"count"`
}

// PackDraft switches packs.
type PackDraft struct {
	Names []string  `json:"names,omitempty" doc:"Which packs; with all they are left out"`
	All   bool      `json:"all,omitempty" doc:"Every pack"`
	Mode  rule.Mode `json:"mode" enum:"off,warn,block"`
	By    string    `json:"changed_by,omitempty"` // empty: the token's agent
}

// Explained says what the guard reads in an action, and what it would say of it. It is no check: nothing is
// written, and no rule counts it.
type Explained struct {
	Decision rule.Decision `json:"decision"`
	Matches  []Explanation `json:"matching_patterns"`
	Acts     []ActRead     `json:"acts"`                   // the commands that the action comes to
	Off      []Explanation `json:"switched_off,omitempty"` // what packs would say that are off
	Notes    []string      `json:"notes"`                  // what the guard could not do
	// Allowed is the standing permission by which it would be let through all the same.
	Allowed *lesson.Permission `json:"allowed_by,omitempty"`
}

// Explanation is a match and how sure it is.
type Explanation struct {
	rule.Match
	Pack string `json:"pack,omitempty"`
	Sure string `json:"sure"` // certain, likely or perhaps
}

// ActRead is one command of an action, as the guard read it.
type ActRead struct {
	Command string   `json:"command"`
	Program string   `json:"program"`
	Harms   []string `json:"harms"` // what packs may say of it
}

// maxExplained bounds the commands that an explanation shows.
const maxExplained = 50

// packed are the packs with their modes: what is stored, else what the program gives them.
func packed(states []lesson.PackState) map[string]lesson.PackState {
	all := map[string]lesson.PackState{}
	for _, p := range rule.Packs() {
		all[p.Name] = lesson.PackState{Name: p.Name, Mode: p.Default}
	}
	for _, s := range states {
		if _, known := all[s.Name]; known { // a pack of a later version is left alone
			all[s.Name] = s
		}
	}
	return all
}

// usePacks takes in the rules of the packs as their modes have them.
func (g *Guards) usePacks(states []lesson.PackState) {
	modes := packed(states)
	var kept []*heldRule
	var gone []string
	for _, p := range rule.Packs() {
		mode := modes[p.Name].Mode
		for _, r := range p.Rules {
			if mode == rule.ModeOff {
				gone = append(gone, r.Draft.ID)
				continue
			}
			kept = append(kept, g.ofPack(p.Name, mode, r))
		}
	}
	g.drop(gone...)
	g.keep(kept...)
}

// ofPack is a pack's rule in a mode. One that was demoted stays so.
func (g *Guards) ofPack(pack string, mode rule.Mode, r *rule.Rule) *heldRule {
	source := RuleOfPack
	if pack == rule.PackBuiltins {
		source = RuleBuiltin
	}
	k := &heldRule{source: source, pack: pack, mode: mode, draft: r.Draft, rule: r, active: true, belief: lesson.Belief{InitialConfidence: r.Draft.Confidence, ConfidenceAt: g.now()}}
	if old := g.before(r.Draft.ID); old != nil {
		k.demoted = old.demoted
		if old.rule != nil {
			k.belief = old.belief
		}
	}
	k.draft.WarnOnly = k.warnsOnly()
	k.rule = r.Warning(k.draft.WarnOnly)
	return k
}

// warnsOnly reports whether the rule may not block: it was demoted, or its pack only warns.
func (k *heldRule) warnsOnly() bool { return k.demoted || k.mode == rule.ModeWarn }

// Packs implements Service. It needs ScopeRead.
func (g *Guards) Packs(ctx context.Context) (PackList, error) {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead); err != nil {
		return PackList{}, err
	}
	states, err := g.store.PackStates(ctx)
	if err != nil {
		return PackList{}, err
	}
	modes := packed(states)
	list := PackList{Packs: []Pack{}}
	for _, p := range rule.Packs() {
		s := modes[p.Name]
		pack := Pack{Name: p.Name, Version: p.Version, About: p.About, Mode: s.Mode, Default: p.Default, Rules: len(p.Rules), By: s.By}
		if !s.At.IsZero() {
			pack.At = &s.At
		}
		list.Packs = append(list.Packs, pack)
	}
	list.Count = len(list.Packs)
	return list, nil
}

// SetPacks implements Service. It needs ScopeCaptain: a pack that is weakened protects nobody, and one
// that is switched on may stop every agent.
func (g *Guards) SetPacks(ctx context.Context, draft PackDraft) (PackList, error) {
	p := skillrouter.PrincipalOf(ctx)
	if err := p.Need(skillrouter.ScopeCaptain); err != nil {
		return PackList{}, err
	}
	by, err := p.SpeakingAs("changed_by", draft.By)
	if err != nil {
		return PackList{}, err
	}
	names, err := packNames(draft)
	if err != nil {
		return PackList{}, err
	}
	g.packing.Lock() // the rules in memory follow the rows in the order of the commits
	defer g.packing.Unlock()
	at := g.clock()
	var states []lesson.PackState
	err = g.store.Change(ctx, func(tx lesson.PipelineTx) error {
		old, err := tx.PackStates()
		if err != nil {
			return err
		}
		modes := packed(old)
		for _, name := range names {
			before := modes[name]
			if before.Mode == draft.Mode {
				continue
			}
			if err := tx.PutPackState(lesson.PackState{Name: name, Mode: draft.Mode, By: by, At: at}); err != nil {
				return err
			}
			told := lesson.GuardEvent{Reason: fmt.Sprintf("the pack %s was %s, and is %s", name, before.Mode, draft.Mode)}
			if err := lesson.AddEvent(tx, skillrouter.Event{Type: lesson.EventPackChanged, Subject: name, Agent: by, At: at}, told); err != nil {
				return err
			}
		}
		states, err = tx.PackStates()
		return err
	}, func() { g.usePacks(states) })()
	if err != nil {
		return PackList{}, err
	}
	return g.Packs(ctx)
}

// packNames are the packs that a draft means.
func packNames(draft PackDraft) (names []string, err error) {
	if err := skillrouter.CheckOneOf("mode", draft.Mode, rule.Modes()); err != nil {
		return nil, err
	}
	for _, p := range rule.Packs() {
		names = append(names, p.Name)
	}
	switch {
	case draft.All && len(draft.Names) > 0:
		return nil, skillrouter.InvalidField("names", "and all exclude each other")
	case draft.All:
		return names, nil
	case len(draft.Names) == 0:
		return nil, skillrouter.InvalidField("names", "is required: one of %s, or all", strings.Join(names, ", "))
	}
	for _, n := range draft.Names {
		if !slices.Contains(names, n) {
			return nil, skillrouter.InvalidField("names", "%q is no pack: there are %s", n, strings.Join(names, ", "))
		}
	}
	return draft.Names, nil
}

// Explain implements Service. It needs ScopeRead.
func (g *Guards) Explain(ctx context.Context, action rule.Action) (Explained, error) {
	p := skillrouter.PrincipalOf(ctx)
	if err := p.Need(skillrouter.ScopeRead); err != nil {
		return Explained{}, err
	}
	if err := checkProposal(action); err != nil {
		return Explained{}, err
	}
	if err := withoutNUL(action); err != nil {
		return Explained{}, err
	}
	verdict := g.guard.Judge(ctx, action)
	g.fill(verdict.Matches, g.clock())
	allowed := g.permitted(action, verdict)
	explained := Explained{Decision: verdict.Decision, Allowed: allowed, Matches: g.explanations(verdict.Matches), Acts: []ActRead{}, Notes: listed(verdict.Notes)}
	for _, a := range rule.Acts(ctx, action) {
		if len(explained.Acts) >= maxExplained {
			break
		}
		read := ActRead{Command: rule.Short(a.Text()), Program: a.Name, Harms: []string{}}
		for _, h := range a.Harms() {
			read.Harms = append(read.Harms, string(h))
		}
		explained.Acts = append(explained.Acts, read)
	}
	if allowed != nil {
		*allowed = allowed.Shown(p)
		verdict.Lift("")
		explained.Decision = verdict.Decision
	}
	var off []*rule.Rule
	for _, p := range rule.Packs() {
		for _, r := range p.Rules {
			if _, err := g.held(r.Draft.ID); err != nil {
				off = append(off, r.In(rule.ModeBlock))
			}
		}
	}
	if len(off) > 0 {
		for _, m := range rule.New(off, rule.Options{}).Judge(ctx, action).Matches {
			if m.Lane != rule.LaneSimilarity {
				explained.Off = append(explained.Off, g.explanations([]rule.Match{m})...)
			}
		}
	}
	return explained, nil
}

// explanations says of matches how sure they are, and of which pack.
func (g *Guards) explanations(matches []rule.Match) []Explanation {
	out := []Explanation{}
	for _, m := range matches {
		e := Explanation{Match: m, Sure: "certain"}
		switch {
		case m.Near, m.Lane == rule.LaneUnread:
			e.Sure = "likely"
		case m.Lane == rule.LaneSimilarity:
			e.Sure = "perhaps"
		}
		for _, p := range rule.Packs() {
			if slices.ContainsFunc(p.Rules, func(r *rule.Rule) bool { return r.Draft.ID == m.RuleID }) {
				e.Pack = p.Name
			}
		}
		if e.Alternatives == nil {
			e.Alternatives = []string{}
		}
		out = append(out, e)
	}
	return out
}
