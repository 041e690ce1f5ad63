package guard

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// OfflineDraft hands over what hooks judged by their copy of the rules while the router was away.
type OfflineDraft struct {
	Checks []OfflineCheck `json:"checks"`
}

// OfflineCheck is a check that a hook made in the router's place.
type OfflineCheck struct {
	CheckID  string        `json:"check_id"` // the hook made it; what is handed over twice is there once
	Action   string        `json:"proposed_action"`
	Tool     string        `json:"tool,omitempty"`
	Agent    string        `json:"agent,omitempty"`
	Project  string        `json:"project,omitempty"`
	Decision rule.Decision `json:"decision" doc:"allow, warn or block; a check with another one is refused, and the others are stored"`
	RuleIDs  []string      `json:"rule_ids,omitempty"`
	Basis    string        `json:"basis,omitempty"` // what it was judged by
	At       time.Time     `json:"at"`
}

// OfflineStored says what became of checks that were handed over.
type OfflineStored struct {
	Stored  int `json:"stored"`
	Known   int `json:"known"`   // they were there already
	Refused int `json:"refused"` // they are none, or the caller may not speak for their agent
}

// MaxOffline bounds the checks that are handed over at once.
const MaxOffline = 500

// Offline implements Service. It needs ScopeAgent. What a hook says of rules is believed as far as there are such rules: it counts
// as being shown, which agents may cause as well by checking, and blocks nothing.
func (g *Guards) Offline(ctx context.Context, draft OfflineDraft) (stored OfflineStored, err error) {
	p := principal.Of(ctx)
	if err := p.Need(principal.ScopeAgent); err != nil {
		return stored, err
	}
	if len(draft.Checks) > MaxOffline {
		return stored, &errs.Error{Code: errs.TooLarge, Field: "checks", Message: "are more than 500: hand them over in parts"}
	}
	var records []lesson.CheckRecord
	refused := 0
	for _, c := range draft.Checks {
		record, err := g.offlineRecord(p, c)
		if err != nil {
			refused++
			continue
		}
		records = append(records, record)
	}
	err = g.store.Change(ctx, func(tx lesson.PipelineTx) error {
		stored = OfflineStored{Refused: refused}
		for _, r := range records {
			known, err := enter(tx, r)
			switch {
			case err != nil:
				return err
			case known:
				stored.Known++
			default:
				stored.Stored++
			}
		}
		return nil
	}, nil)()
	return stored, err
}

// offlineRecord is what the ledger keeps of a check that a hook made.
func (g *Guards) offlineRecord(p principal.Principal, c OfflineCheck) (r lesson.CheckRecord, err error) {
	agent, err := p.SpeakingAs("agent", c.Agent)
	if err != nil {
		return r, err
	}
	action := rule.Action{Command: c.Action, Tool: c.Tool, Project: c.Project}
	if err := cmp.Or(learning.CheckID("check_id", c.CheckID), checkProposal(action),
		check.OneOf("decision", c.Decision, []rule.Decision{rule.DecisionAllow, rule.DecisionWarn, rule.DecisionBlock})); err != nil {
		return r, err
	}
	r = recorded(action, rule.Verdict{Decision: c.Decision, Notes: []string{lesson.NoteOffline, keepable(c.Basis, maxReason)}})
	r.ID, r.Agent, r.At = c.CheckID, agent, c.At.UTC().Truncate(time.Millisecond)
	if now := g.clock(); r.At.After(now) || r.At.IsZero() {
		r.At = now // the hook's clock is ahead
	}
	for _, id := range c.RuleIDs {
		k, err := g.held(id)
		if err != nil {
			continue // it is gone by now
		}
		r.Matches = append(r.Matches, rule.Match{
			RuleID: id, Title: k.draft.Title, Severity: k.draft.Severity, Lane: rule.LaneDeterministic, Reason: "a hook found it",
			Confidence: k.belief.At(r.At), Blocks: c.Decision == rule.DecisionBlock,
		})
	}
	return r, nil
}

// OfflineUse tells how often hooks judged by the copy of the rules since a time, as far as they told, and when last.
func (g *Guards) OfflineUse(ctx context.Context, since time.Time) (times int, last time.Time, err error) {
	return g.store.OfflineChecks(ctx, since)
}

// Asked tells when each agent last asked the guard, of those that did since a time.
func (g *Guards) Asked(ctx context.Context, since time.Time) (map[string]time.Time, error) {
	g.ledger.settle(ctx)
	return g.store.AskedGuard(ctx, since)
}

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
