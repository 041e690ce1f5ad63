package guard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
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

	Projects []PackProject `json:"projects,omitempty"` // where it is otherwise
	Because  string        `json:"because,omitempty"`  // why it is so in the project that was asked for
}

// PackProject is a project in which a pack is in a mode of its own.
type PackProject struct {
	Project string    `json:"project"`
	Mode    rule.Mode `json:"mode"`
	By      string    `json:"changed_by,omitempty"`
	At      time.Time `json:"changed_at"`
}

// PackFilter asks for the packs as one project has them.
type PackFilter struct {
	Project string `json:"project,omitempty" doc:"The modes that hold in this project, and why"`
}

// PackList is the answer to a question for the packs.
type PackList struct {
	Packs  []Pack `json:"packs"`
	Count  int    `json:"count"`
	Notice string `json:"notice,omitempty"` // that the passphrase was reset lately
}

// PackDraft switches packs.
type PackDraft struct {
	Names []string  `json:"names,omitempty" doc:"Which packs; with all they are left out"`
	All   bool      `json:"all,omitempty" doc:"Every pack"`
	Mode  rule.Mode `json:"mode" enum:"off,warn,block,default" doc:"default takes back what was said: as everywhere, or as the pack is by itself"`
	// Project is where it shall be so.
	Project string `json:"project,omitempty" doc:"In this project alone; core is in none weaker than everywhere"`
	By      string `json:"changed_by,omitempty" actor:"true"` // empty: the token's agent
}

// ModeDefault takes back what was said of a pack.
const ModeDefault rule.Mode = "default"

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
	Pack    string `json:"pack,omitempty"`
	Because string `json:"because,omitempty"` // why its pack is as it is there
	Sure    string `json:"sure"`              // certain, likely or perhaps
}

// ActRead is one command of an action, as the guard read it.
type ActRead struct {
	Command string   `json:"command"`
	Program string   `json:"program"`
	Harms   []string `json:"harms"` // what packs may say of it
}

// allPacks and noPacks stand for all packs and none in the settings.
const (
	allPacks = "all"
	noPacks  = "none"
)

// maxExplained bounds the commands that an explanation shows.
const maxExplained = 50

// maxPackStates bounds what was said of packs: a hundred projects of a dozen packs.
const maxPackStates = 1200

// heldPack is a pack as it is in use, and what was said of it.
type heldPack struct {
	rule.Pack
	chosen   bool // the settings say how it is by default
	said     *lesson.PackState
	projects []lesson.PackState
}

// modes are what its rules do. In no project the core is weaker than everywhere.
func (p *heldPack) modes() rule.Modes {
	m := rule.Modes{All: p.Default}
	if p.said != nil {
		m.All = p.said.Mode
	}
	for _, s := range p.projects {
		if p.Name == rule.PackCore && s.Mode.Weaker(m.All) {
			continue
		}
		if m.Projects == nil {
			m.Projects = map[string]rule.Mode{}
		}
		m.Projects[s.Project] = s.Mode
	}
	return m
}

// because says why the pack is as it is in a project.
func (p *heldPack) because(project string) string {
	said := func(where string, s *lesson.PackState) string {
		return fmt.Sprintf("%s since %s, by %s", where, s.At.Format(time.DateOnly), cmp.Or(s.By, "somebody without a name"))
	}
	for i, s := range p.projects {
		if s.Project != project || project == "" {
			continue
		}
		if p.modes().In(project) == s.Mode {
			return said("in the project "+project, &p.projects[i])
		}
		return "as everywhere: core is in no project weaker, although " + said(string(s.Mode)+" was set for "+project, &p.projects[i])
	}
	if p.said != nil {
		return said("everywhere", p.said)
	}
	if p.chosen {
		return "by the setting guard.packs"
	}
	return "by default"
}

// shown is the pack for a reader; with a project, as it is there.
func (p *heldPack) shown(project string) Pack {
	modes := p.modes()
	pack := Pack{Name: p.Name, Version: p.Version, About: p.About, Mode: modes.In(project), Default: p.Default, Rules: len(p.Rules)}
	if p.said != nil {
		pack.By, pack.At = p.said.By, &p.said.At
	}
	for _, s := range p.projects {
		pack.Projects = append(pack.Projects, PackProject{Project: s.Project, Mode: modes.In(s.Project), By: s.By, At: s.At})
	}
	if project != "" {
		pack.Because = p.because(project)
	}
	return pack
}

// inUse are the packs as checks see them.
func (g *Guards) inUse() []*heldPack {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.packs
}

// heldPacks are the packs with what was said of them. What was said of a pack of a later version is left alone.
func (g *Guards) heldPacks(states []lesson.PackState) []*heldPack {
	var all []*heldPack
	for _, p := range rule.Packs() {
		all = append(all, &heldPack{Pack: p})
	}
	if len(g.options.Packs) > 0 {
		for _, p := range all {
			p.chosen, p.Default = true, rule.ModeOff
			if slices.Contains(g.options.Packs, p.Name) || slices.Contains(g.options.Packs, allPacks) {
				p.Default = rule.ModeBlock
			}
		}
	}
	for i, s := range states {
		switch at := slices.IndexFunc(all, func(p *heldPack) bool { return p.Name == s.Name }); {
		case at < 0:
		case s.Project == "":
			all[at].said = &states[i]
		default:
			all[at].projects = append(all[at].projects, s)
		}
	}
	return all
}

// usePacks takes in the rules of the packs as their modes have them.
func (g *Guards) usePacks(packs []*heldPack) {
	var kept []*heldRule
	var gone []string
	old := g.inUse()
	for _, p := range packs {
		modes := p.modes()
		if slices.ContainsFunc(old, func(o *heldPack) bool { return o.Name == p.Name && o.modes().Equal(modes) }) {
			continue
		}
		for _, r := range p.Rules {
			if in := r.Under(modes); in != nil {
				kept = append(kept, g.ofPack(p.Name, in))
			} else {
				gone = append(gone, r.Draft.ID)
			}
		}
	}
	g.mu.Lock()
	g.packs = packs
	g.mu.Unlock()
	g.drop(gone...)
	g.keep(kept...)
}

// ofPack is a pack's rule as its modes have it. One that was demoted stays so.
func (g *Guards) ofPack(pack string, r *rule.Rule) *heldRule {
	source := RuleOfPack
	if pack == rule.PackBuiltins {
		source = RuleBuiltin
	}
	k := &heldRule{source: source, draft: r.Draft, rule: r, active: true, belief: lesson.Belief{InitialConfidence: r.Draft.Confidence, ConfidenceAt: g.now()}}
	return k.under(g.standing(r.Draft.ID))
}

// Packs implements Service. It needs ScopeRead.
func (g *Guards) Packs(ctx context.Context, filter PackFilter) (PackList, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), check.Name("project", filter.Project)); err != nil {
		return PackList{}, err
	}
	list := PackList{Packs: []Pack{}}
	for _, p := range g.inUse() {
		list.Packs = append(list.Packs, p.shown(filter.Project))
	}
	list.Count = len(list.Packs)
	if g.options.Notice != nil {
		list.Notice = g.options.Notice()
	}
	return list, nil
}

// SetPacks implements Service. It needs ScopeCaptain: a pack that is weakened protects nobody, and one
// that is switched on may stop every agent. Only a person weakens one: see principal.Principal.Decides.
func (g *Guards) SetPacks(ctx context.Context, draft PackDraft) (PackList, error) {
	p := principal.Of(ctx)
	by, err := p.SpeakingAs("changed_by", draft.By)
	err = cmp.Or(p.Need(principal.ScopeCaptain), err, check.Name("project", draft.Project))
	if err == nil && draft.Mode != rule.ModeBlock {
		err = p.Decides()
	}
	if err != nil {
		return PackList{}, err
	}
	g.packing.Lock() // the rules in memory change in the order of the commits
	defer g.packing.Unlock()
	var after []*heldPack
	err = g.store.Change(ctx, func(tx lesson.PipelineTx) error {
		states, err := tx.PackStates()
		if err != nil {
			return err
		}
		packs, at, said := g.heldPacks(states), g.clock(), 0
		names, err := packNames(draft, packs)
		if err != nil {
			return err
		}
		for _, p := range packs {
			said += len(p.projects)
			if !slices.Contains(names, p.Name) {
				continue
			}
			if draft.Project != "" && p.Name == rule.PackCore && draft.Mode != ModeDefault && draft.Mode.Weaker(p.modes().All) {
				return errs.InvalidField("project", "is no place for a weaker core: it holds in every project. Leave core out, or switch it everywhere")
			}
			if err := switchPack(tx, p, draft, by, at); err != nil {
				return err
			}
		}
		if draft.Project != "" && draft.Mode != ModeDefault && said+len(names) > maxPackStates {
			return errs.InvalidField("project", "is one too many: something else is said of packs in projects %d times already", said)
		}
		states, err = tx.PackStates()
		after = g.heldPacks(states)
		return err
	}, func() { g.usePacks(after) })()
	if err != nil {
		return PackList{}, err
	}
	return g.Packs(ctx, PackFilter{Project: draft.Project})
}

// switchPack stores what a draft says of a pack, and tells of it, unless that changes nothing.
func switchPack(tx lesson.PipelineTx, p *heldPack, draft PackDraft, by string, at time.Time) error {
	before, said := p.Default, p.said != nil
	where := ""
	if said {
		before = p.said.Mode
	}
	after := p.Default
	if draft.Project != "" {
		before, after, where = p.modes().In(draft.Project), p.modes().All, " in the project "+draft.Project
		said = slices.ContainsFunc(p.projects, func(s lesson.PackState) bool { return s.Project == draft.Project })
	}
	event := fmt.Sprintf("the pack %s was %s%s, and is ", p.Name, before, where)
	switch {
	case draft.Mode == ModeDefault && !said, draft.Mode == before && (said || draft.Project == ""):
		return nil
	case draft.Mode == ModeDefault:
		return cmp.Or(tx.RemovePackState(p.Name, draft.Project), tellPack(tx, p.Name, draft.Project, by, at, event+string(after)+" again"))
	}
	state := lesson.PackState{Name: p.Name, Project: draft.Project, Mode: draft.Mode, By: by, At: at}
	return cmp.Or(tx.PutPackState(state), tellPack(tx, p.Name, draft.Project, by, at, event+string(draft.Mode)))
}

func tellPack(tx lesson.PipelineTx, name, project, by string, at time.Time, reason string) error {
	return tx.AddEvents(eventlog.Event{Type: lesson.EventPackChanged, Subject: name, Project: project, Agent: by, At: at}.With(lesson.GuardEvent{Reason: reason}))
}

// packNames are the packs that a draft means.
func packNames(draft PackDraft, packs []*heldPack) (names []string, err error) {
	if err := check.OneOf("mode", draft.Mode, append(rule.AllModes(), ModeDefault)); err != nil {
		return nil, err
	}
	for _, p := range packs {
		names = append(names, p.Name)
	}
	switch {
	case draft.All && len(draft.Names) > 0:
		return nil, errs.InvalidField("names", "and all exclude each other")
	case draft.All:
		return names, nil
	case len(draft.Names) == 0:
		return nil, errs.InvalidField("names", "is required: one of %s, or all", strings.Join(names, ", "))
	}
	for _, n := range draft.Names {
		if !slices.Contains(names, n) {
			return nil, errs.InvalidField("names", "%q is no pack: there are %s", n, strings.Join(names, ", "))
		}
	}
	return draft.Names, nil
}

// Explain implements Service. It needs ScopeRead.
func (g *Guards) Explain(ctx context.Context, action rule.Action) (Explained, error) {
	p := principal.Of(ctx)
	if err := cmp.Or(p.Need(principal.ScopeRead), checkProposal(action), withoutNUL(action)); err != nil {
		return Explained{}, err
	}
	verdict, acts := g.guard.Explain(ctx, action)
	g.fill(verdict.Matches, g.clock())
	allowed, err := g.permitted(ctx, time.After(approvalWait), action, verdict)
	if err != nil {
		return Explained{}, err
	}
	explained := Explained{Decision: verdict.Decision, Allowed: allowed, Matches: g.explanations(action.Project, verdict.Matches), Acts: []ActRead{}, Notes: defaults.List(verdict.Notes)}
	for _, a := range acts[:min(len(acts), maxExplained)] {
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
	for _, p := range g.inUse() {
		if p.modes().In(action.Project) != rule.ModeOff {
			continue
		}
		for _, r := range p.Rules {
			off = append(off, r.In(rule.ModeBlock))
		}
	}
	if len(off) > 0 {
		explained.Off = g.explanations(action.Project, rule.New(off, nil).Judge(ctx, action).Matches)
	}
	return explained, nil
}

// explanations says of matches how sure they are, of which pack, and why that is so in the project.
func (g *Guards) explanations(project string, matches []rule.Match) []Explanation {
	out := []Explanation{}
	for _, m := range matches {
		e := Explanation{Match: m, Sure: "certain"}
		switch {
		case m.Near, m.Lane == rule.LaneUnread:
			e.Sure = "likely"
		case m.Lane == rule.LaneSimilarity:
			e.Sure = "perhaps"
		}
		for _, p := range g.inUse() {
			if slices.ContainsFunc(p.Rules, func(r *rule.Rule) bool { return r.Draft.ID == m.RuleID }) {
				e.Pack, e.Because = p.Name, p.because(project)
			}
		}
		e.Alternatives = defaults.List(e.Alternatives)
		out = append(out, e)
	}
	return out
}
