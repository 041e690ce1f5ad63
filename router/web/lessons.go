package web

import (
	"slices"

	"skillrouter/internal/errs"
	"skillrouter/learning"
	"skillrouter/learning/guard"
	"skillrouter/learning/lesson"
)

func (s *Server) lessonPages() {
	s.page("/ui/lessons", "lessons.html", "Lessons", s.lessons)
	s.page("/ui/lesson", "lesson.html", "Lesson", s.lesson)
	s.section(memory, "Lessons", "/ui/lessons")
	for _, act := range []struct {
		path, done, sentence string
		do                   func(v *visit, id string) error
	}{
		{"/ui/lesson/validate", "validated", "The judgement is recorded, and the lesson's confidence moved with it.", s.validateLesson},
		{"/ui/lesson/apply", "applied", "The application is recorded, and the lesson's confidence moved with it.", s.applyLesson},
		{"/ui/lesson/promote", "promoted", "The lesson is promoted.", s.promoteLesson},
		{"/ui/lesson/retire", "retired", "The lesson is retired. It is kept, and can be restored.", s.retireLesson},
		{"/ui/lesson/restore", "restored", "The lesson is in use again.", s.restoreLesson},
	} {
		s.notice("lesson-"+act.done, act.sentence)
		s.action(act.path, "/ui/lesson", func(v *visit) (string, error) {
			id := v.value("id")
			return link("/ui/lesson", "id", id, "done", "lesson-"+act.done), act.do(v, id)
		})
	}
}

// lessonList is what the list of lessons shows.
type lessonList struct {
	Lessons                 []lesson.Lesson
	Domain, Tag             string
	Types, Levels, Statuses []option
	pager
	Promotions []lesson.Suggestion
	Query      string
}

// lessonFields are the filters of the list.
var lessonFields = []string{"type", "level", "status", "domain", "tag"}

func (s *Server) lessons(v *visit) (any, error) {
	filter := lesson.Filter{
		Type: learning.LessonType(v.value("type")), Level: lesson.Level(v.value("level")), Domain: v.value("domain"), Tag: v.value("tag"), Cursor: v.value("cursor"),
	}
	if status := v.value("status"); status != "" {
		filter.Statuses = []lesson.Status{lesson.Status(status)}
	}
	query := v.value("q")
	found, err := s.findLessons(v, query, filter)
	if err != nil {
		return nil, err
	}
	page := lessonList{
		Query: query, Lessons: found.Lessons, Domain: filter.Domain, Tag: filter.Tag,
		Types:    options("every type", v.value("type"), learning.LessonTypes()),
		Levels:   options("every level", v.value("level"), lesson.Levels()),
		Statuses: options("all in use", v.value("status"), lesson.Statuses()),
		pager:    v.pages("/ui/lessons", found.Next, "Newest", "", lessonFields...),
	}
	return page, nil
}

// findLessons lists lessons or, if there are words, those that fit these.
func (s *Server) findLessons(v *visit, words string, filter lesson.Filter) (lesson.Page, error) {
	if words == "" {
		return s.services.Lessons.List(v.context(), filter)
	}
	query := lesson.Query{Context: words, Domain: filter.Domain, Narrow: true, Limit: learning.MaxLimit}
	if filter.Tag != "" {
		query.Tags = []string{filter.Tag}
	}
	found, err := s.services.Lessons.Relevant(learning.NotAsked(v.context()), query) // what is half typed is no question
	var page lesson.Page
	for _, hit := range found.Results {
		fits := (filter.Type == "" || hit.Type == filter.Type) && (filter.Level == "" || hit.Level == filter.Level) && (filter.Statuses == nil || slices.Contains(filter.Statuses, hit.Status))
		if fits && len(page.Lessons) < pageRows {
			page.Lessons = append(page.Lessons, hit.Lesson)
		}
	}
	return page, err
}

// lessonPage is what a lesson's page shows.
type lessonPage struct {
	Lesson      lesson.Lesson
	Pattern     *lesson.Pattern // that it was learned from
	In          []lesson.Pattern
	Sources     []lesson.Lesson
	MoreSources []string
	Rule        *guard.Rule
	Successor   *lesson.Lesson
	History     []lesson.Change // the latest first
	Earlier     int             // changes that are not shown
	Curve       []lesson.CurvePoint
	Judgements  []option
	Results     []option
	Retired     bool
	Beside      rememberedView // what may say the same
	toldView
}

// Bounds of a lesson's page.
const (
	lessonSources = 8   // source lessons that are shown with their titles; each is a reading
	lessonHistory = 100 // changes
	lessonAmong   = 100 // patterns of its domain that are looked through for it
)

func (s *Server) lesson(v *visit) (any, error) {
	ctx := v.context()
	l, err := s.services.Lessons.Lesson(ctx, v.value("id"))
	if err != nil {
		return nil, err
	}
	v.title, v.charts = short(80, l.Title), true
	page := lessonPage{
		Lesson: l, Retired: l.Status == lesson.StatusRetired,
		Judgements: options("", string(lesson.ValidationConfirmed), lesson.ValidationTypes()),
		Results:    options("", string(learning.ResultSuccess), learning.Results()),
	}
	history, err := s.services.Lessons.History(ctx, l.ID)
	if err != nil {
		return nil, err
	}
	page.Curve = lesson.ConfidenceCurve(&l, history, s.now())
	for i := len(history) - 1; i >= 0 && len(page.History) < lessonHistory; i-- {
		page.History = append(page.History, history[i])
	}
	page.Earlier = len(history) - len(page.History)
	if l.SupersededBy != "" {
		if other, err := s.services.Lessons.Lesson(ctx, l.SupersededBy); err == nil {
			page.Successor = &other
		}
	}
	for i, id := range l.SourceCaseIDs {
		source, err := lesson.Lesson{}, error(nil)
		if i < lessonSources {
			source, err = s.services.Lessons.Lesson(ctx, id)
		}
		if i >= lessonSources || err != nil {
			if !v.principal().Walled() { // it may be another project's
				page.MoreSources = append(page.MoreSources, id)
			}
			continue
		}
		page.Sources = append(page.Sources, source)
	}
	if err := s.lessonPlace(v, &page); err != nil {
		return nil, err
	}
	page.Beside = rememberedView{Kind: "lesson", ID: l.ID, Title: l.Title, Text: l.Context, Parts: true}
	if of, err := s.kindOf("lesson"); err == nil && !page.Retired {
		if err := s.beside(ctx, of, &page.Beside, l); err != nil {
			return nil, err
		}
	}
	page.toldView, err = s.toldOf(ctx, "lesson", l.ID)
	return page, err
}

// lessonPlace finds what stands before and after the lesson: patterns and the guard's rule.
func (s *Server) lessonPlace(v *visit, page *lessonPage) error {
	ctx, l := v.context(), &page.Lesson
	if s.services.Patterns != nil {
		if l.PatternID != "" {
			switch pattern, err := s.services.Patterns.Pattern(ctx, l.PatternID); errs.CodeOf(err) {
			case "":
				page.Pattern = &pattern
			case errs.NotFound:
			default:
				return err
			}
		}
		among, err := s.services.Patterns.List(ctx, lesson.PatternFilter{Domain: l.Domain, Limit: lessonAmong})
		if err != nil {
			return err
		}
		for _, pattern := range among {
			if slices.Contains(pattern.LessonIDs, l.ID) && pattern.ID != l.PatternID {
				page.In = append(page.In, pattern)
			}
		}
	}
	if s.services.Guard != nil && l.Type == learning.LessonAntiPattern {
		switch rule, err := s.services.Guard.Rule(ctx, l.ID); errs.CodeOf(err) {
		case "":
			page.Rule = &rule
		case errs.NotFound:
		default:
			return err
		}
	}
	return nil
}

// by is who acts from the dashboard: whom the token names or, if it names nobody, what is typed.
func (v *visit) by() string { return v.value("by") }

func (s *Server) validateLesson(v *visit, id string) error {
	_, err := s.services.Lessons.Validate(v.context(), id, lesson.ValidationDraft{
		Type: lesson.ValidationType(v.value("judgement")), By: v.by(), Notes: v.value("notes"),
	})
	return err
}

func (s *Server) applyLesson(v *visit, id string) error {
	_, err := s.services.Lessons.Apply(v.context(), id, lesson.ApplicationDraft{Outcome: learning.Result(v.value("outcome")), Notes: v.value("notes"), Agent: v.by()})
	return err
}

func (s *Server) promoteLesson(v *visit, id string) error {
	_, err := s.services.Lessons.Promote(v.context(), id, lesson.PromotionDraft{By: v.by(), Notes: v.value("notes")})
	return err
}

func (s *Server) retireLesson(v *visit, id string) error {
	_, err := s.services.Lessons.Retire(v.context(), id, lesson.RetirementDraft{By: v.by(), Reason: v.value("reason"), SupersededBy: v.value("superseded_by")})
	return err
}

func (s *Server) restoreLesson(v *visit, id string) error {
	_, err := s.services.Lessons.Restore(v.context(), id, v.value("notes"))
	return err
}
