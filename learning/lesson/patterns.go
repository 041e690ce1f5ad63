package lesson

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/overlay"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/likeness"
)

// Patterns is the PatternService beside the database, and what finds patterns
// in the lessons that are reported. Rebuild reads it in at start, after the
// lessons; Run does its background work.
//
// Lessons that are alike form a pattern of their kind: failures and warnings a
// recurring_failure, workarounds and discoveries with a solution a
// common_solution, successes and other discoveries a best_practice,
// optimisations an optimization, anti-patterns an anti_pattern. So does one
// lesson that two agents report, or that occurs three times; and three failures
// of one command form an anti_pattern. A lesson joins a pattern if it is like
// the pattern's representative, the lesson that formed it: lessons of which
// each is like the next do not become one pattern.
type Patterns struct {
	store PipelineStore
	like  *likeness.Likeness // every lesson; Lessons fills it
	reps  *likeness.Likeness // the representative of each pattern, under the pattern's id
	rules patternKeeper
	now   clock.Clock
	log   *slog.Logger
}

var _ PatternService = (*Patterns)(nil)

// PatternOptions are the settings of Patterns. The zero value is usable.
type PatternOptions struct {
	learning.Options
	Rules patternKeeper // what guards against confirmed anti-patterns: a *Guards; nil: nothing does
}

// patternKeeper turns confirmed anti-patterns into guard rules.
type patternKeeper interface {
	// KeepPattern is told, after the commit, of an anti_pattern pattern as it is now, with
	// its latest lessons in use: a confirmed one is a rule from then on, another no more. See PatternRule.
	KeepPattern(pattern Pattern, lessons []Lesson)
	// Confines tells whether p may not make rules that block others.
	Confines(p principal.Principal) bool
}

// Bounds of patterns of lessons.
const (
	// CrossDomain is the domain of a pattern whose lessons come from several: it generalises.
	CrossDomain = "cross-domain"

	commandFailures      = 3  // failures of one command make an anti-pattern
	commandLessons       = 6  // lessons that are looked at to count them
	repeatOccurrences    = 3  // occurrences of one lesson make a pattern, whoever reports them
	maxFormingLessons    = 8  // lessons that a new one is formed with
	maxPatternCategories = 16 // categories that a pattern lists
	maxPrevention        = 8  // prevention steps that a pattern lists
	maxPatternAgents     = 8  // agents that Why names
	maxRuleLessons       = 32 // lessons that a guard rule is drawn from, the latest
	// acrossDomains and acrossCause are the least Score and Cause with which lessons of two domains are about one problem.
	acrossDomains   = 0.6
	acrossCause     = 0.5
	patternSweep    = time.Hour // between looks for patterns that have faded: their decay is a matter of days
	patternSweepMax = 500       // patterns that one transaction deprecates
)

// NewPatterns makes Patterns. Give it to Options.Patterns.
func NewPatterns(store PipelineStore, options PatternOptions) *Patterns {
	o := options.Options.WithDefaults()
	return &Patterns{store: store, like: likeness.New(), reps: likeness.New(), rules: options.Rules, now: o.Now, log: o.Log}
}

// Pattern implements PatternService. It needs ScopeRead.
func (p *Patterns) Pattern(ctx context.Context, ref string) (Pattern, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), learning.CheckID("pattern_id", ref)); err != nil {
		return Pattern{}, err
	}
	pattern, ok, err := p.store.PatternOf(ctx, ref)
	if err == nil && !ok {
		err = noPattern()
	}
	return presentPattern(pattern, p.now.Stamp()), err
}

// List implements PatternService. It needs ScopeRead.
func (p *Patterns) List(ctx context.Context, filter PatternFilter) ([]Pattern, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), CheckPatternFilter(&filter)); err != nil {
		return nil, err
	}
	patterns, err := p.store.ListPatterns(ctx, filter)
	at := p.now.Stamp()
	for i := range patterns {
		patterns[i] = presentPattern(patterns[i], at)
	}
	return patterns, err
}

// CheckPatternFilter refuses a type, status, domain or bound that a filter may not have, and fills in the default limit.
func CheckPatternFilter(filter *PatternFilter) error {
	if err := cmp.Or(
		check.Optional("pattern_type", filter.Type, PatternTypes()),
		check.Each("status", filter.Statuses, PatternStatuses()),
		check.Name("domain", filter.Domain),
	); err != nil {
		return err
	}
	if filter.Offset < 0 || filter.Offset > MaxOffset {
		return errs.InvalidField("offset", "must lie between 0 and %d", MaxOffset)
	}
	return check.SetLimit(&filter.Limit, learning.DefaultListing, learning.MaxLimit)
}

func noPattern() error { return errs.Errorf(errs.NotFound, "no pattern has this id") }

// presentPattern returns the pattern with what is left of its confidence.
func presentPattern(pattern Pattern, at time.Time) Pattern {
	pattern.Confidence = pattern.At(at)
	return pattern
}

// PatternTold makes the event of a change to a pattern as it is after it.
func PatternTold(kind string, pattern *Pattern, agent, reason string, at time.Time) eventlog.Event {
	return eventlog.Event{Type: kind, Subject: pattern.ID, Agent: agent, At: at}.With(PatternEvent{
		Number: pattern.Number, Type: pattern.Type, Name: pattern.Name, Description: pattern.Description, Domain: pattern.Domain,
		Frequency: pattern.Frequency, Confidence: pattern.At(at), Reason: reason,
	})
}

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
		ID: check.NewID(), Type: draft.Type, Name: draft.Name, Description: draft.Description, Domain: draft.Domain, Action: draft.Action, Prevention: slices.Clone(draft.Prevention),
		Categories: []string{}, LessonIDs: []string{}, EpisodeIDs: []int64{}, Frequency: 1, FirstSeen: at, LastSeen: at, Status: PatternEmerging,
		Belief:           Belief{InitialConfidence: gatheredConfidence(1, 1, 1), DecayConstant: DecayConstant, ConfidenceAt: at},
		ActionConfidence: 1, CreatedAt: at, UpdatedAt: at, Why: []string{"added by " + cmp.Or(by, "a person")},
	}
	if err := checkSaid(&pattern); err != nil {
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

// recall reads in the representatives of the patterns,
// whose words it has from the lessons.
func (p *Patterns) recall(ctx context.Context) error {
	return p.store.ScanPatterns(ctx, func(chunk []Pattern) error {
		for i := range chunk {
			p.represent(&chunk[i])
		}
		return ctx.Err()
	})
}

// represent remembers a pattern by the words of its representative.
func (p *Patterns) represent(pattern *Pattern) {
	if words, there := p.like.WordsOf(pattern.Representative); there && pattern.Command == "" {
		p.reps.Put(pattern.ID, words)
	}
}

// Run deprecates patterns that have faded, until ctx ends, and returns nil then.
func (p *Patterns) Run(ctx context.Context) error {
	for {
		if _, err := p.Fade(ctx); err != nil && ctx.Err() == nil {
			p.log.Error("could not deprecate faded patterns", "error", err)
		}
		if committer.Pause(ctx, patternSweep) != nil {
			return nil
		}
	}
}

// Fade deprecates the patterns of lessons of which less than
// DeprecationConfidence is left, or whose lessons are all retired, and those of operations
// that have lacked the weight for a whole OperationWindow. It returns how many. Unlike one that somebody deprecated, such a pattern emerges anew
// when it is seen again.
func (p *Patterns) Fade(ctx context.Context) (int, error) {
	total := 0
	for {
		at := p.now.Stamp()
		ids, err := p.store.FadedPatterns(ctx, DeprecationConfidence, at, at.Add(-OperationWindow), patternSweepMax)
		if err != nil || len(ids) == 0 {
			return total, err
		}
		faded := 0
		var enforce []func()
		if err := p.store.Change(ctx, func(tx PipelineTx) error {
			faded, enforce = 0, nil
			for _, id := range ids {
				pattern, changed, err := p.fade(tx, id, at)
				if err != nil {
					return err
				}
				if !changed {
					continue
				}
				faded++
				follow, err := p.enforcing(tx, pattern, at)
				if err != nil {
					return err
				}
				if follow != nil {
					enforce = append(enforce, follow)
				}
			}
			return nil
		}, func() {
			for _, follow := range enforce {
				follow()
			}
		})(); err != nil {
			return total, err
		}
		if total += faded; faded < len(ids) {
			return total, nil
		}
	}
}

// fade deprecates a pattern if it has still faded.
func (p *Patterns) fade(tx PipelineTx, id string, at time.Time) (Pattern, bool, error) {
	pattern, found, err := tx.PatternOf(id)
	if err != nil || !found || pattern.Status == PatternDeprecated {
		return pattern, false, err
	}
	reason := "its confidence has decayed"
	if pattern.OperationType != "" {
		if !pattern.LastSeen.Before(at.Add(-OperationWindow)) {
			return pattern, false, nil
		}
		reason = "its weight was too low for 30 days"
	} else if pattern.At(at) >= DeprecationConfidence {
		active, err := tx.ActiveEvidence(id)
		if err != nil || active {
			return pattern, false, err
		}
		reason = "all its lessons are retired"
	}
	pattern.Status, pattern.ConfirmedBy, pattern.ConfirmedAt = PatternDeprecated, "", nil
	if pattern.UpdatedAt.Before(at) {
		pattern.UpdatedAt = at
	}
	if err := tx.UpdatePattern(pattern); err != nil {
		return pattern, false, err
	}
	return pattern, true, tx.AddEvents(PatternTold(EventPatternDeprecated, &pattern, "", reason, at))
}
