package lesson

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
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
	filter.Limit = cmp.Or(filter.Limit, learning.DefaultListing)
	if filter.Limit < 1 || filter.Limit > learning.MaxLimit {
		return errs.InvalidField("limit", "must lie between 1 and %d", learning.MaxLimit)
	}
	return nil
}

func noPattern() error { return errs.Errorf(errs.NotFound, "no pattern has this id") }

// presentPattern returns the pattern with what is left of its confidence.
func presentPattern(pattern Pattern, at time.Time) Pattern {
	pattern.Confidence = pattern.At(at)
	return pattern
}

// PatternTold makes the event of a change to a pattern as it is after it.
func PatternTold(kind string, pattern *Pattern, agent, reason string, at time.Time) eventlog.Event {
	text, _ := json.Marshal(PatternEvent{ // its figures are finite and its texts valid: it cannot fail
		Number: pattern.Number, Type: pattern.Type, Name: pattern.Name, Description: pattern.Description, Domain: pattern.Domain,
		Frequency: pattern.Frequency, Confidence: pattern.At(at), Reason: reason,
	})
	return eventlog.Event{Type: kind, Subject: pattern.ID, Agent: agent, At: at, Data: text}
}
