package lesson

import (
	"cmp"
	"context"
	"strconv"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// MaxHistory bounds how many changes History answers, the latest of them: a
// lesson that occurs every minute has half a million a year.
const MaxHistory = 1000

// List implements Service. It needs ScopeRead. A page has as many lessons
// as the limit says, or fewer that are MaxAnswer bytes together. Lessons that
// are reported while one pages through come on no later page, and none comes twice.
func (l *Lessons) List(ctx context.Context, filter Filter) (Page, error) {
	caller := principal.Of(ctx).Keeping()
	limit, wrongLimit := check.Limit(filter.Limit, learning.DefaultListing, learning.MaxLimit)
	before, wrongCursor := learning.ReadCursor(filter.Cursor)
	if err := cmp.Or(caller.Need(principal.ScopeRead), checkFilter(&filter), wrongLimit, wrongCursor); err != nil {
		return Page{}, err
	}
	at := l.now.Stamp()
	filter.Within = caller.Projects()
	filter.Limit = limit + 1 // one more tells whether there is a next page
	found, err := l.store.ListLessons(ctx, filter, before, at)
	if err != nil {
		return Page{}, err
	}
	page := Page{Lessons: found}
	size := 0
	for i := range found {
		if i == limit || size >= learning.MaxAnswer {
			page.Lessons, page.Next = found[:i], strconv.FormatInt(found[i-1].Number, 10)
			break
		}
		size += lessonSize(&found[i])
	}
	for i := range page.Lessons {
		page.Lessons[i] = present(page.Lessons[i], at)
	}
	page.Count = len(page.Lessons)
	return page, nil
}

// lessonSize is how many bytes of text a lesson adds to an answer.
func lessonSize(l *Lesson) int {
	return len(l.Title) + len(l.Context) + len(l.Action) + len(l.Outcome) + len(l.RootCause) + len(l.Solution) + len(l.Body)
}

func checkFilter(f *Filter) error {
	if err := cmp.Or(
		check.Names("domain", f.Domain, "category", f.Category, "source_agent", f.SourceAgent, "project", f.Project, "tag", f.Tag),
		check.Optional("lesson_type", f.Type, learning.LessonTypes()),
		check.Optional("severity", f.Severity, learning.Severities()),
		check.Optional("level", f.Level, Levels()),
	); err != nil {
		return err
	}
	if len(f.Statuses) > len(Statuses()) {
		return errs.InvalidField("status", "names more than there are")
	}
	return cmp.Or(check.Each("status", f.Statuses, Statuses()), check.Range("min_confidence", f.MinConfidence, 0, 1))
}

// History implements Service. It needs ScopeRead. It answers the latest MaxHistory changes.
func (l *Lessons) History(ctx context.Context, ref string) ([]Change, error) {
	lesson, err := l.Lesson(ctx, ref)
	if err != nil {
		return nil, err
	}
	return l.store.LessonChanges(ctx, lesson.ID, MaxHistory)
}
