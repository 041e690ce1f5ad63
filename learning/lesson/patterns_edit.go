package lesson

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/overlay"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
)

// EventPatternEdited is the type of the event of a pattern that somebody changed.
const EventPatternEdited = "pattern.edited"

// PatternDraft is a pattern that somebody saw.
type PatternDraft struct {
	Type        PatternType `json:"pattern_type" doc:"recurring_failure, common_solution, best_practice, anti_pattern or optimization"`
	Name        string      `json:"pattern_name"`
	Description string      `json:"description"`
	Domain      string      `json:"domain" doc:"Domain that it is of"`
	Action      string      `json:"recommended_action,omitempty" help:"What to do about it"`
	Prevention  []string    `json:"prevention_steps,omitempty" help:"How to prevent it; may be repeated"`
	By          string      `json:"by,omitempty" doc:"Default: the token's agent" actor:"true"`
}

// PatternPatch changes what a pattern says; what is nil stays as it is.
type PatternPatch struct {
	Name        *string   `json:"pattern_name,omitempty" help:"Its line"`
	Description *string   `json:"description,omitempty" doc:"What recurs"`
	Domain      *string   `json:"domain,omitempty" doc:"Domain that it is of"`
	Action      *string   `json:"recommended_action,omitempty" help:"What to do about it"`
	Prevention  *[]string `json:"prevention_steps,omitempty" help:"How to prevent it; may be repeated"`
	By          string    `json:"by,omitempty" doc:"Default: the token's agent"`
}

// checkSaid checks what people may say of a pattern, and cuts secrets out of it.
func checkSaid(p *Pattern) error {
	p.Name = check.OneLine(p.Name)
	if err := cmp.Or(
		check.Required("pattern_name", p.Name, learning.MaxTitle),
		check.Required("description", p.Description, MaxText),
		learning.CheckRequiredName("domain", p.Domain),
		check.Text("recommended_action", p.Action, MaxText),
		cleanList("prevention_steps", &p.Prevention),
	); err != nil {
		return err
	}
	if len(p.Prevention) > maxPrevention {
		return errs.InvalidField("prevention_steps", "has more than %d", maxPrevention)
	}
	var r redact.Redaction
	r.Text(&p.Name, &p.Description, &p.Action)
	r.List(p.Prevention)
	p.Prevention = defaults.List(p.Prevention)
	return nil
}

// Add implements PatternService. It needs ScopeAgent. The pattern is emerging until somebody
// confirms it; without evidence of lessons it makes no rule of the guard.
func (p *Patterns) Add(ctx context.Context, draft PatternDraft) (Pattern, error) {
	caller := principal.Of(ctx)
	by, err := caller.ActingAs("by", draft.By)
	if err != nil {
		return Pattern{}, err
	}
	gathered := []PatternType{PatternRecurringFailure, PatternCommonSolution, PatternBestPractice, PatternAntiPattern, PatternOptimization}
	if err := check.OneOf("pattern_type", draft.Type, gathered); err != nil {
		return Pattern{}, err
	}
	at := p.now.Stamp()
	pattern := Pattern{
		Type: draft.Type, Name: draft.Name, Description: draft.Description, Domain: draft.Domain, Action: draft.Action, Prevention: slices.Clone(draft.Prevention),
		Categories: []string{}, LessonIDs: []string{}, EpisodeIDs: []int64{}, Frequency: 1, FirstSeen: at, LastSeen: at, Status: PatternEmerging,
		Belief:           Belief{InitialConfidence: gatheredConfidence(1, 1, 1), DecayConstant: DecayConstant, ConfidenceAt: at},
		ActionConfidence: 1, CreatedAt: at, UpdatedAt: at, Why: []string{"added by " + cmp.Or(by, "a person")},
	}
	if err := checkSaid(&pattern); err != nil {
		return Pattern{}, err
	}
	if pattern.ID, err = learning.NewID(); err != nil {
		return Pattern{}, err
	}
	err = p.store.Change(ctx, func(tx PipelineTx) error {
		if err := tx.InsertPattern(&pattern); err != nil {
			return err
		}
		if kind := principal.KindOf(by); kind != "" {
			if _, err := tx.AddPatternAgents(pattern.ID, kind); err != nil {
				return err
			}
		}
		return tx.AddEvents(PatternTold(EventPatternEmerged, &pattern, by, "", at))
	}, func() {})()
	if err != nil {
		return Pattern{}, err
	}
	return p.Pattern(ctx, pattern.ID)
}

// Edit implements PatternService. It needs ScopeCaptain: a pattern is nobody's own. What a
// person says to do outweighs what lessons say.
func (p *Patterns) Edit(ctx context.Context, ref string, patch PatternPatch) (Pattern, error) {
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return Pattern{}, err
	}
	var wrong error
	pattern, err := p.judge(ctx, ref, ConfirmationDraft{By: patch.By}, func(pattern *Pattern, _ string, _ time.Time) string {
		was := *pattern
		overlay.Put(pattern, &patch)
		pattern.Prevention = slices.Clone(pattern.Prevention)
		if patch.Action != nil {
			pattern.ActionConfidence = 1
		}
		if wrong = checkSaid(pattern); wrong != nil {
			return ""
		}
		if was.Name == pattern.Name && was.Description == pattern.Description && was.Domain == pattern.Domain && was.Action == pattern.Action &&
			slices.Equal(was.Prevention, pattern.Prevention) {
			return ""
		}
		return EventPatternEdited
	})
	return pattern, cmp.Or(wrong, err)
}
