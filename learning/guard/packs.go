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
	"github.com/skillrouter/skillrouter/learning"
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

	Team     bool          `json:"team,omitempty"`     // a captain added it
	Projects []PackProject `json:"projects,omitempty"` // where it is otherwise
	Because  string        `json:"because,omitempty"`  // why it is so in the project that was asked for
	Note     string        `json:"note,omitempty"`     // what keeps it from being used
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

// PackFile is a team's own pack, as its file is.
type PackFile struct {
	Text string `json:"text" doc:"The pack: a heading [NAME VERSION MODE], a line about: WHAT IT IS FOR, and rows HARM OR COMMAND | severity | title | reason | alternative"`
	By   string `json:"added_by,omitempty" actor:"true"` // empty: the token's agent
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
	team     bool
	chosen   bool   // the settings say how it is by default
	note     string // why a team's pack cannot be used
	said     *lesson.PackState
	projects []lesson.PackState
}

// modes are what its rules do. In no project the core is weaker than everywhere.
func (p *heldPack) modes() rule.Modes {
	m := rule.Modes{All: p.Default}
	if p.note != "" {
		return m // it has no rules, whatever was said of it
	}
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
	pack := Pack{Name: p.Name, Version: p.Version, About: p.About, Mode: modes.In(project), Default: p.Default, Rules: len(p.Rules), Team: p.team, Note: p.note}
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

// inUse are the packs as checks see them: those of the program first, then the team's by name.
func (g *Guards) inUse() []*heldPack {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.packs
}

// heldPacks are the packs of the program and the team's with what was said of them. Packs that were read already, as those in
// use were, are not read again. What was said of a pack of a later version is left alone.
func (g *Guards) heldPacks(states []lesson.PackState, team []lesson.TeamPack, read ...rule.Pack) []*heldPack {
	var all []*heldPack
	for _, p := range rule.Packs() {
		all = append(all, &heldPack{Pack: p})
	}
	for _, p := range g.inUse() {
		if p.team && p.note == "" {
			read = append(read, p.Pack)
		}
	}
	for _, t := range team {
		if at := slices.IndexFunc(read, func(p rule.Pack) bool { return p.Text == t.Text }); at >= 0 {
			all = append(all, &heldPack{Pack: read[at], team: true})
			continue
		}
		p, err := rule.StoredTeamPack(t.Text)
		next := &heldPack{Pack: p, team: true}
		if err != nil {
			next.Pack, next.note = rule.Pack{Name: t.Name, Version: t.Version, Text: t.Text, Default: rule.ModeOff}, "it is NOT in use, because this version of the program cannot read it: "+err.Error()
			g.log.Warn("a team's pack of guard rules cannot be read", "pack", t.Name, "error", err)
		}
		all = append(all, next)
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
		switch p := named(all, s.Name); {
		case p == nil:
		case s.Project == "":
			p.said = &states[i]
		default:
			p.projects = append(p.projects, s)
		}
	}
	return all
}

// named is the pack of a name, nil if there is none.
func named(packs []*heldPack, name string) *heldPack {
	if at := slices.IndexFunc(packs, func(p *heldPack) bool { return p.Name == name }); at >= 0 {
		return packs[at]
	}
	return nil
}

// usePacks takes in the rules of the packs as their modes have them.
func (g *Guards) usePacks(packs []*heldPack) {
	var kept []*heldRule
	stay := map[string]bool{}
	old := g.inUse()
	for _, p := range packs {
		modes := p.modes()
		same := slices.ContainsFunc(old, func(o *heldPack) bool { return o.Name == p.Name && o.Text == p.Text && o.modes().Equal(modes) })
		for _, r := range p.Rules {
			in := r.Under(modes)
			if stay[r.Draft.ID] = in != nil; in != nil && !same {
				kept = append(kept, g.ofPack(p.Name, in))
			}
		}
	}
	var gone []string
	g.mu.Lock()
	for _, p := range g.packs {
		for _, r := range p.Rules {
			if !stay[r.Draft.ID] {
				gone = append(gone, r.Draft.ID)
			}
		}
	}
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
	return g.changePacks(ctx, draft.Project, func(tx lesson.PipelineTx, packs []*heldPack, at time.Time) error {
		names, err := packNames(draft, packs)
		if err != nil {
			return err
		}
		said := 0
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
		return nil
	})
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
	return lesson.AddEvent(tx, eventlog.Event{Type: lesson.EventPackChanged, Subject: name, Project: project, Agent: by, At: at}, lesson.GuardEvent{Reason: reason})
}

// AddPack implements Service. It needs ScopeCaptain. A pack of the same name gives way to one of a higher version, and stays
// where the new one is refused.
func (g *Guards) AddPack(ctx context.Context, file PackFile) (PackList, error) {
	p := principal.Of(ctx)
	by, err := p.SpeakingAs("added_by", file.By)
	if err := cmp.Or(p.Need(principal.ScopeCaptain), err, p.NeedPerson()); err != nil {
		return PackList{}, err
	}
	var team []rule.Pack
	for _, p := range g.inUse() {
		if p.team {
			team = append(team, p.Pack)
		}
	}
	pack, err := rule.NewTeamPack(ctx, file.Text, team)
	if err != nil {
		return PackList{}, err
	}
	return g.changePacks(ctx, "", func(tx lesson.PipelineTx, packs []*heldPack, at time.Time) error {
		event := fmt.Sprintf("the pack %s was added: version %d, %d rules, %s", pack.Name, pack.Version, len(pack.Rules), pack.Default)
		switch old := named(packs, pack.Name); {
		case old == nil:
			if len(packs)-len(rule.Packs()) >= rule.MaxTeamPacks {
				return errs.InvalidField("text", "is one pack too many: a team has at most %d of its own. Nothing was changed", rule.MaxTeamPacks)
			}
		case old.Text == file.Text:
			return nil
		case pack.Version <= old.Version:
			return &errs.Error{Code: errs.Conflict, Field: "text", Message: fmt.Sprintf("is another pack %s of version %d, and version %d is in use: a changed pack has a higher version. Nothing was changed", pack.Name, pack.Version, old.Version)}
		default:
			if err := p.Decides(); err != nil { // the new one may leave rules out
				return err
			}
			event = fmt.Sprintf("the pack %s was version %d, and is version %d: %d rules", pack.Name, old.Version, pack.Version, len(pack.Rules))
		}
		stored := lesson.TeamPack{Name: pack.Name, Version: pack.Version, Text: file.Text, By: by, At: at}
		return cmp.Or(tx.PutTeamPack(stored), tellPack(tx, pack.Name, "", by, at, event))
	}, pack)
}

// RemovePack implements Service. It needs ScopeCaptain. What was said of the pack goes with it.
func (g *Guards) RemovePack(ctx context.Context, name string) (PackList, error) {
	p := principal.Of(ctx)
	by, err := p.SpeakingAs("removed_by", "")
	if err := cmp.Or(p.Need(principal.ScopeCaptain), err, p.Decides()); err != nil {
		return PackList{}, err
	}
	ctx = learning.Noting(ctx, g.clock(), learning.Deleted, "pack", name)
	return g.changePacks(ctx, "", func(tx lesson.PipelineTx, packs []*heldPack, at time.Time) error {
		old := named(packs, name)
		switch {
		case old == nil:
			return errs.Errorf(errs.NotFound, "no pack has this name")
		case !old.team:
			return errs.Errorf(errs.Conflict, "%s is a pack of the program: it can be switched off, and not removed", name)
		}
		return cmp.Or(tx.RemoveTeamPack(name), tellPack(tx, name, "", by, at, fmt.Sprintf("the pack %s was removed: version %d, %d rules", name, old.Version, len(old.Rules))))
	})
}

// changePacks changes what is stored of packs, and then the rules in memory: in the order of the commits. A pack that was read
// already is not read while the database waits.
func (g *Guards) changePacks(ctx context.Context, project string, change func(tx lesson.PipelineTx, packs []*heldPack, at time.Time) error, read ...rule.Pack) (PackList, error) {
	g.packing.Lock()
	defer g.packing.Unlock()
	var after []*heldPack
	err := g.store.Change(ctx, func(tx lesson.PipelineTx) error {
		packs, err := g.storedPacks(tx.PackStates, tx.TeamPacks, read...)
		if err != nil {
			return err
		}
		if err := change(tx, packs, g.clock()); err != nil {
			return err
		}
		after, err = g.storedPacks(tx.PackStates, tx.TeamPacks, read...)
		return err
	}, func() { g.usePacks(after) })()
	if err != nil {
		return PackList{}, err
	}
	return g.Packs(ctx, PackFilter{Project: project})
}

func (g *Guards) storedPacks(states func() ([]lesson.PackState, error), team func() ([]lesson.TeamPack, error), read ...rule.Pack) ([]*heldPack, error) {
	said, err := states()
	if err != nil {
		return nil, err
	}
	own, err := team()
	if err != nil {
		return nil, err
	}
	return g.heldPacks(said, own, read...), nil
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
	verdict := g.guard.Judge(ctx, action)
	g.fill(verdict.Matches, g.clock())
	allowed, err := g.permitted(ctx, time.After(approvalWait), action, verdict)
	if err != nil {
		return Explained{}, err
	}
	explained := Explained{Decision: verdict.Decision, Allowed: allowed, Matches: g.explanations(action.Project, verdict.Matches), Acts: []ActRead{}, Notes: defaults.List(verdict.Notes)}
	for _, a := range rule.Acts(action) {
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
