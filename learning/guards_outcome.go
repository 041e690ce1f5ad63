package learning

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrouter"
)

// escalatedTo is who is told when a rule is demoted: seed 000 escalates to it whatever concerns every agent.
const escalatedTo = "ARIA"

// Outcome implements GuardService. It needs the check's agent, or ScopeCaptain.
// Rules that the check only found similar are not moved: that they are like a
// sentence says nothing about what they forbid.
func (g *Guards) Outcome(ctx context.Context, draft OutcomeDraft) (Settled, error) {
	p := skillrouter.PrincipalOf(ctx)
	by, err := p.SpeakingAs("agent", draft.Agent)
	if err != nil {
		return Settled{}, err
	}
	if err := checkOutcome(draft); err != nil {
		return Settled{}, err
	}
	draft.Notes = keepable(draft.Notes, MaxRecorded)
	settling := &settlement{guards: g, draft: draft, by: by, principal: p, at: g.clock()}
	if g.ledger.holds(draft.CheckID) {
		g.ledger.flush(ctx)
	}
	err = settling.run(ctx)
	return settling.settled, err
}

func checkOutcome(d OutcomeDraft) error {
	if err := checkID("check_id", d.CheckID); err != nil {
		return err
	}
	if err := skillrouter.CheckOneOf("outcome", d.Outcome, Outcomes()); err != nil {
		return err
	}
	if d.Result != "" {
		if err := skillrouter.CheckOneOf("result", d.Result, Results()); err != nil {
			return err
		}
	}
	return skillrouter.CheckText("notes", d.Notes, MaxLessonText)
}

// settlement is one outcome that is being told.
type settlement struct {
	guards    *Guards
	draft     OutcomeDraft
	by        string
	principal skillrouter.Principal
	at        time.Time

	settled Settled
	moved   []movedRule
}

// movedRule is what an outcome changes of a rule in memory.
type movedRule struct {
	id      string
	belief  Belief
	demoted bool
}

func (s *settlement) run(ctx context.Context) error {
	return s.guards.store.Change(ctx, s.decide, func() { s.guards.moved(s.moved) })()
}

// decide settles the check in a transaction. It may run twice.
func (s *settlement) decide(tx PipelineTx) error {
	s.settled = Settled{CheckID: s.draft.CheckID, Outcome: s.draft.Outcome, Result: s.draft.Result, Rules: []RuleMoved{}}
	s.moved = nil
	check, ok, err := tx.CheckOf(s.draft.CheckID)
	if err != nil {
		return err
	}
	if !ok {
		return skillrouter.Errorf(skillrouter.NotFound, "no check has this id")
	}
	captain := s.principal.Has(skillrouter.ScopeCaptain)
	if !captain && (check.Agent == "" || s.principal.AgentID != check.Agent) {
		return skillrouter.Errorf(skillrouter.Forbidden, "another agent made this check: only that agent or a captain may say what came of it")
	}
	by := s.by
	if by == "" {
		by = check.Agent
	}
	first := check.Outcome == ""
	if !first {
		switch {
		case check.Outcome != s.draft.Outcome, check.Result != "" && s.draft.Result != "" && check.Result != s.draft.Result:
			return skillrouter.Errorf(skillrouter.Conflict, "this check is settled already: it was %s%s", check.Outcome, withResult(check.Result))
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
		if m.Lane == LaneSimilarity {
			continue
		}
		ids = append(ids, m.RuleID)
		if err := s.settle(tx, m.RuleID, first, by, captain && by != check.Agent); err != nil {
			return err
		}
	}
	return s.event(tx, EventCheckSettled, check.ID, check.Project, GuardEvent{RuleIDs: ids, Outcome: check.Outcome, Result: check.Result})
}

// moved brings the rules in memory up to date, after the commit.
func (g *Guards) moved(rules []movedRule) {
	for _, m := range rules {
		g.mu.RLock()
		kept := g.rules[m.id]
		g.mu.RUnlock()
		if kept == nil {
			continue // it is gone by now
		}
		next := *kept
		next.belief = m.belief
		if m.demoted {
			next.demoted, next.draft.WarnOnly, next.rule = true, true, kept.rule.warning(true)
		}
		g.keep(&next)
	}
}

func withResult(r Result) string {
	if r == "" {
		return ""
	}
	return ", with the result " + string(r)
}

// settle counts the outcome for one rule.
func (s *settlement) settle(tx PipelineTx, ruleID string, first bool, by string, captain bool) error {
	standing, err := tx.GuardStanding(ruleID)
	if err != nil {
		return err
	}
	if s.draft.Outcome == OutcomeHeeded {
		if first {
			standing.Heeded++
		}
	} else {
		if first {
			standing.Overridden++
		}
		switch s.draft.Result {
		case ResultSuccess:
			standing.OverriddenSuccess++
			standing.RecentSuccess++
			if len(standing.Overriders) < DemotionAgents && !slices.Contains(standing.Overriders, by) {
				standing.Overriders = append(standing.Overriders, by)
			}
		case ResultFailure:
			standing.OverriddenFailure++
		case ResultPartial:
			standing.OverriddenPartial++
		}
	}
	if err := s.move(tx, &standing, captain); err != nil {
		return err
	}
	return tx.PutGuardStanding(standing)
}

// move moves the confidence in a rule that was overridden, and demotes the rule where that is due.
func (s *settlement) move(tx PipelineTx, standing *GuardStanding, captain bool) error {
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
	var lesson Lesson
	if kept.source == RuleOfLesson {
		var ok bool
		var err error
		if lesson, ok, err = tx.LessonOf(standing.RuleID); err != nil || !ok {
			return err
		}
		prior = lesson.Belief
	}
	next := prior
	if s.draft.Outcome == OutcomeOverridden {
		next = prior.Overridden(s.draft.Result, s.at)
	}
	moved := RuleMoved{RuleID: standing.RuleID, Previous: prior.At(s.at), Confidence: next.At(s.at), Precision: standing.Precision()}
	switch {
	case next == prior:
	case kept.source == RuleOfLesson:
		change := LessonChange{
			LessonID: lesson.ID, Kind: "overridden", Agent: s.by, At: s.at, Note: fmt.Sprintf("a check was overridden with the result %s", s.draft.Result),
			Before: &Snapshot{Level: lesson.Level, Status: lesson.Status, Confidence: moved.Previous}, After: &Snapshot{Level: lesson.Level, Status: lesson.Status, Confidence: moved.Confidence},
		}
		if err := tx.MoveLesson(lesson.ID, next, s.at); err != nil {
			return err
		}
		if err := tx.AddChange(change); err != nil {
			return err
		}
	default:
		standing.Belief = &next
	}
	after := movedRule{id: standing.RuleID, belief: next}
	if reason := demotion(kept, *standing, moved.Confidence, captain); reason != "" && (standing.DemotedAt == nil || strings.HasSuffix(standing.DemotedReason, confinedTail)) && s.draft.Outcome == OutcomeOverridden && s.draft.Result == ResultSuccess {
		standing.DemotedAt, standing.DemotedReason = &s.at, reason
		if err := s.demote(tx, kept, lesson, moved, reason); err != nil {
			return err
		}
		moved.Demoted, after.demoted = true, true
	}
	s.settled.Rules = append(s.settled.Rules, moved)
	s.moved = append(s.moved, after)
	return nil
}

// demotion says why a rule is due to be demoted, or "". It must block now, must
// have been overridden with success DemotionOverrides times since it last was
// restored, and its confidence must be below DemotionConfidence. A critical rule
// also takes DemotionAgents different agents, or a captain's word on another's check.
func demotion(k *keptRule, s GuardStanding, confidence float64, captain bool) string {
	switch {
	case !k.blocks() || s.RecentSuccess < DemotionOverrides || confidence >= DemotionConfidence:
		return ""
	case k.draft.Severity == SeverityCritical && len(s.Overriders) < DemotionAgents && !captain:
		return ""
	}
	return fmt.Sprintf("overridden with success %d times, its confidence fell to %.2f: it warns and blocks no more", s.RecentSuccess, confidence)
}

// demote writes that a rule was demoted: to its lesson's history, and as an event that escalates it.
func (s *settlement) demote(tx PipelineTx, k *keptRule, lesson Lesson, moved RuleMoved, reason string) error {
	if k.source == RuleOfLesson {
		at := Snapshot{Level: lesson.Level, Status: lesson.Status, Confidence: moved.Confidence}
		if err := tx.AddChange(LessonChange{LessonID: lesson.ID, Kind: "demoted", Agent: s.by, Note: reason, Before: &at, After: &at, At: s.at}); err != nil {
			return err
		}
	}
	return s.event(tx, EventRuleDemoted, k.draft.ID, lesson.Project, LessonEvent{
		Number: k.number, Type: LessonAntiPattern, Domain: k.draft.Domain, Title: k.draft.Title, Severity: k.draft.Severity, Level: lesson.Level,
		Confidence: moved.Confidence, Previous: &moved.Previous, Reason: reason,
		Escalate: []Escalation{{To: escalatedTo, Reason: "A guard rule was demoted to warning: " + reason, Priority: k.draft.Severity}},
	})
}

func (s *settlement) event(tx PipelineTx, kind, subject, project string, data any) error {
	return addEvent(tx, skillrouter.Event{Type: kind, Subject: subject, Agent: s.by, Project: project, At: s.at}, data)
}

func addEvent(tx PipelineTx, event skillrouter.Event, data any) (err error) {
	if event.Data, err = json.Marshal(data); err != nil {
		return err
	}
	return tx.AddEvents(event)
}

// RestoreRule implements GuardService. It needs ScopeCaptain. A rule that was not demoted stays as it is.
func (g *Guards) RestoreRule(ctx context.Context, id string, draft RestorationDraft) (Rule, error) {
	p := skillrouter.PrincipalOf(ctx)
	if err := p.Need(skillrouter.ScopeCaptain); err != nil {
		return Rule{}, err
	}
	by, err := p.SpeakingAs("restored_by", draft.By)
	if err != nil {
		return Rule{}, err
	}
	if err := skillrouter.CheckText("notes", draft.Notes, MaxLessonText); err != nil {
		return Rule{}, err
	}
	kept, err := g.kept(id)
	if err != nil {
		return Rule{}, err
	}
	note, at := keepable(draft.Notes, MaxRecorded), g.clock()
	var restored bool
	err = g.store.Change(ctx, func(tx PipelineTx) (err error) {
		restored, err = restoreRule(tx, kept.draft.ID, kept.source == RuleOfLesson, by, note, at)
		return err
	}, func() {
		if restored {
			g.restored(id)
		}
	})()
	if err != nil {
		return Rule{}, err
	}
	return g.Rule(ctx, id)
}

// restoreRule lets a demoted rule block again, with a row in its lesson's history and an event.
func restoreRule(tx PipelineTx, id string, ofLesson bool, by, note string, at time.Time) (restored bool, err error) {
	standing, err := tx.GuardStanding(id)
	if err != nil || standing.DemotedAt == nil {
		return false, err
	}
	standing.DemotedAt, standing.DemotedReason, standing.RecentSuccess, standing.Overriders = nil, "", 0, nil
	if err := tx.PutGuardStanding(standing); err != nil {
		return false, err
	}
	if note == "" {
		note = "the rule blocks again"
	}
	if ofLesson {
		if err := tx.AddChange(LessonChange{LessonID: id, Kind: "restored", Agent: by, Note: note, At: at}); err != nil {
			return false, err
		}
	}
	return true, addEvent(tx, skillrouter.Event{Type: EventRuleRestored, Subject: id, Agent: by, At: at}, GuardEvent{Reason: note})
}

// restored lets a rule block again in memory, after the commit.
func (g *Guards) restored(id string) {
	g.mu.RLock()
	kept := g.rules[id]
	g.mu.RUnlock()
	if kept != nil {
		next := *kept
		next.demoted, next.confined, next.draft.WarnOnly, next.draft.OnlyFor = false, false, false, ""
		if kept.rule != nil {
			rule := *kept.rule
			rule.draft.WarnOnly, rule.draft.OnlyFor = false, ""
			next.rule = &rule
		}
		g.keep(&next)
	}
}
