package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// heldRule is a rule as the service holds it. It does not change; a change puts another in its place.
type heldRule struct {
	source  string
	project string // of the lesson that it is of; empty: it is of none, or of several
	maker   string // the agent that reported its lesson
	vouched bool   // somebody else validated its lesson
	number  int64
	draft   rule.RuleDraft // as its source has it
	rule    *rule.Rule     // with what became of it; nil: there is nothing to recognise it by
	notes   []string
	belief  lesson.Belief
	active  bool // checks see it
	demoted bool
	// confined: an agent's token made it, and it blocks that agent alone. It stands in the
	// database as a demotion with the reason that confinement gives, and is lifted as one.
	confined bool
}

// confinedTail ends the reason of a confinement.
const confinedTail = "'s token made it: it blocks only that agent, and warns others, until a captain restores it or another agent validates it (see agents_may_stop)"

// confinement is why the rule of an agent is confined, as its standing says it. It names the
// agent, so that no agent confines another's rule by a report that is refused afterwards.
func confinement(agent string) string { return agent + confinedTail }

// Confines tells whether rules that p makes are confined.
func (g *Guards) Confines(p principal.Principal) bool {
	return g.options.Confine && !p.Has(principal.ScopeCaptain)
}

// Confined tells whether a lesson's rule is.
func (g *Guards) Confined(id string) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if k := g.rules[id]; k != nil {
		return k.confined
	}
	return strings.HasSuffix(g.standings[id].DemotedReason, confinedTail) // its lesson is stored in the transaction that asks
}

// under returns the rule with what became of it: it does all it can, only warns, or blocks the agent alone that made it, and its
// kind, until somebody vouches for it.
func (k *heldRule) under(s lesson.GuardStanding) *heldRule {
	next := *k
	next.confined = s.DemotedAt != nil && strings.HasSuffix(s.DemotedReason, confinedTail)
	next.demoted = s.DemotedAt != nil
	if next.confined && (k.vouched || s.DemotedReason != confinement(k.maker)) {
		next.confined, next.demoted = false, false
	}
	onlyFor := ""
	if next.confined {
		onlyFor = k.maker
	}
	next.rule = k.rule.Limited(k.draft.WarnOnly || next.demoted && onlyFor == "", onlyFor)
	if s.Belief != nil && k.source != RuleOfLesson {
		next.belief = *s.Belief
	}
	return &next
}

// stand takes in what became of rules.
func (g *Guards) stand(standings ...lesson.GuardStanding) {
	var moved []*heldRule
	g.mu.Lock()
	for _, s := range standings {
		g.standings[s.RuleID] = s
		if k := g.rules[s.RuleID]; k != nil {
			moved = append(moved, k.under(s))
		}
	}
	g.hold(moved)
	g.mu.Unlock()
}

// standing is what is known to have become of a rule.
func (g *Guards) standing(id string) lesson.GuardStanding {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.standings[id]
}

// blocks tells whether a match of the rule stops an action.
func (k *heldRule) blocks() bool {
	return k.active && k.rule != nil && k.rule.Deterministic() && k.rule.Blocks() && !k.confined
}

func (k *heldRule) shown(s lesson.GuardStanding, at time.Time) Rule {
	d := k.draft
	r := Rule{
		ID: d.ID, Source: k.source, Number: k.number, Title: d.Title, WhyBad: d.Reason, Severity: d.Severity, Domain: d.Domain, Category: d.Category,
		Tags: defaults.List(d.Tags), Commands: defaults.List(d.Commands), TriggerPattern: d.Pattern, Alternatives: defaults.List(d.Alternatives),
		Active: k.active, Deterministic: k.rule != nil && k.rule.Deterministic(), Blocks: k.blocks(), Demoted: k.demoted,
		DemotedAt: s.DemotedAt, DemotedReason: s.DemotedReason, Forced: s.Forced, UnusedCommands: []string{}, Notes: defaults.List(k.notes),
		Confidence: k.belief.At(at), Precision: s.Precision(), TimesTriggered: s.TimesTriggered, LastTriggered: s.LastTriggered,
		Heeded: s.Heeded, Overridden: s.Overridden, OverriddenSuccess: s.OverriddenSuccess, OverriddenFailure: s.OverriddenFailure, OverriddenPartial: s.OverriddenPartial,
	}
	switch k.source {
	case RuleOfLesson:
		r.LessonID = d.ID
	case RuleOfPattern:
		r.PatternID = d.ID
	}
	if k.rule != nil {
		r.UnusedCommands = defaults.List(k.rule.Unused())
	}
	return r
}

// Load reads the rules from the database. It is called before the first check.
func (g *Guards) Load(ctx context.Context) error {
	if err := g.loadPacks(ctx); err != nil {
		return err
	}
	standings, err := g.store.GuardStandings(ctx, nil)
	if err != nil {
		return err
	}
	g.stand(standings...)
	if err := g.store.ScanRules(ctx, func(chunk []lesson.Lesson) error {
		g.KeepRules(chunk...)
		return ctx.Err()
	}); err != nil {
		return err
	}
	filter := lesson.PatternFilter{Type: lesson.PatternAntiPattern, Statuses: []lesson.PatternStatus{lesson.PatternConfirmed}, Limit: learning.MaxLimit}
	for ; filter.Offset <= lesson.MaxOffset; filter.Offset += learning.MaxLimit {
		patterns, err := g.store.ListPatterns(ctx, filter)
		if err != nil {
			return err
		}
		for _, p := range patterns {
			if err := g.loadPattern(ctx, p); err != nil {
				return err
			}
		}
		if len(patterns) < learning.MaxLimit {
			break
		}
	}
	return nil
}

func (g *Guards) loadPattern(ctx context.Context, p lesson.Pattern) error {
	lessons, err := g.store.Lessons(ctx, p.LessonIDs)
	if err == nil {
		g.KeepPattern(p, lessons)
	}
	return err
}

func (g *Guards) loadPacks(ctx context.Context) error {
	states, err := g.store.PackStates(ctx)
	if err != nil {
		return err
	}
	packs, known := g.heldPacks(states), []string{allPacks, noPacks}
	for _, p := range packs {
		known = append(known, p.Name)
	}
	for _, name := range g.options.Packs {
		if !slices.Contains(known, name) || len(g.options.Packs) > 1 && (name == allPacks || name == noPacks) {
			return errs.InvalidField("guard.packs", "takes all, none, or names of packs, of which there are %s: not %q", strings.Join(known[2:], ", "), strings.Join(g.options.Packs, ","))
		}
	}
	g.usePacks(packs)
	return nil
}

// keep puts rules in the place of those with their ids.
func (g *Guards) keep(rules ...*heldRule) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hold(rules)
}

// hold is keep while g.mu is held: the guard's changes must come in the order of these.
func (g *Guards) hold(rules []*heldRule) {
	var put []*rule.Rule
	var remove []string
	for _, k := range rules {
		old := g.rules[k.draft.ID]
		g.rules[k.draft.ID] = k
		switch {
		case k.rule == nil:
			remove = append(remove, k.draft.ID)
		case old == nil || old.rule != k.rule:
			put = append(put, k.rule)
		}
	}
	g.guard.Put(put...)
	g.guard.Remove(remove...)
	g.tell()
}

// drop takes rules out. What became of them stays known: nobody restores a rule by taking its lesson or pattern out of use for a while.
func (g *Guards) drop(ids ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range ids {
		delete(g.rules, id)
	}
	g.guard.Remove(ids...)
	g.tell()
}

// draft is the rule that an anti_pattern lesson makes.
func draft(l *lesson.Lesson) rule.RuleDraft {
	alternatives := slices.Clone(l.Alternatives)
	if l.Solution != "" && !slices.Contains(alternatives, l.Solution) {
		alternatives = append(alternatives, l.Solution)
	}
	if l.Trust != learning.TrustPerson && !l.Vouched() {
		alternatives = slices.DeleteFunc(alternatives, func(a string) bool { return learning.Foreign(a) != "" })
	}
	return rule.RuleDraft{
		ID: l.ID, Title: l.Title, Reason: cmp.Or(l.Context, l.RootCause, l.Outcome), Commands: l.RelatedCommands, Action: l.Action, Pattern: l.TriggerPattern, Severity: l.Severity,
		Block: l.BlockAction, Confidence: l.InitialConfidence, Domain: l.Domain, Category: l.Category, Tags: l.Tags, Alternatives: alternatives,
	}
}

// compile makes a rule of a draft. What a rule cannot be recognised by is told in notes.
func compile(draft rule.RuleDraft) (r *rule.Rule, notes []string, err error) {
	r, err = rule.NewRule(draft)
	if errors.Is(err, rule.ErrNothingToRecognise) {
		return nil, []string{"there is nothing to recognise it by: name commands in related_commands, or say more in the title"}, nil
	}
	if wide, ok := errors.AsType[*rule.TooWide](err); ok {
		return nil, []string{"no rule is made of it: " + wide.Error()}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, c := range r.Unused() {
		notes = append(notes, fmt.Sprintf("%q is no trigger: it only looks, only names a program, stands for any command or any file, or is what the rule recommends", rule.Short(c)))
	}
	if !r.Deterministic() {
		notes = append(notes, "nothing in it reads as a command: the rule can only warn, where an action is worded like its title; related_commands would let it recognise the act")
	}
	return r, notes, nil
}

// CheckRule implements lesson.ruleKeeper. A forced rule is remembered as such before
// its lesson is stored: after the commit nothing may be written.
func (g *Guards) CheckRule(ctx context.Context, l lesson.Lesson, force bool) (notes []string, err error) {
	draft := draft(&l)
	rule, notes, err := compile(draft)
	if force {
		// Forced and unforced differ in what they take for a trigger, too.
		forced, more, failed := compile(draft.Forced())
		switch {
		case failed == nil && (err != nil || !slices.Equal(notes, more)):
			draft, rule, notes, err = draft.Forced(), forced, more, nil
		case err != nil:
			err = failed
		}
	}
	if err != nil {
		if f, ok := errors.AsType[*errs.Error](err); ok && f.Field == "pattern" {
			renamed := *f
			renamed.Field = "trigger_pattern"
			err = &renamed
		}
		return nil, err
	}
	confined := rule != nil && rule.Blocks() && g.Confines(principal.Of(ctx)) && g.mayConfine(&l)
	if confined {
		notes = append(notes, confinement(l.SourceAgent))
	}
	if !draft.Force && !confined {
		return notes, nil
	}
	var s lesson.GuardStanding
	err = g.store.Change(ctx, func(tx lesson.PipelineTx) (err error) {
		if s, err = tx.GuardStanding(l.ID); err != nil {
			return err
		}
		s.Forced = s.Forced || draft.Force
		if confined && s.DemotedAt == nil {
			s.DemotedAt, s.DemotedReason = new(g.clock()), confinement(l.SourceAgent)
		}
		return tx.PutGuardStanding(s)
	}, func() { g.stand(s) })()
	return notes, err
}

// mayConfine tells whether a lesson that is checked would be confined: a new one, or one that is edited
// and does not block everybody already. What a report calls by the id of a rule that is there stays as that is.
func (g *Guards) mayConfine(l *lesson.Lesson) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	k := g.rules[l.ID]
	return k == nil || l.Number > 0 && !k.blocks()
}

// KeepRules implements lesson.ruleKeeper. It runs after a commit, in commit order.
func (g *Guards) KeepRules(lessons ...lesson.Lesson) {
	var kept []*heldRule
	for i := range lessons {
		l := &lessons[i]
		if !l.Rule() {
			g.drop(l.ID)
			continue
		}
		g.mu.RLock()
		old, s := g.rules[l.ID], g.standings[l.ID]
		g.mu.RUnlock()
		kept = append(kept, g.ofLesson(l, s, old))
	}
	g.keep(kept...)
}

// sameRule tells whether two drafts of a lesson make the same rule, the settings that others than its writer chose apart.
func sameRule(a, b rule.RuleDraft) bool {
	return a.ID == b.ID && a.Title == b.Title && a.Reason == b.Reason && a.Action == b.Action && a.Pattern == b.Pattern && a.Severity == b.Severity &&
		a.Block == b.Block && a.Domain == b.Domain && a.Category == b.Category &&
		slices.Equal(a.Commands, b.Commands) && slices.Equal(a.Tags, b.Tags) && slices.Equal(a.Alternatives, b.Alternatives)
}

// ofLesson makes the rule of a stored lesson. It compiles nothing if old, the rule before, is the same. What was once accepted is
// never dropped: a pattern that is too costly by now is left out, with a note.
func (g *Guards) ofLesson(l *lesson.Lesson, s lesson.GuardStanding, old *heldRule) *heldRule {
	k := &heldRule{source: RuleOfLesson, project: l.Project, maker: l.SourceAgent, vouched: l.Vouched(), number: l.Number, draft: draft(l), belief: l.Belief}
	k.draft.Force = s.Forced
	if old != nil && old.draft.Force == s.Forced && sameRule(old.draft, k.draft) {
		k.rule, k.notes, k.active = old.rule, old.notes, old.active
	} else {
		g.compileHeld(k)
	}
	return k.under(s)
}

// compileHeld makes the rule of its draft, as far as that goes.
func (g *Guards) compileHeld(k *heldRule) {
	var err error
	k.rule, k.notes, err = compile(k.draft)
	if err != nil && !k.draft.Force {
		forced := k.draft.Forced()
		if rule, notes, failed := compile(forced); failed == nil {
			k.draft, k.rule, k.notes, err = forced, rule, notes, nil
		}
	}
	if err != nil && k.draft.Pattern != "" {
		plain := k.draft.Forced()
		plain.Pattern = ""
		if rule, notes, failed := compile(plain); failed == nil {
			k.rule, k.notes = rule, append(notes, "its trigger_pattern is not used: "+err.Error())
			err = nil
		}
	}
	if err != nil {
		k.rule, k.notes = nil, []string{"it is no rule: " + err.Error()}
		g.log.Warn("a lesson is no guard rule", "lesson", k.draft.ID, "error", err)
	}
	k.active = k.rule != nil
}

// KeepPattern implements lesson.patternKeeper: a confirmed anti_pattern is a rule from
// then on, any other pattern no more. Its triggers are the commands of its
// lessons, those apart that are rules themselves. What became of the rule
// before stays with it.
func (g *Guards) KeepPattern(pattern lesson.Pattern, lessons []lesson.Lesson) {
	if pattern.Type != lesson.PatternAntiPattern || pattern.Status != lesson.PatternConfirmed {
		g.drop(pattern.ID)
		return
	}
	if g.options.Confine && pattern.ConfirmedAt != nil { // what joins it later was not seen by who confirmed it
		lessons = slices.DeleteFunc(slices.Clone(lessons), func(l lesson.Lesson) bool { return l.CreatedAt.After(*pattern.ConfirmedAt) })
	}
	draft := lesson.PatternRule(pattern, lessons)
	draft.WarnOnly = g.options.Confine && pattern.ConfirmedBy == "" // its evidence may be one agent's alone
	if pattern.Command == "" {
		draft.Commands = g.commandsOf(lessons)
	}
	draft.Confidence = pattern.InitialConfidence
	k := &heldRule{source: RuleOfPattern, number: pattern.Number, draft: draft, belief: pattern.Belief}
	g.compileHeld(k)
	g.keep(k.under(g.standing(pattern.ID)))
}

// commandsOf returns the commands of lessons that are no rules themselves.
func (g *Guards) commandsOf(lessons []lesson.Lesson) []string {
	var all []string
	for _, l := range lessons {
		if l.Type == learning.LessonAntiPattern {
			continue
		}
		commands := l.RelatedCommands
		if act.LooksCommand(l.Action, commands) {
			commands = append(slices.Clone(commands), l.Action)
		}
		for _, c := range commands {
			if len(all) < rule.MaxCommands && len(c) <= act.MaxCommand && !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}
