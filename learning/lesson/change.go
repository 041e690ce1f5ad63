package lesson

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// The kinds of a Change.
const (
	ChangeReported  = "reported"
	ChangeOccurred  = "occurred"
	ChangeValidated = "validated"
	ChangeApplied   = "applied"
	ChangeEdited    = "edited"
	ChangePromoted  = "promoted"
	ChangeRetired   = "retired"
	ChangeRestored  = "restored"
)

// lessonMove is what happens to one lesson: what its history and the event log
// will say of it.
type lessonMove struct {
	kind     string // of the history's row
	event    string // of the event
	by       string // who does it
	note     string // what history and event say of it
	escalate []Escalation
	was      *Patch // texts as they were, and as they are now; nil: they stay
	became   *Patch
	restores bool // the guard's rule, which was demoted, blocks again
}

// change changes one lesson, in a transaction, with its history and event, and
// brings the index and the rules in step after the commit. decide is given the
// lesson as it is and what may move it; it may run twice. No moves mean that
// nothing changes. after, where it is given, is called after the commit. The
// answer is the lesson as it is then.
func (l *Lessons) change(
	ctx context.Context, ref string, decide func(tx PipelineTx, lesson *Lesson, at time.Time) ([]lessonMove, error), after ...func(at time.Time),
) (Lesson, error) {
	if err := learning.CheckID("lesson_id", ref); err != nil {
		return Lesson{}, err
	}
	if err := l.ready(ctx); err != nil {
		return Lesson{}, err
	}
	var before, lesson Lesson
	var moved, reworded, restores bool
	at := l.now.Stamp()
	err := l.store.Change(ctx, func(tx PipelineTx) error {
		var found bool
		var err error
		moved, reworded, restores = false, false, false
		if before, found, err = tx.LessonOf(ref); err != nil {
			return err
		}
		if !found || !principal.Of(ctx).Sees(before.Project) {
			return no()
		}
		lesson = before
		moves, err := decide(tx, &lesson, at)
		if err != nil || len(moves) == 0 {
			return err
		}
		moved = true
		lesson.UpdatedAt = laterThan(before.UpdatedAt, at)
		if err := tx.UpdateLesson(lesson, lesson.fingerprint()); err != nil {
			return err
		}
		changes := make([]Change, len(moves))
		events := make([]eventlog.Event, len(moves))
		for i, m := range moves {
			was, became := snapshotOf(&before, at), snapshotOf(&lesson, at)
			was.Patch, became.Patch = m.was, m.became
			reworded, restores = reworded || m.became != nil, restores || m.restores
			changes[i] = Change{LessonID: lesson.ID, Kind: m.kind, Agent: m.by, Note: m.note, Before: was, After: became, At: at}
			previous := before.At(at)
			events[i] = lessonEvent(m.event, &lesson, m.by, at, Event{Previous: &previous, Reason: m.note, Escalate: m.escalate, Milder: milder(before.Severity, lesson.Severity)})
		}
		if err := tx.AddChange(changes...); err != nil {
			return err
		}
		return tx.AddEvents(events...)
	}, func() {
		lesson = present(lesson, at)
		if moved {
			l.keep(&before, &lesson, reworded)
			if restores && l.rules != nil {
				l.rules.Restored(lesson.ID)
			}
		}
		for _, f := range after {
			f(at)
		}
	})()
	if err != nil {
		return Lesson{}, err
	}
	return lesson, nil
}

// milder returns what a severity was if it is worse now, and else "".
func milder(was, now learning.Severity) learning.Severity {
	if worse(now, was) {
		return was
	}
	return ""
}

func snapshotOf(lesson *Lesson, at time.Time) *Snapshot {
	return &Snapshot{Level: lesson.Level, Status: lesson.Status, Confidence: lesson.At(at)}
}

func retiredAlready() error {
	return errs.Errorf(errs.Conflict, "this lesson is retired: restore it first")
}

// captainsRule returns an error if the lesson is a rule that stops actions and p is no captain, or may not decide what
// guards everybody and did not learn the lesson: nobody takes the guard away that stands before him.
func captainsRule(p principal.Principal, lesson *Lesson) error {
	switch {
	case !lesson.blocks():
		return nil
	case p.Has(principal.ScopeCaptain) && p.Is(lesson.SourceAgent):
		return nil
	case p.Has(principal.ScopeCaptain):
		return p.Decides()
	}
	return errs.Errorf(errs.Forbidden, "this lesson is a rule that blocks: only a captain may change what it stops, or retire it")
}
