package lesson

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"skillrouter"
	"skillrouter/learning"
)

// thenPages is how many pages of lessons a listing of a time looks through.
const thenPages = 50

// LessonThen is Lesson of a lesson as it was at a time. It needs ScopeRead. What its history tells is as it was: its
// texts, level, status, confidence, and how often it had occurred.
func (l *Lessons) LessonThen(ctx context.Context, ref Ref) (Lesson, error) {
	lesson, err := l.Lesson(ctx, ref.ID)
	if err != nil || ref.AsOf.IsZero() || !ref.AsOf.Before(l.now()) {
		return lesson, err
	}
	list, err := l.then(ctx, []Lesson{lesson}, ref.AsOf)
	if err == nil && len(list) == 0 {
		err = skillrouter.Errorf(skillrouter.NotFound, "this lesson was not reported yet at %s", ref.AsOf.UTC().Format(time.RFC3339))
	}
	if err != nil {
		return Lesson{}, err
	}
	return list[0], nil
}

// then takes lessons back to what they were at a time, those that there were.
func (l *Lessons) then(ctx context.Context, lessons []Lesson, at time.Time) ([]Lesson, error) {
	lessons = slices.DeleteFunc(lessons, func(one Lesson) bool { return one.CreatedAt.After(at) })
	ids := make([]string, len(lessons))
	for i := range lessons {
		ids[i] = lessons[i].ID
	}
	changes, err := l.store.ChangesSince(ctx, ids, at)
	if err != nil {
		return nil, err
	}
	for i := range lessons {
		one := &lessons[i]
		for _, c := range changes {
			if c.LessonID == one.ID {
				one.undo(&c)
			}
		}
		one.InitialConfidence, one.ConfidenceAt = one.At(at), at
		one.Confidence = one.InitialConfidence
		if one.UpdatedAt.After(at) {
			one.UpdatedAt = at
		}
	}
	return lessons, nil
}

// undo takes back what a change did to a lesson.
func (l *Lesson) undo(c *Change) {
	if c.Kind == ChangeOccurred {
		l.Occurrences = max(1, l.Occurrences-1)
	}
	if c.Before == nil {
		return
	}
	if c.Before.Patch != nil {
		patchLesson(l, *c.Before.Patch, c.At)
	}
	if l.Status == StatusRetired && c.Before.Status != StatusRetired {
		l.RetiredAt, l.RetiredReason, l.SupersededBy, l.Deprecated = nil, "", "", false
	}
	l.Level, l.Status = c.Before.Level, c.Before.Status
	// what was left of it just before the change had decayed since
	l.InitialConfidence, l.ConfidenceAt = c.Before.Confidence, c.At
	if earlier := l.CreatedAt; l.DecayConstant > 0 && earlier.Before(c.At) {
		days := c.At.Sub(earlier).Hours() / 24
		l.InitialConfidence, l.ConfidenceAt = c.Before.Confidence*math.Exp(l.DecayConstant*days), earlier
	}
}

// listThen is List in what was known at a time. What changes of a lesson is compared as it was.
func (l *Lessons) listThen(ctx context.Context, filter Filter, before int64, limit int) (Page, error) {
	fixed := Filter{
		Type: filter.Type, Domain: filter.Domain, SourceAgent: filter.SourceAgent, Project: filter.Project, General: filter.General, Since: filter.Since,
		Statuses: Statuses(), Limit: learning.MaxLimit,
	}
	page := Page{Lessons: []Lesson{}}
	size := 0
	for range thenPages {
		found, err := l.store.ListLessons(ctx, fixed, before, filter.AsOf)
		if err != nil {
			return Page{}, err
		}
		if len(found) == 0 {
			page.Next = ""
			break
		}
		before = found[len(found)-1].Number
		list, err := l.then(ctx, found, filter.AsOf)
		if err != nil {
			return Page{}, err
		}
		for _, one := range list {
			if !filter.fits(&one) {
				continue
			}
			if len(page.Lessons) == limit || size >= learning.MaxAnswer {
				page.Next, page.Count = strconv.FormatInt(page.Lessons[len(page.Lessons)-1].Number, 10), len(page.Lessons)
				return page, nil
			}
			size += lessonSize(&one)
			page.Lessons = append(page.Lessons, present(one, filter.AsOf))
		}
		page.Next = strconv.FormatInt(before, 10)
	}
	page.Count = len(page.Lessons)
	return page, nil
}

// fits tells whether a lesson has what a filter asks of what may change.
func (f *Filter) fits(l *Lesson) bool {
	status := len(f.Statuses) == 0 && l.Status != StatusRetired || slices.Contains(f.Statuses, l.Status)
	return status && cmp.Or(f.Category, l.Category) == l.Category && cmp.Or(f.Severity, l.Severity) == l.Severity && cmp.Or(f.Level, l.Level) == l.Level &&
		l.Confidence >= f.MinConfidence && (f.Tag == "" || slices.ContainsFunc(l.Tags, func(tag string) bool { return strings.EqualFold(tag, f.Tag) }))
}
