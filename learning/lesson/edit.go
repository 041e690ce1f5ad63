package lesson

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/overlay"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// Edit implements Service. It needs ScopeAgent, and the agent that
// learned the lesson or ScopeCaptain. A rule that stops actions may be changed
// in what it stops only by a captain (see captainsRule), and so may the confidence of a lesson and
// the date of its validation.
func (l *Lessons) Edit(ctx context.Context, ref string, patch Patch) (Lesson, error) {
	caller := principal.Of(ctx)
	if err := caller.Need(principal.ScopeAgent); err != nil {
		return Lesson{}, err
	}
	if (patch.Confidence != nil || patch.LastValidatedAt != nil) && !caller.Has(principal.ScopeCaptain) {
		return Lesson{}, errs.Errorf(errs.Forbidden, "only a captain may set a confidence or a date of validation: an agent validates")
	}
	if err := checkPatch(&patch, l.now.Stamp()); err != nil {
		return Lesson{}, err
	}
	expect, err := l.checkEdited(ctx, ref, patch)
	if err != nil {
		return Lesson{}, err
	}
	ctx = learning.Noting(ctx, l.now.Stamp(), learning.Edited, "lesson", ref)
	return l.change(ctx, ref, func(tx PipelineTx, lesson *Lesson, at time.Time) ([]lessonMove, error) {
		if err := cmp.Or(mayChange(caller, lesson), learning.Still(ctx, *lesson)); err != nil {
			return nil, err
		}
		if patch.Expect != nil && !patch.Expect.Equal(lesson.UpdatedAt) || expect != nil && !expect.Equal(lesson.UpdatedAt) {
			return nil, errs.Errorf(errs.Conflict, "the lesson was changed meanwhile: read it again")
		}
		old := *lesson
		was, became := patchLesson(lesson, patch, at)
		if was == nil {
			return nil, nil
		}
		// Where agents may not make rules for others, nor may they widen one.
		widens := l.rules != nil && l.rules.Confines(caller) && !l.rules.Confined(lesson.ID) && !slices.Equal(old.RelatedCommands, lesson.RelatedCommands)
		if lesson.Trust == learning.TrustPerson { // of what an agent changes, it is the agent's word
			lesson.Trust = learning.TrustOf(caller)
		}
		doubts := patch.Confidence != nil && *patch.Confidence < old.At(at)
		if widens || doubts || weakens(&old, lesson) {
			if err := captainsRule(caller, &old); err != nil {
				return nil, err
			}
		}
		if lesson.Type != learning.LessonAntiPattern && (lesson.TriggerPattern != "" || lesson.BlockAction) {
			return nil, errs.InvalidField("trigger_pattern", "and block_action are for lessons of type %s", learning.LessonAntiPattern)
		}
		if fingerprint := lesson.fingerprint(); fingerprint != old.fingerprint() {
			named, err := tx.LessonsByFingerprint(fingerprint, 1)
			if err != nil {
				return nil, err
			}
			if len(named) > 0 && named[0].ID != lesson.ID {
				return nil, &errs.Error{Code: errs.Conflict, Field: "title", Message: "is that of another lesson of this domain, " + named[0].ID}
			}
		}
		return []lessonMove{{kind: ChangeEdited, event: EventEdited, by: caller.AgentID, was: was, became: became}}, nil
	})
}

// checkEdited checks, before the transaction, that an anti_pattern lesson is
// still a rule with the patch. It returns as which version of the lesson it was checked.
func (l *Lessons) checkEdited(ctx context.Context, ref string, patch Patch) (*time.Time, error) {
	if l.rules == nil {
		return nil, nil
	}
	lesson, err := l.Lesson(ctx, ref)
	if err != nil || lesson.Type != learning.LessonAntiPattern {
		return nil, err
	}
	if err := mayChange(principal.Of(ctx), &lesson); err != nil {
		return nil, err
	}
	seen := lesson.UpdatedAt
	patchLesson(&lesson, patch, seen)
	_, err = l.rules.CheckRule(ctx, lesson, false)
	return &seen, err
}

// checkPatch checks what a client changes of a lesson as a draft that says nothing else, redacts and cleans it.
func checkPatch(p *Patch, at time.Time) error {
	if p.Severity != nil { // a draft may leave it out, and its transferability
		if err := check.OneOf("severity", *p.Severity, learning.Severities()); err != nil {
			return err
		}
	}
	if p.Transferability != nil {
		if err := checkTransferability(*p.Transferability); err != nil {
			return err
		}
	}
	d := Draft{Type: learning.LessonAntiPattern, Domain: "-", Category: "-", Title: "-"}
	overlay.Put(&d, p)
	if err := checkDraft(&d, at); err != nil {
		return err
	}
	redactDraft(&d)
	overlay.Take(p, &d)
	return nil
}

// patchLesson makes the changes of a patch, and returns what they were and
// became; nil if nothing changes.
func patchLesson(lesson *Lesson, patch Patch, at time.Time) (was, became *Patch) {
	was, became = &Patch{}, &Patch{}
	changed, said := false, patch
	said.Confidence, said.LastValidatedAt = nil, nil
	overlay.Each(&said, lesson, func(i int, set, have reflect.Value) {
		empty := have.Kind() == reflect.Slice && have.Len() == 0 && set.Elem().Len() == 0
		if empty || reflect.DeepEqual(have.Interface(), set.Elem().Interface()) {
			return
		}
		old := reflect.New(have.Type())
		old.Elem().Set(have)
		reflect.ValueOf(was).Elem().Field(i).Set(old)
		reflect.ValueOf(became).Elem().Field(i).Set(set)
		have.Set(set.Elem())
		changed = true
	})
	if patch.Confidence != nil && *patch.Confidence != lesson.At(at) {
		left, set := lesson.At(at), *patch.Confidence
		was.Confidence, became.Confidence, changed = &left, &set, true
		lesson.Belief = lesson.Moved(set, at)
	}
	if t := patch.LastValidatedAt; t != nil && (lesson.LastValidatedAt == nil || !t.Equal(*lesson.LastValidatedAt)) {
		set := t.UTC().Truncate(time.Millisecond)
		was.LastValidatedAt, became.LastValidatedAt, changed = lesson.LastValidatedAt, &set, true
		lesson.LastValidatedAt = &set
	}
	if !changed {
		return nil, nil
	}
	return was, became
}

// weakens tells whether an edit may make a rule stop less than it did: any
// change of what it is recognised by, but further commands.
func weakens(old, lesson *Lesson) bool {
	for _, command := range old.RelatedCommands {
		if !slices.Contains(lesson.RelatedCommands, command) {
			return true
		}
	}
	return old.Severity != lesson.Severity || old.BlockAction != lesson.BlockAction || old.Title != lesson.Title ||
		old.Action != lesson.Action || old.TriggerPattern != lesson.TriggerPattern || !slices.Equal(old.Alternatives, lesson.Alternatives)
}
