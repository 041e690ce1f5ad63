package folder

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"skillrouter/internal/errs"
	"skillrouter/learning/lesson"
)

// edit takes a file's changes to the router: texts by an edit, a status and a
// level by the judgement or promotion that they stand for, if the router grants
// it. What it does not take stays different, and is said again the next time.
func (s *syncing) edit(ctx context.Context, step *Step) error {
	want := step.file.Entry
	l := *step.lesson
	seen := l.UpdatedAt
	have := func() Entry {
		e := Of(l)
		e.ID = want.ID
		return e
	}
	note := func(err error, what string) {
		step.Notes = append(step.Notes, what+": "+reason(err))
	}
	// A judgement moves the confidence: the file's own comes after it.
	raised := func(what string, change func() (lesson.Lesson, error)) error {
		after, err := change()
		if err == nil {
			l = after
			return nil
		}
		probe := *step
		if err := probe.failed(err); err != nil {
			return err
		}
		note(err, what)
		return nil
	}
	if want.Status == lesson.StatusValidated && l.Status == lesson.StatusCandidate {
		if err := raised("the status is not taken", func() (lesson.Lesson, error) {
			return s.service.Validate(ctx, l.ID, lesson.ValidationDraft{Type: lesson.ValidationConfirmed, By: s.validator(l), Notes: "from the lessons folder"})
		}); err != nil {
			return err
		}
	}
	switch {
	case want.Level == lesson.LevelPattern && l.Level == lesson.LevelCase:
		step.Notes = append(step.Notes, "the level is not taken: a pattern is a lesson of its own, and its cases stay; `skillrouter lessons promote` draws it from 2 independent cases")
	case want.Level == lesson.LevelPrinciple && l.Level == lesson.LevelPattern:
		if err := raised("the level is not taken", func() (lesson.Lesson, error) {
			return s.service.Promote(ctx, l.ID, lesson.PromotionDraft{Sources: s.routerIDs(want.SourceCaseIDs), Notes: "from the lessons folder"})
		}); err != nil {
			return err
		}
	}
	p, empty, _ := patch(want, have())
	if !empty {
		expect := l.UpdatedAt
		p.Expect = &expect
		after, err := s.service.Edit(ctx, l.ID, p)
		if err != nil {
			return err
		}
		l = after
	}
	if want.Status == lesson.StatusRetired && l.Status != lesson.StatusRetired {
		if !s.settings.Retire {
			step.Notes = append(step.Notes, "the file says retired; --retire retires the lesson")
		} else if err := raised("the retirement is not taken", func() (lesson.Lesson, error) {
			return s.service.Retire(ctx, l.ID, lesson.RetirementDraft{Reason: "its file in the lessons folder says so"})
		}); err != nil {
			return err
		}
	}
	step.lesson = &l
	_, _, left := patch(want, have())
	if len(left) == 0 {
		s.agree(step, l)
		return nil
	}
	step.Notes = append(step.Notes, "a file cannot change "+strings.Join(left, ", ")+" of a lesson that is there; the router keeps its own")
	if !l.UpdatedAt.Equal(seen) {
		// The texts are agreed on: only what was left is different now, and is said again.
		before := want
		router := have()
		before.Level, before.Status, before.SourceCaseIDs, before.LastValidatedAt = router.Level, router.Status, router.SourceCaseIDs, router.LastValidatedAt
		before.Extra.Type, before.Extra.Domain, before.Extra.Contexts = router.Extra.Type, router.Extra.Domain, router.Extra.Contexts
		before.Extra.SourceAgent, before.Extra.Project = router.Extra.SourceAgent, router.Extra.Project
		agreed := Agreed{Path: step.Path, Folder: before.Hash(), Router: router.Hash()}
		if l.ID != step.ID {
			agreed.Lesson = l.ID
		}
		s.state.Lessons[step.ID] = agreed
	}
	return nil
}

// validator is who a validation in a file is laid to: files do not say.
func (s *syncing) validator(lesson lesson.Lesson) string {
	return cmp.Or(lesson.ValidatedBy, "lessons-folder")
}

// routerIDs are files' ids as the router knows them.
func (s *syncing) routerIDs(ids []string) []string {
	ids = slices.Clone(ids)
	for i, id := range ids {
		if alias := s.aliases[id]; alias != "" {
			ids[i] = alias
		}
	}
	return ids
}

// move gives a file another place in the folder.
func (d *Dir) move(from, to string) error {
	if dir, _, ok := strings.Cut(to, "/"); ok {
		if err := d.root.MkdirAll(dir, 0o755); err != nil {
			return errs.Wrap(errs.Invalid, err, "the folder %s cannot be made", dir)
		}
	}
	return errs.Wrap(errs.Unavailable, d.root.Rename(from, to), "%s cannot be moved to %s", from, to)
}
