package lesson

import (
	"cmp"
	"context"
	"strconv"

	"skillrouter"
	"skillrouter/learning"
)

// MaxHistory bounds how many changes History answers, the latest of them: a
// lesson that occurs every minute has half a million a year.
const MaxHistory = 1000

// List implements Service. It needs ScopeRead. A page has as many lessons
// as the limit says, or fewer that are MaxAnswer bytes together. Lessons that
// are reported while one pages through come on no later page, and none comes twice.
func (l *Lessons) List(ctx context.Context, filter Filter) (Page, error) {
	caller := skillrouter.PrincipalOf(ctx).Keeping()
	if err := cmp.Or(caller.Need(skillrouter.ScopeRead), checkFilter(&filter)); err != nil {
		return Page{}, err
	}
	limit, err := skillrouter.Limit(filter.Limit, learning.DefaultListing, learning.MaxLimit)
	if err != nil {
		return Page{}, err
	}
	before, err := learning.ReadCursor(filter.Cursor)
	if err != nil {
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
		skillrouter.CheckNames("domain", f.Domain, "category", f.Category, "source_agent", f.SourceAgent, "project", f.Project, "tag", f.Tag),
		skillrouter.CheckOptional("lesson_type", f.Type, learning.LessonTypes()),
		skillrouter.CheckOptional("severity", f.Severity, learning.Severities()),
		skillrouter.CheckOptional("level", f.Level, Levels()),
	); err != nil {
		return err
	}
	if len(f.Statuses) > len(Statuses()) {
		return skillrouter.InvalidField("status", "names more than there are")
	}
	return cmp.Or(skillrouter.CheckEach("status", f.Statuses, Statuses()), skillrouter.CheckRange("min_confidence", f.MinConfidence, 0, 1))
}

// History implements Service. It needs ScopeRead. It answers the latest MaxHistory changes.
func (l *Lessons) History(ctx context.Context, ref string) ([]Change, error) {
	lesson, err := l.Lesson(ctx, ref)
	if err != nil {
		return nil, err
	}
	return l.store.LessonChanges(ctx, lesson.ID, MaxHistory)
}
