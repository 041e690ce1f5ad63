// Package guard checks an action before an agent does it. The rules come from lessons and patterns. It
// writes each check into a ledger, and raises or lowers the confidence of a rule by what came of it.
// Package rule compares a rule with a command, and package act knows what a command does.
package guard

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/trace"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/tfidf"
)

// Guards is the Service beside the database: the Guard with rules that
// follow the lessons and patterns, and its ledger. Load reads the rules at
// start; Run does the background work.
type Guards struct {
	store   lesson.PipelineStore
	guard   *rule.Guard
	similar *rule.SimilarByWords
	ledger  *ledger
	base    context.Context // never ends; compiling a rule takes one for its time limits
	now     clock.Clock
	log     *slog.Logger
	options GuardsOptions
	packing sync.Mutex // held while packs are switched
	changed chan struct{}

	mu        sync.RWMutex
	rules     map[string]*heldRule
	standings map[string]lesson.GuardStanding // what is known of rules, also of those that are gone: demotion, force and belief
	packs     []*heldPack                     // in use; another list takes its place
}

var _ Service = (*Guards)(nil)

// GuardsOptions are the settings of Guards. The zero value is usable.
type GuardsOptions struct {
	learning.Options
	// Retention is how long a check is kept in the ledger; 0 keeps checks for ever.
	Retention time.Duration
	// Confine keeps a rule that blocks, and that an agent's token made, to that agent: others
	// are warned, until a captain restores it or another agent validates or promotes it.
	Confine bool
	// Packs are those that the settings choose: their names, all or none; empty: each is as it is by itself.
	Packs []string
	// Notice is said beside the packs; empty, or a nil function: nothing is.
	Notice func() string
	// Enter has the router that writes enter checks into its ledger; nil: this one writes.
	Enter func(ctx context.Context, checks []lesson.CheckRecord) error
	// Failed returns matches of a command with what failed in the project before; nil: there are none.
	Failed func(project, command string) []rule.Match
	// Claimed returns matches of the files that an agent would change with what others work on, what blocks first;
	// nil: there are none.
	Claimed func(agent string, files []rule.File) []rule.Match
}

// NewGuards makes Guards with the packs as the program gives them; Load switches them as a captain did.
func NewGuards(ctx context.Context, store lesson.PipelineStore, options GuardsOptions) *Guards {
	o := options.Options.WithDefaults()
	g := &Guards{
		store: store, similar: rule.NewSimilarByWords(), base: context.WithoutCancel(ctx), now: o.Now, log: o.Log, options: options,
		rules: map[string]*heldRule{}, standings: map[string]lesson.GuardStanding{}, changed: make(chan struct{}, 1),
	}
	g.ledger = newLedger(store, g.clock, o.Log, options.Retention)
	g.ledger.elsewhere = options.Enter
	g.guard = rule.New(nil, g.similar)
	g.usePacks(g.heldPacks(nil))
	return g
}

// Run writes the checks to the ledger behind their verdicts, and removes old
// ones, until ctx ends. It returns nil.
func (g *Guards) Run(ctx context.Context) error { return g.ledger.run(ctx) }

// clock returns the time as it is stored: in UTC and whole milliseconds.
func (g *Guards) clock() time.Time { return g.now().UTC().Truncate(time.Millisecond) }

// Check implements Service. It needs ScopeAgent.
func (g *Guards) Check(ctx context.Context, action rule.Action) (checked Checked, err error) {
	ctx, span := trace.StartSpan(ctx, "guard_check")
	span.Content("skillrouter.guard.action", action.Command)
	defer func() {
		span.Set("gen_ai.operation.name", "guard_check")
		span.Set("skillrouter.guard.decision", string(checked.Decision))
		span.Set("skillrouter.guard.matches", len(checked.Matches))
		span.Finish(err)
	}()
	p, id, err := proposed(ctx, &action)
	if err != nil {
		return Checked{}, err
	}
	begin := time.Now()
	verdict := g.guard.Check(ctx, action)
	if needs := needed(action, verdict); len(needs) > 0 {
		return unjudged(needs), nil
	}
	g.recall(action, &verdict)
	g.leased(action, &verdict)
	ask, said := g.ask(ctx, action, &verdict, id)
	took := time.Since(begin)
	if err := withoutNUL(action); err != nil && verdict.Decision != rule.DecisionBlock {
		return Checked{}, err // what a rule blocks is answered so, whatever else is wrong with it
	}
	checked = g.entered(p, action, verdict, lesson.CheckRecord{ID: id, TookUS: took.Microseconds(), Asks: ask})
	if said != "" {
		checked.Warnings = append(checked.Warnings, said)
	}
	return checked, nil
}

// proposed checks an action that is proposed and completes it, and makes the id of its check.
func proposed(ctx context.Context, action *rule.Action) (p principal.Principal, id string, err error) {
	p = principal.Of(ctx).Keeping()
	action.Agent, err = p.SpeakingAs("agent", action.Agent)
	if err := cmp.Or(err, checkProposal(*action)); err != nil {
		return p, "", err
	}
	if p.Into("project", &action.Project) != nil {
		action.Project = "" // it is judged all the same, and by what holds everywhere
	}
	return p, check.NewID(), nil
}

// entered enters a check into the ledger and answers it. Its record has what the verdict does not say.
func (g *Guards) entered(p principal.Principal, action rule.Action, verdict rule.Verdict, made lesson.CheckRecord) Checked {
	at := g.clock()
	g.fill(verdict.Matches, at)
	checked := g.answered(p, verdict)
	record := recorded(action, verdict)
	record.ID, record.Agent, record.At, record.TookUS, record.Asks = made.ID, action.Agent, at, made.TookUS, made.Asks
	kept, note := g.ledger.enter(record)
	if note != "" {
		checked.Warnings = append(checked.Warnings, note)
	}
	if kept {
		checked.CheckID = made.ID
	}
	if kept && made.Asks != nil {
		checked.ApprovalID, checked.ToAllow = made.Asks.ID, howToAllow(p, made.Asks.ID)
	}
	return checked
}

// needed are the files that whoever asks is to send before the action is judged.
func needed(action rule.Action, verdict rule.Verdict) []string {
	if !action.Offers {
		return nil
	}
	return verdict.Needs[:min(len(verdict.Needs), MaxNeeds)]
}

// unjudged asks for files.
func unjudged(needs []string) Checked {
	return Checked{Needs: needs, Matches: []rule.Match{}, Alternatives: []string{}, Warnings: []string{}, Lanes: []string{}, Decision: rule.DecisionWarn}
}

// leased adds to a verdict what others work on of the files that the action would change.
func (g *Guards) leased(action rule.Action, verdict *rule.Verdict) {
	if files := action.Place.Files(action.Project, verdict.Changes); len(files) > 0 && g.options.Claimed != nil {
		verdict.Join(g.options.Claimed(action.Agent, files))
	}
}

// recall adds what failed before to a verdict. It only warns.
func (g *Guards) recall(action rule.Action, verdict *rule.Verdict) {
	if g.options.Failed == nil {
		return
	}
	command := action.Command
	if text, ok := action.Args["command"].(string); ok && command == "" {
		command = text
	}
	if command != "" && len(command) <= MaxProposal {
		verdict.Join(g.options.Failed(action.Project, command))
	}
}

// withoutNUL refuses texts that hold NUL: no shell takes them, and other programs cut them there.
func withoutNUL(a rule.Action) error {
	for _, text := range []struct{ field, value string }{{"proposed_action", a.Command}, {"context", a.Context}} {
		if strings.IndexByte(text.value, 0) >= 0 {
			return errs.InvalidField(text.field, "may not hold the character NUL")
		}
	}
	return nil
}

// checkProposal refuses what no check could be of. It is sparing: an action
// that is refused here is an action that nobody judged.
func checkProposal(a rule.Action) error {
	if err := cmp.Or(rule.CheckAction(a), check.Names("tool", a.Tool, "domain", a.Domain, "project", a.Project)); err != nil {
		return err
	}
	for field, value := range map[string]string{"proposed_action": a.Command, "context": a.Context} {
		if len(value) > MaxProposal {
			return &errs.Error{Code: errs.TooLarge, Field: field, Message: "is longer than 1 MB"}
		}
	}
	if len(a.Files) > maxSent {
		return errs.InvalidField("files", "holds more than %d files", maxSent)
	}
	return nil
}

// fill puts what is left of the rules' confidence into matches, and a list where there is none.
func (g *Guards) fill(matches []rule.Match, at time.Time) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for i := range matches {
		if kept := g.rules[matches[i].RuleID]; kept != nil {
			matches[i].Confidence = kept.belief.At(at)
		}
		matches[i].Alternatives = defaults.List(matches[i].Alternatives)
	}
}

// answered puts a verdict into the words of an answer to p. It is as strict to who is bound to projects: of
// what another project taught the guard, it says no more than that it is there.
func (g *Guards) answered(p principal.Principal, v rule.Verdict) Checked {
	if p.Walled() {
		v.Matches = slices.Clone(v.Matches)
		for i, m := range v.Matches {
			if !g.sees(p, m) {
				v.Matches[i] = rule.Match{Title: "a rule of another project", Severity: m.Severity, Lane: m.Lane, Alternatives: []string{}, Confidence: 1, Blocks: m.Blocks}
			}
		}
	}
	return Answered(v)
}

// sees tells whether p may read the rule of a match. What failed before was looked for in p's project.
func (g *Guards) sees(p principal.Principal, m rule.Match) bool {
	if m.Lane == rule.LaneIncident || m.RuleID == rule.RuleUnread {
		return true
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	k := g.rules[m.RuleID]
	return k != nil && (shipped(k) < 2 || k.project != "" && p.Sees(k.project))
}

// Answered puts a verdict into the words of an answer.
func Answered(v rule.Verdict) Checked {
	c := Checked{Blocked: v.Decision == rule.DecisionBlock, Matches: v.Matches, Decision: v.Decision, Alternatives: []string{}, Warnings: []string{}, Lanes: []string{}}
	for _, m := range v.Matches {
		c.Warnings = append(c.Warnings, strings.TrimSuffix("⚠️ "+m.Title+": "+m.WhyBad, ": "))
		for _, a := range m.Alternatives {
			if !slices.Contains(c.Alternatives, a) {
				c.Alternatives = append(c.Alternatives, a)
			}
		}
		if !slices.Contains(c.Lanes, m.Lane) {
			c.Lanes = append(c.Lanes, m.Lane)
		}
	}
	c.Warnings = append(c.Warnings, v.Notes...)
	return c
}

// Rules implements Service. It needs ScopeRead.
func (g *Guards) Rules(ctx context.Context, filter RuleFilter) (RulePage, error) {
	limit, err := check.Limit(filter.Limit, DefaultRuleLimit, learning.MaxLimit)
	if err := cmp.Or(
		principal.Of(ctx).Need(principal.ScopeRead), err,
		check.Optional("severity", filter.Severity, learning.Severities()),
		check.Optional("source", filter.Source, []string{RuleOfLesson, RuleOfPattern, RuleBuiltin, RuleOfPack}),
	); err != nil {
		return RulePage{}, err
	}
	fitting := g.fitting(filter)
	page := RulePage{Rules: []Rule{}, Total: len(fitting)}
	if filter.Cursor != "" {
		after := slices.IndexFunc(fitting, func(k *heldRule) bool { return k.draft.ID == filter.Cursor })
		if after < 0 {
			return RulePage{}, errs.InvalidField("cursor", "is none that a page was answered with, or its rule is gone")
		}
		fitting = fitting[after+1:]
	}
	if len(fitting) > limit {
		fitting = fitting[:limit]
		page.Next = fitting[limit-1].draft.ID
	}
	g.ledger.settle(ctx)
	page.Rules, err = g.shown(ctx, fitting)
	page.Count = len(page.Rules)
	return page, err
}

// fitting are the rules that fit a filter, in the order of listing.
func (g *Guards) fitting(filter RuleFilter) []*heldRule {
	g.mu.RLock()
	defer g.mu.RUnlock()
	var fitting []*heldRule
	for _, k := range g.rules {
		switch {
		case filter.Source != "" && k.source != filter.Source, filter.Source == "" && k.source == RuleOfPack, filter.Severity != "" && k.draft.Severity != filter.Severity,
			filter.Domain != "" && !strings.EqualFold(k.draft.Domain, filter.Domain),
			filter.Demoted != nil && k.demoted != *filter.Demoted, filter.Blocks != nil && k.blocks() != *filter.Blocks:
			continue
		}
		fitting = append(fitting, k)
	}
	slices.SortFunc(fitting, func(a, b *heldRule) int {
		return cmp.Or(shipped(b)-shipped(a), cmp.Compare(b.number, a.number), strings.Compare(a.draft.ID, b.draft.ID))
	})
	return fitting
}

// shipped orders the rules that the program brings after others: packs, and last its five examples.
func shipped(k *heldRule) int {
	switch k.source {
	case RuleBuiltin:
		return 0
	case RuleOfPack:
		return 1
	}
	return 2
}

// Rule implements Service. It needs ScopeRead.
func (g *Guards) Rule(ctx context.Context, id string) (Rule, error) {
	kept, err := g.held(id)
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), err); err != nil {
		return Rule{}, err
	}
	g.ledger.settle(ctx)
	rules, err := g.shown(ctx, []*heldRule{kept})
	if err != nil {
		return Rule{}, err
	}
	return rules[0], nil
}

func (g *Guards) held(id string) (*heldRule, error) {
	if err := learning.CheckID("rule_id", id); err != nil {
		return nil, err
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	if kept := g.rules[id]; kept != nil {
		return kept, nil
	}
	return nil, errs.Errorf(errs.NotFound, "no rule has this id")
}

// shown gives rules with what became of them.
func (g *Guards) shown(ctx context.Context, kept []*heldRule) ([]Rule, error) {
	ids := make([]string, len(kept))
	for i, k := range kept {
		ids[i] = k.draft.ID
	}
	standings, err := g.store.GuardStandings(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := map[string]lesson.GuardStanding{}
	for _, s := range standings {
		byID[s.RuleID] = s
	}
	at := g.clock()
	rules := make([]Rule, len(kept))
	for i, k := range kept {
		rules[i] = k.shown(byID[k.draft.ID], at)
	}
	return rules, nil
}

// Fitting returns the active rules whose words fit a task best, best first. It
// judges nothing and writes nothing to the ledger: a task is not yet an action.
// It needs ScopeRead.
func (g *Guards) Fitting(ctx context.Context, task string, limit int) ([]Rule, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return nil, err
	}
	hits := g.similar.Index.Search(tfidf.Query{Text: task, Limit: limit}).Hits
	kept := make([]*heldRule, 0, len(hits))
	g.mu.RLock()
	for _, hit := range hits {
		if k := g.rules[hit.ID]; k != nil && k.active {
			kept = append(kept, k)
		}
	}
	g.mu.RUnlock()
	if len(kept) == 0 {
		return nil, nil
	}
	return g.shown(ctx, kept)
}
