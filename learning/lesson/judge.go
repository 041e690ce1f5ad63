package lesson

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
)

// Validate implements Service. It needs ScopeAgent; an agent cannot
// confirm what it learned itself. A captain who confirms an anti-pattern lets
// its rule block again where it was demoted.
//
// A confirmation by somebody else makes a candidate a validated lesson, as the experience server has it: by another name, or
// another voice. What tells agents whether to rely on it is Lesson.Vouched, which only another token or a person brings about. A
// refutation makes it a candidate again, whatever it was. A lesson that is
// outdated is retired if a captain says so; if an agent does, it loses
// confidence and the domain's supervisor is asked. The same judgement by the same
// one moves the confidence once in ten days; sooner, it only is the latest word.
// Who is untrusted moves the confidence, and nothing else of the lesson.
func (l *Lessons) Validate(ctx context.Context, ref string, draft ValidationDraft) (Lesson, error) {
	caller := principal.Of(ctx).Keeping()
	by, err := caller.SpeakingAs("validated_by", draft.By)
	if err == nil && by == "" {
		err = errs.InvalidField("validated_by", "is required")
	}
	if err := cmp.Or(
		err,
		check.OneOf("validation_type", draft.Type, ValidationTypes()),
		check.Text("notes", draft.Notes, MaxText),
	); err != nil {
		return Lesson{}, err
	}
	new(redact.Redaction).Text(&draft.Notes)
	captain := caller.Has(principal.ScopeCaptain)
	return l.change(ctx, ref, func(tx PipelineTx, lesson *Lesson, at time.Time) ([]lessonMove, error) {
		if !lesson.active() {
			return nil, retiredAlready()
		}
		own := principal.SameVoice(caller.Judge(), lesson.Reporter)
		if draft.Type == ValidationConfirmed && !captain && (own || principal.SameVoice(caller.AgentID, lesson.SourceAgent)) {
			return nil, errs.Errorf(errs.Forbidden, "an agent cannot confirm what it learned itself: another must")
		}
		before := l.escalations.For(present(*lesson, at))
		again, err := tx.JudgedSince(lesson.ID, principal.KindOf(by), draft.Type, at.Add(-sameJudgement))
		if err != nil {
			return nil, err
		}
		if !again {
			initial := lesson.InitialConfidence
			lesson.Belief = lesson.Judged(draft.Type, at)
			if draft.Type == ValidationConfirmed {
				// One voice brings back what has decayed, and drives it up once: the experience server's factor is for each who confirms.
				repeats, err := tx.JudgedSince(lesson.ID, principal.KindOf(by), draft.Type, time.Time{})
				if err != nil {
					return nil, err
				}
				if repeats {
					lesson.InitialConfidence = min(lesson.InitialConfidence, initial)
				}
			}
		}
		move := lessonMove{kind: ChangeValidated, event: EventValidated, by: by, note: remark(string(draft.Type), draft.Notes)}
		if untrusted(draft.Trust) {
			return []lessonMove{move}, nil
		}
		lesson.ValidatedBy, lesson.Validator, lesson.ValidationNotes, lesson.LastValidatedAt = by, caller.Judge(), draft.Notes, &at
		switch draft.Type {
		case ValidationConfirmed:
			lesson.Validated = true
			if lesson.Status == StatusCandidate && !(own && principal.SameVoice(by, lesson.SourceAgent)) {
				lesson.Status = StatusValidated
			}
			lesson.Proposed = lesson.Proposed && own && !captain
			if captain && lesson.Type == learning.LessonAntiPattern {
				// Who leads says that the rule is right, whatever it was overridden for.
				var err error
				if move.restores, err = RestoreRule(tx, lesson.ID, true, by, remark(string(draft.Type), draft.Notes), at); err != nil {
					return nil, err
				}
			}
		case ValidationRefuted:
			lesson.Validated, lesson.Status = false, StatusCandidate
			if lesson.Proposed {
				retire(lesson, remark(string(draft.Type), draft.Notes), at)
				return []lessonMove{move, {kind: ChangeRetired, event: EventRetired, by: by, note: lesson.RetiredReason}}, nil
			}
		case ValidationOutdated:
			lesson.Validated = false
			if captain {
				if err := captainsRule(caller, lesson); err != nil {
					return nil, err
				}
				retire(lesson, remark(string(draft.Type), draft.Notes), at)
				return []lessonMove{move, {kind: ChangeRetired, event: EventRetired, by: by, note: lesson.RetiredReason}}, nil
			}
			move.escalate = append(move.escalate, Escalation{
				To: l.escalations.Supervisor(lesson.Domain), Reason: "Outdated, says " + by, Priority: lesson.Severity,
			})
		}
		for _, e := range l.escalations.For(present(*lesson, at)) { // what the judgement has brought about
			if !slices.Contains(before, e) {
				move.escalate = append(move.escalate, e)
			}
		}
		return []lessonMove{move}, nil
	})
}

// Apply implements Service. It needs ScopeAgent. A lesson that fails where
// it is applied is retired (deprecated, in the words of the experience server); a rule that
// stops actions is not: its domain's supervisor is asked to. One that was retired
// so may still be applied, as the experience server's may; its figures move, and it stays retired.
func (l *Lessons) Apply(ctx context.Context, ref string, draft ApplicationDraft) (Applied, error) {
	caller := principal.Of(ctx).Keeping()
	agent, err := caller.SpeakingAs("agent", draft.Agent)
	if err := cmp.Or(
		err,
		check.OneOf("outcome", draft.Outcome, learning.Results()),
		check.Text("notes", draft.Notes, MaxText),
		check.Text("context", draft.Context, MaxListItem),
	); err != nil {
		return Applied{}, err
	}
	draft.Context = cmp.Or(check.OneLine(draft.Context), caller.Voice())
	new(redact.Redaction).Text(&draft.Notes, &draft.Context)
	var answer Applied
	_, err = l.change(ctx, ref, func(tx PipelineTx, lesson *Lesson, at time.Time) ([]lessonMove, error) {
		if !lesson.active() && !lesson.Deprecated {
			return nil, retiredAlready()
		}
		rate, successes := successesWith(draft.Outcome, lesson.TimesApplied, lesson.TimesSucceeded)
		lesson.TimesApplied, lesson.TimesSucceeded = lesson.TimesApplied+1, successes
		answer = Applied{
			Applied: true, LessonID: lesson.ID, LessonNumber: lesson.Number, PreviousConfidence: lesson.At(at),
			TotalApplications: lesson.TimesApplied, SuccessRate: rate, Deprecated: lesson.Deprecated,
		}
		belief, deprecate := lesson.Belief.Applied(draft.Outcome, lesson.TimesApplied, rate, at)
		lesson.Belief, answer.NewConfidence = belief, belief.InitialConfidence
		moves := []lessonMove{{kind: ChangeApplied, event: EventApplied, by: agent, note: remark(string(draft.Outcome), draft.Notes)}}
		if deprecate && lesson.active() {
			reason := fmt.Sprintf("deprecated: %d of %d applications succeeded", lesson.TimesSucceeded, lesson.TimesApplied)
			if captainsRule(caller, lesson) == nil {
				retire(lesson, reason, at)
				lesson.Deprecated, answer.Deprecated = true, true
				moves = append(moves, lessonMove{kind: ChangeRetired, event: EventRetired, by: agent, note: reason})
			} else {
				moves[0].escalate = []Escalation{{To: l.escalations.Supervisor(lesson.Domain), Reason: "A rule that blocks should be " + reason, Priority: lesson.Severity}}
			}
		}
		if lesson.PatternID != "" {
			succeeded := int64(0)
			if draft.Outcome == learning.ResultSuccess {
				succeeded = 1 // a partial one is none there: the experience server's patterns count whole ones
			}
			if err := tx.CountApplication(lesson.PatternID, succeeded, at); err != nil {
				return nil, err
			}
		}
		return moves, tx.AddApplication(Application{
			LessonID: lesson.ID, Agent: agent, Context: draft.Context, Outcome: draft.Outcome, Notes: draft.Notes, At: at,
		})
	})
	if err != nil {
		return Applied{}, err
	}
	return answer, nil
}

// retire takes a lesson out of use.
func retire(lesson *Lesson, reason string, at time.Time) {
	lesson.Status, lesson.RetiredAt, lesson.RetiredReason = StatusRetired, &at, reason
}

// remark joins what was said in one word with what was added to it.
func remark(word, notes string) string {
	if notes == "" {
		return word
	}
	return word + ": " + notes
}
