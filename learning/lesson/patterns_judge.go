package lesson

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// Confirm implements PatternService. It needs ScopeAgent. A deprecated pattern
// that is confirmed is in force again. Confirming twice changes nothing.
func (p *Patterns) Confirm(ctx context.Context, ref string, draft ConfirmationDraft) (Pattern, error) {
	return p.judge(ctx, ref, draft, func(pattern *Pattern, by string, at time.Time) string {
		if pattern.Status == PatternConfirmed && pattern.ConfirmedBy != "" {
			return ""
		}
		pattern.Status, pattern.ConfirmedBy, pattern.ConfirmedAt, pattern.LastValidated = PatternConfirmed, by, &at, &at
		pattern.Belief = pattern.Judged(ValidationConfirmed, at)
		return EventPatternConfirmed
	})
}

// Deprecate implements PatternService. It needs ScopeAgent, and ScopeCaptain for
// a confirmed anti-pattern whose rule blocks. What is deprecated
// by somebody gathers evidence in silence until somebody confirms it.
func (p *Patterns) Deprecate(ctx context.Context, ref string, draft ConfirmationDraft) (Pattern, error) {
	ctx = learning.Noting(ctx, p.now.Stamp(), learning.Retired, "pattern", ref)
	return p.judge(ctx, ref, draft, func(pattern *Pattern, by string, at time.Time) string {
		if pattern.Status == PatternDeprecated && pattern.ConfirmedBy != "" {
			return ""
		}
		pattern.Status, pattern.ConfirmedBy, pattern.ConfirmedAt, pattern.LastValidated = PatternDeprecated, by, nil, &at
		pattern.Belief = pattern.Judged(ValidationRefuted, at)
		return EventPatternDeprecated
	})
}

// judge lets decide change a pattern, and stores it with the event that it names, if it names one.
func (p *Patterns) judge(
	ctx context.Context, ref string, draft ConfirmationDraft, decide func(pattern *Pattern, by string, at time.Time) (event string),
) (Pattern, error) {
	caller := principal.Of(ctx)
	by, err := caller.SpeakingAs("confirmed_by", draft.By)
	if err == nil && by == "" {
		err = errs.InvalidField("confirmed_by", "is required")
	}
	if err := cmp.Or(err, learning.CheckID("pattern_id", ref), check.Text("notes", draft.Notes, MaxText)); err != nil {
		return Pattern{}, err
	}
	notes, _ := redact.Text(draft.Notes)
	at := p.now.Stamp()
	var pattern Pattern
	var enforce func()
	err = p.store.Change(ctx, func(tx PipelineTx) error {
		var found bool
		var err error
		if pattern, found, err = tx.PatternOf(ref); err != nil {
			return err
		}
		if !found {
			return noPattern()
		}
		was := pattern
		event := decide(&pattern, by, at)
		if event == EventPatternConfirmed && p.rules != nil && p.rules.Confines(caller) {
			if err := p.captainsPattern(tx, pattern, at); err != nil {
				return err
			}
		}
		if event == EventPatternDeprecated || event == EventPatternEdited {
			err := p.captainsPattern(tx, was, at)
			if err != nil && caller.Has(principal.ScopeCaptain) {
				err = caller.Decides()
			}
			if err != nil {
				return err
			}
		}
		if enforce = nil; event == "" {
			return nil
		}
		if pattern.UpdatedAt.Before(at) {
			pattern.UpdatedAt = at
		}
		if err := tx.UpdatePattern(pattern); err != nil {
			return err
		}
		if enforce, err = p.enforcing(tx, pattern, at); err != nil {
			return err
		}
		agent := cmp.Or(caller.AgentID, by)
		return tx.AddEvents(PatternTold(event, &pattern, agent, notes, at))
	}, func() {
		if enforce != nil {
			enforce()
		}
	})()
	if err != nil {
		return Pattern{}, err
	}
	return p.Pattern(ctx, pattern.ID)
}

// enforcing returns what lets the guard follow a change of a pattern, to be
// called after the commit, in the order of commits; nil if the pattern is none of its concern.
func (p *Patterns) enforcing(tx PipelineTx, pattern Pattern, at time.Time) (func(), error) {
	if p.rules == nil || pattern.Type != PatternAntiPattern {
		return nil, nil
	}
	lessons, err := lessonsOfRule(tx, pattern, at)
	if err != nil {
		return nil, err
	}
	pattern = presentPattern(pattern, at)
	return func() { p.rules.KeepPattern(pattern, lessons) }, nil
}

// captainsPattern returns a Forbidden error if a pattern is in force as a rule
// that stops actions: nobody takes the guard away that stands before him, nor puts one before all.
func (p *Patterns) captainsPattern(tx PipelineTx, pattern Pattern, at time.Time) error {
	if p.rules == nil || pattern.Type != PatternAntiPattern || pattern.Status != PatternConfirmed {
		return nil
	}
	lessons, err := lessonsOfRule(tx, pattern, at)
	if err != nil {
		return err
	}
	if rule := PatternRule(pattern, lessons); rule.Block || rule.Severity == learning.SeverityCritical {
		return errs.Errorf(errs.Forbidden, "this pattern is a rule that blocks: only a captain may confirm or deprecate it")
	}
	return nil
}

// lessonsOfRule returns the lessons in use that a pattern's rule is made of.
func lessonsOfRule(tx PipelineTx, pattern Pattern, at time.Time) ([]Lesson, error) {
	ids, err := tx.LessonEvidence(pattern.ID, maxRuleLessons)
	if err != nil {
		return nil, err
	}
	lessons := make([]Lesson, 0, len(ids))
	for _, id := range ids {
		lesson, found, err := tx.LessonOf(id)
		if err != nil {
			return nil, err
		}
		if found && lesson.Status != StatusRetired {
			lesson.Confidence = lesson.At(at)
			lessons = append(lessons, lesson)
		}
	}
	return lessons, nil
}

// PatternRule is the guard rule of a confirmed anti_pattern, from what its
// lessons say. One that is drawn from failures of a command warns and never
// blocks by its severity: that it failed does not make it harmful.
func PatternRule(pattern Pattern, lessons []Lesson) rule.RuleDraft {
	rule := rule.RuleDraft{
		ID: pattern.ID, Title: pattern.Name, Reason: pattern.Description, Severity: learning.SeverityLow, Confidence: pattern.Confidence,
		Domain: pattern.Domain, Category: strings.Join(pattern.Categories, ", "),
	}
	if pattern.Domain == CrossDomain {
		rule.Domain = ""
	}
	if len(pattern.Categories) > 0 {
		rule.Category = pattern.Categories[0]
	}
	if pattern.Action != "" {
		rule.Alternatives = append(rule.Alternatives, pattern.Action)
	}
	rule.Alternatives = append(rule.Alternatives, pattern.Prevention...)
	for i := range lessons {
		l := &lessons[i]
		if slices.Index(learning.Severities(), l.Severity) < slices.Index(learning.Severities(), rule.Severity) {
			rule.Severity = l.Severity
		}
		for _, tag := range l.Tags {
			if len(rule.Tags) < learning.MaxTags && !slices.Contains(rule.Tags, tag) {
				rule.Tags = append(rule.Tags, tag)
			}
		}
		if pattern.Command != "" {
			continue
		}
		rule.Block = rule.Block || l.BlockAction
		for _, command := range append(slices.Clone(l.RelatedCommands), l.Action) {
			if len(rule.Commands) < MaxListItems && strings.TrimSpace(command) != "" && !slices.Contains(rule.Commands, command) {
				rule.Commands = append(rule.Commands, command)
			}
		}
	}
	if pattern.Command != "" {
		rule.Commands = []string{pattern.Command}
		if rule.Severity == learning.SeverityCritical {
			rule.Severity = learning.SeverityHigh
		}
	}
	return rule
}
