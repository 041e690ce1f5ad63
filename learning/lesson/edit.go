package lesson

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/internal/redact"
	"skillrouter/learning"
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

// checkPatch checks what a client changes of a lesson, redacts and cleans it.
func checkPatch(p *Patch, at time.Time) error {
	if p.Category != nil {
		if err := learning.CheckRequiredName("category", *p.Category); err != nil {
			return err
		}
	}
	if p.Title != nil {
		if err := learning.CheckTitle(*p.Title); err != nil {
			return err
		}
	}
	for _, w := range wordings {
		text := w.in(p)
		if *text == nil {
			continue
		}
		if w.most > 0 {
			if err := check.Text(w.field, **text, w.most); err != nil {
				return err
			}
		}
		own := **text // the caller's stays as it is
		*text = &own
	}
	if p.TriggerPattern != nil {
		if err := checkTrigger(*p.TriggerPattern); err != nil {
			return err
		}
	}
	if p.Category != nil {
		*p.Category = strings.TrimSpace(*p.Category)
	}
	if p.Title != nil {
		*p.Title = check.OneLine(*p.Title)
	}
	for _, w := range wordingLists {
		list := w.in(p)
		if *list == nil {
			continue
		}
		own := **list
		var err error
		if w.field == "tags" {
			own, err = learning.CleanTags(own)
		} else {
			err = cleanList(w.field, &own)
		}
		if err != nil {
			return err
		}
		*list = &own
	}
	redactPatch(p)
	if p.Severity != nil {
		if err := check.OneOf("severity", *p.Severity, learning.Severities()); err != nil {
			return err
		}
	}
	if p.Transferability != nil {
		if err := checkTransferability(*p.Transferability); err != nil {
			return err
		}
	}
	if p.Confidence != nil {
		if err := check.Range("confidence", *p.Confidence, 0, 1); err != nil {
			return err
		}
	}
	return checkValidatedAt(p.LastValidatedAt, at)
}

func redactPatch(p *Patch) {
	var r redact.Redaction
	for _, w := range wordings {
		if w.free {
			r.Text(*w.in(p))
		}
	}
	for _, w := range wordingLists {
		if list := *w.in(p); list != nil {
			r.List(*list)
		}
	}
}

// patchLesson makes the changes of a patch, and returns what they were and
// became; nil if nothing changes.
func patchLesson(lesson *Lesson, patch Patch, at time.Time) (was, became *Patch) {
	was, became = &Patch{}, &Patch{}
	changed := false
	for _, w := range wordings {
		changed = replaced(w.of(lesson), *w.in(&patch), w.in(was), w.in(became), func(a, b string) bool { return a == b }) || changed
	}
	for _, w := range wordingLists {
		changed = replaced(w.of(lesson), *w.in(&patch), w.in(was), w.in(became), slices.Equal) || changed
	}
	changed = replaced(&lesson.Severity, patch.Severity, &was.Severity, &became.Severity, func(a, b learning.Severity) bool { return a == b }) || changed
	changed = replaced(&lesson.BlockAction, patch.BlockAction, &was.BlockAction, &became.BlockAction, func(a, b bool) bool { return a == b }) || changed
	changed = replaced(&lesson.Transferability, patch.Transferability, &was.Transferability, &became.Transferability, func(a, b int) bool { return a == b }) || changed
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

// replaced puts what is set in the place of what a field has, and keeps both.
func replaced[T any](have, set *T, before, now **T, equal func(a, b T) bool) bool {
	if set == nil || equal(*have, *set) {
		return false
	}
	old, value := *have, *set
	*have, *before, *now = value, &old, &value
	return true
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
