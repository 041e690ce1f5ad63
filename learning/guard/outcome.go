package guard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// escalatedTo is who is told when a rule is demoted: whatever concerns every agent goes to the captain.
const escalatedTo = "captain"

// Outcome implements Service. It needs the check's agent, or ScopeCaptain.
// Rules that the check only found similar are not moved: that they are like a
// sentence says nothing about what they forbid.
func (g *Guards) Outcome(ctx context.Context, draft OutcomeDraft) (Settled, error) {
	p := principal.Of(ctx).Keeping()
	by, err := p.SpeakingAs("agent", draft.Agent)
	if err := cmp.Or(
		err,
		learning.CheckID("check_id", draft.CheckID),
		check.OneOf("outcome", draft.Outcome, lesson.Outcomes()),
		check.Optional("result", draft.Result, learning.Results()),
		check.Text("notes", draft.Notes, lesson.MaxText),
	); err != nil {
		return Settled{}, err
	}
	draft.Notes = keepable(draft.Notes, MaxRecorded)
	settling := &settlement{guards: g, draft: draft, by: by, principal: p, at: g.clock()}
	if g.ledger.holds(draft.CheckID) {
		g.ledger.flush(ctx)
	}
	err = g.store.Change(ctx, settling.decide, func() { g.moved(settling) })()
	if p.Walled() {
		settling.settled.Rules = []RuleMoved{} // they may be of any project
	}
	return settling.settled, err
}

// settlement is one outcome that is being told.
type settlement struct {
	guards    *Guards
	draft     OutcomeDraft
	by        string
	principal principal.Principal
	at        time.Time

	settled   Settled
	standings []lesson.GuardStanding
	beliefs   map[string]lesson.Belief // in the rules that were moved
}

// decide settles the check in a transaction. It may run twice.
func (s *settlement) decide(tx lesson.PipelineTx) error {
	s.settled = Settled{CheckID: s.draft.CheckID, Outcome: s.draft.Outcome, Result: s.draft.Result, Rules: []RuleMoved{}}
	s.standings, s.beliefs = nil, map[string]lesson.Belief{}
	check, ok, err := tx.CheckOf(s.draft.CheckID)
	if err != nil {
		return err
	}
	if !ok || !s.principal.Sees(check.Project) && check.Project != "" {
		return errs.Errorf(errs.NotFound, "no check has this id")
	}
	captain := s.principal.Has(principal.ScopeCaptain)
	if !captain && (check.Agent == "" || !s.principal.Is(check.Agent)) {
		return errs.Errorf(errs.Forbidden, "another agent made this check: only that agent or a captain may say what came of it")
	}
	by := cmp.Or(s.by, check.Agent)
	first := check.Outcome == ""
	if !first {
		switch {
		case check.Outcome != s.draft.Outcome, check.Result != "" && s.draft.Result != "" && check.Result != s.draft.Result:
			return errs.Errorf(errs.Conflict, "this check is settled already: it was %s%s", check.Outcome, withResult(check.Result))
		case s.draft.Result == "" || check.Result == s.draft.Result:
			s.settled.Result, s.settled.Duplicate = check.Result, true
			return nil
		}
	}
	check.Outcome, check.Result, check.OutcomeBy, check.OutcomeAt = s.draft.Outcome, s.draft.Result, by, &s.at
	if s.draft.Notes != "" {
		check.Remark = s.draft.Notes
	}
	if err := tx.SettleCheck(check); err != nil {
		return err
	}
	var ids []string
	for _, m := range check.Matches {
		if m.Lane == rule.LaneSimilarity || m.Lane == rule.LaneIncident || m.Lane == rule.LaneLease {
			continue
		}
		ids = append(ids, m.RuleID)
		if err := s.settle(tx, m.RuleID, first, captain && by != check.Agent && s.principal.Decides() == nil); err != nil {
			return err
		}
	}
	return s.event(tx, lesson.EventCheckSettled, check.ID, check.Project, lesson.GuardEvent{RuleIDs: ids, Outcome: check.Outcome, Result: check.Result})
}

// moved brings the rules in memory up to date, after the commit.
func (g *Guards) moved(s *settlement) {
	g.mu.Lock()
	for id, belief := range s.beliefs {
		if k := g.rules[id]; k != nil { // else it is gone by now
			next := *k
			next.belief = belief
			g.rules[id] = &next
		}
	}
	g.mu.Unlock()
	g.stand(s.standings...)
}

func withResult(r learning.Result) string {
	if r == "" {
		return ""
	}
	return ", with the result " + string(r)
}

// settle counts the outcome for one rule.
func (s *settlement) settle(tx lesson.PipelineTx, ruleID string, first, captain bool) error {
	standing, err := tx.GuardStanding(ruleID)
	if err != nil {
		return err
	}
	if s.draft.Outcome == lesson.OutcomeHeeded {
		if first {
			standing.Heeded++
		}
	} else {
		if first {
			standing.Overridden++
		}
		switch s.draft.Result {
		case learning.ResultSuccess:
			standing.OverriddenSuccess++
			standing.RecentSuccess++
			if voice := principal.KindOf(s.principal.Judge()); len(standing.Overriders) < lesson.DemotionAgents && !slices.Contains(standing.Overriders, voice) {
				standing.Overriders = append(standing.Overriders, voice)
			}
		case learning.ResultFailure:
			standing.OverriddenFailure++
		case learning.ResultPartial:
			standing.OverriddenPartial++
		}
	}
	if err := s.move(tx, &standing, captain); err != nil {
		return err
	}
	s.standings = append(s.standings, standing)
	return tx.PutGuardStanding(standing)
}

// move moves the confidence in a rule that was overridden, and demotes the rule where that is due.
func (s *settlement) move(tx lesson.PipelineTx, standing *lesson.GuardStanding, captain bool) error {
	s.guards.mu.RLock()
	kept := s.guards.rules[standing.RuleID]
	s.guards.mu.RUnlock()
	if kept == nil {
		return nil // the rule is gone; what came of it is counted, should it come back
	}
	prior := kept.belief
	if standing.Belief != nil {
		prior = *standing.Belief
	}
	var l lesson.Lesson
	if kept.source == RuleOfLesson {
		var ok bool
		var err error
		if l, ok, err = tx.LessonOf(standing.RuleID); err != nil || !ok {
			return err
		}
		prior = l.Belief
	}
	next := prior
	if s.draft.Outcome == lesson.OutcomeOverridden {
		next = prior.Overridden(s.draft.Result, s.at)
	}
	moved := RuleMoved{RuleID: standing.RuleID, Previous: prior.At(s.at), Confidence: next.At(s.at), Precision: standing.Precision()}
	s.beliefs[standing.RuleID] = next
	switch {
	case next == prior:
	case kept.source == RuleOfLesson:
		change := lesson.Change{
			LessonID: l.ID, Kind: "overridden", Agent: s.by, At: s.at, Note: fmt.Sprintf("a check was overridden with the result %s", s.draft.Result),
			Before: &lesson.Snapshot{Level: l.Level, Status: l.Status, Confidence: moved.Previous}, After: &lesson.Snapshot{Level: l.Level, Status: l.Status, Confidence: moved.Confidence},
		}
		if err := tx.MoveLesson(l.ID, next, s.at); err != nil {
			return err
		}
		if err := tx.AddChange(change); err != nil {
			return err
		}
	default:
		standing.Belief = &next
	}
	if reason := demotion(kept, *standing, moved.Confidence, captain); reason != "" && (standing.DemotedAt == nil || strings.HasSuffix(standing.DemotedReason, confinedTail)) && s.draft.Outcome == lesson.OutcomeOverridden && s.draft.Result == learning.ResultSuccess {
		standing.DemotedAt, standing.DemotedReason = &s.at, reason
		if err := s.demote(tx, kept, l, moved, reason); err != nil {
			return err
		}
		moved.Demoted = true
	}
	s.settled.Rules = append(s.settled.Rules, moved)
	return nil
}

// demotion says why a rule is due to be demoted, or "". It must block now, must
// have been overridden with success lesson.DemotionOverrides times since it last was
// restored, and its confidence must be below lesson.DemotionConfidence. A critical rule
// also takes lesson.DemotionAgents different voices (tokens, or a person's), or a captain's word on another's check.
func demotion(k *heldRule, s lesson.GuardStanding, confidence float64, captain bool) string {
	switch {
	case !k.blocks() || s.RecentSuccess < lesson.DemotionOverrides || confidence >= lesson.DemotionConfidence:
		return ""
	case k.source == RuleOfPack && !captain:
		return "" // only a captain weakens a pack
	case k.draft.Severity == learning.SeverityCritical && len(s.Overriders) < lesson.DemotionAgents && !captain:
		return ""
	}
	return fmt.Sprintf("overridden with success %d times, its confidence fell to %.2f: it warns and blocks no more", s.RecentSuccess, confidence)
}

// demote writes that a rule was demoted: to its lesson's history, and as an event that escalates it.
func (s *settlement) demote(tx lesson.PipelineTx, k *heldRule, l lesson.Lesson, moved RuleMoved, reason string) error {
	if k.source == RuleOfLesson {
		at := lesson.Snapshot{Level: l.Level, Status: l.Status, Confidence: moved.Confidence}
		if err := tx.AddChange(lesson.Change{LessonID: l.ID, Kind: "demoted", Agent: s.by, Note: reason, Before: &at, After: &at, At: s.at}); err != nil {
			return err
		}
	}
	return s.event(tx, lesson.EventRuleDemoted, k.draft.ID, l.Project, lesson.Event{
		Number: k.number, Type: learning.LessonAntiPattern, Domain: k.draft.Domain, Title: k.draft.Title, Severity: k.draft.Severity, Level: l.Level,
		Confidence: moved.Confidence, Previous: &moved.Previous, Reason: reason,
		Escalate: []lesson.Escalation{{To: escalatedTo, Reason: "A guard rule was demoted to warning: " + reason, Priority: k.draft.Severity}},
	})
}

func (s *settlement) event(tx lesson.PipelineTx, kind, subject, project string, data any) error {
	return tx.AddEvents(eventlog.Event{Type: kind, Subject: subject, Agent: s.by, Project: project, At: s.at}.With(data))
}

// RestoreRule implements Service. It needs ScopeCaptain. A rule that was not demoted stays as it is.
func (g *Guards) RestoreRule(ctx context.Context, id string, draft RestorationDraft) (Rule, error) {
	p := principal.Of(ctx)
	by, err := p.SpeakingAs("restored_by", draft.By)
	if err := cmp.Or(p.Need(principal.ScopeCaptain), err, check.Text("notes", draft.Notes, lesson.MaxText)); err != nil {
		return Rule{}, err
	}
	kept, err := g.held(id)
	if err != nil {
		return Rule{}, err
	}
	note, at := keepable(draft.Notes, MaxRecorded), g.clock()
	var restored bool
	err = g.store.Change(ctx, func(tx lesson.PipelineTx) (err error) {
		restored, err = lesson.RestoreRule(tx, kept.draft.ID, kept.source == RuleOfLesson, by, note, at)
		return err
	}, func() {
		if restored {
			g.Restored(id)
		}
	})()
	if err != nil {
		return Rule{}, err
	}
	return g.Rule(ctx, id)
}

// Restored lets a rule block again in memory, after the commit.
func (g *Guards) Restored(id string) {
	s := g.standing(id)
	s.RuleID, s.DemotedAt, s.DemotedReason = id, nil, ""
	g.stand(s)
}
