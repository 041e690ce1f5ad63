package lesson

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
)

// Retire implements Service. It needs ScopeAgent, and the agent that
// learned the lesson or ScopeCaptain; for a rule that stops actions ScopeCaptain.
// A retired lesson may be given a successor later.
func (l *Lessons) Retire(ctx context.Context, ref string, draft RetirementDraft) (Lesson, error) {
	caller := principal.Of(ctx).Keeping()
	by, err := caller.SpeakingAs("retired_by", draft.By)
	if err := cmp.Or(err, check.Required("reason", draft.Reason, MaxText)); err != nil {
		return Lesson{}, err
	}
	if draft.SupersededBy != "" {
		if err := learning.CheckID("superseded_by", draft.SupersededBy); err != nil {
			return Lesson{}, err
		}
	}
	if strings.HasPrefix(ref, "builtin:") {
		return Lesson{}, errs.Errorf(errs.Invalid, "this rule comes with the program and is not retired: only rules of lessons are")
	}
	draft.Reason = strings.TrimSpace(draft.Reason)
	new(redact.Redaction).Text(&draft.Reason)
	ctx = learning.Noting(ctx, l.now.Stamp(), learning.Retired, "lesson", ref)
	return l.change(ctx, ref, func(tx PipelineTx, lesson *Lesson, at time.Time) ([]lessonMove, error) {
		if err := cmp.Or(mayChange(caller, lesson), captainsRule(caller, lesson)); err != nil {
			return nil, err
		}
		if !lesson.active() && (draft.SupersededBy == "" || lesson.SupersededBy != "") {
			return nil, errs.Errorf(errs.Conflict, "this lesson is retired already")
		}
		if draft.SupersededBy != "" {
			if lesson.SupersededBy, err = resolveSuccessor(tx, caller, lesson.ID, draft.SupersededBy); err != nil {
				return nil, err
			}
		}
		retire(lesson, draft.Reason, at)
		note := draft.Reason
		if lesson.SupersededBy != "" {
			note += " (superseded by " + lesson.SupersededBy + ")"
		}
		return []lessonMove{{kind: ChangeRetired, event: EventRetired, by: by, note: note}}, nil
	})
}

// resolveSuccessor returns the id of the lesson that is to stand in the place of another.
func resolveSuccessor(tx PipelineTx, by principal.Principal, id, ref string) (string, error) {
	next, found, err := tx.LessonOf(ref)
	switch {
	case err != nil:
		return "", err
	case !found || !by.Sees(next.Project):
		return "", errs.InvalidField("superseded_by", "names no lesson that is there")
	case next.ID == id:
		return "", errs.InvalidField("superseded_by", "names the lesson itself")
	case !next.active():
		return "", errs.InvalidField("superseded_by", "names a lesson that is retired itself")
	}
	return next.ID, nil
}

// Restore implements Service. It needs ScopeAgent, and the agent that
// learned the lesson or ScopeCaptain. The lesson is a candidate again.
func (l *Lessons) Restore(ctx context.Context, ref, note string) (Lesson, error) {
	caller := principal.Of(ctx).Keeping()
	if err := cmp.Or(caller.Need(principal.ScopeAgent), check.Text("note", note, MaxText)); err != nil {
		return Lesson{}, err
	}
	new(redact.Redaction).Text(&note)
	return l.change(ctx, ref, func(_ PipelineTx, lesson *Lesson, _ time.Time) ([]lessonMove, error) {
		if err := mayChange(caller, lesson); err != nil {
			return nil, err
		}
		if lesson.active() {
			return nil, errs.Errorf(errs.Conflict, "this lesson is not retired")
		}
		restore(lesson)
		return []lessonMove{{kind: ChangeRestored, event: EventRestored, by: caller.AgentID, note: note}}, nil
	})
}

// restore takes a retired lesson back into use. Whoever judged it before
// judged another state of things.
func restore(lesson *Lesson) {
	lesson.Status, lesson.Validated = StatusCandidate, false
	lesson.RetiredAt, lesson.RetiredReason, lesson.SupersededBy, lesson.Deprecated = nil, "", "", false
}

// RestoreRule lets a demoted rule block again, with a row in its lesson's history and an event.
func RestoreRule(tx PipelineTx, id string, ofLesson bool, by, note string, at time.Time) (restored bool, err error) {
	standing, err := tx.GuardStanding(id)
	if err != nil || standing.DemotedAt == nil {
		return false, err
	}
	standing.DemotedAt, standing.DemotedReason, standing.RecentSuccess, standing.Overriders = nil, "", 0, nil
	if err := tx.PutGuardStanding(standing); err != nil {
		return false, err
	}
	note = cmp.Or(note, "the rule blocks again")
	if ofLesson {
		if err := tx.AddChange(Change{LessonID: id, Kind: "restored", Agent: by, Note: note, At: at}); err != nil {
			return false, err
		}
	}
	return true, tx.AddEvents(eventlog.Event{Type: EventRuleRestored, Subject: id, Agent: by, At: at}.With(GuardEvent{Reason: note}))
}
