package web

import (
	"skillrouter"
	"skillrouter/learning"
)

func (s *Server) lessonPages() {
	if s.services.Lessons == nil {
		return
	}
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
	Lessons                 []learning.Lesson
	Domain, Tag             string
	Types, Levels, Statuses []option
	Older, Newer            string
	NewerName, OlderName    string
	Promotions              []learning.Suggestion
}

// lessonFields are the filters of the list.
var lessonFields = []string{"type", "level", "status", "domain", "tag"}

func (s *Server) lessons(v *visit) (any, error) {
	filter := learning.LessonFilter{
		Type: learning.LessonType(v.value("type")), Level: learning.Level(v.value("level")), Domain: v.value("domain"), Tag: v.value("tag"), Cursor: v.value("cursor"),
	}
	if status := v.value("status"); status != "" {
		filter.Statuses = []learning.LessonStatus{learning.LessonStatus(status)}
	}
	found, err := s.services.Lessons.List(v.context(), filter)
	if err != nil {
		return nil, err
	}
	page := lessonList{
		Lessons: found.Lessons, Domain: filter.Domain, Tag: filter.Tag,
		Types:    options("every type", v.value("type"), learning.LessonTypes()),
		Levels:   options("every level", v.value("level"), learning.Levels()),
		Statuses: options("all in use", v.value("status"), learning.LessonStatuses()),
		Older:    v.older("/ui/lessons", found.Next, lessonFields...), Newer: v.first("/ui/lessons", lessonFields...), NewerName: "Newest",
	}
	return page, nil
}

// lessonPage is what a lesson's page shows.
type lessonPage struct {
	Lesson      learning.Lesson
	Pattern     *learning.Pattern // that it was learned from
	In          []learning.Pattern
	Sources     []learning.Lesson
	MoreSources []string
	Rule        *learning.Rule
	Successor   *learning.Lesson
	History     []learning.LessonChange // the latest first
	Earlier     int                     // changes that are not shown
	Curve       []learning.CurvePoint
	Judgements  []option
	Results     []option
	Retired     bool
}

// Bounds of a lesson's page.
const (
	lessonSources = 8   // source lessons that are shown with their titles; each is a reading
	lessonHistory = 100 // changes
	lessonAmong   = 100 // patterns of its domain that are looked through for it
)

func (s *Server) lesson(v *visit) (any, error) {
	ctx := v.context()
	lesson, err := s.services.Lessons.Lesson(ctx, v.value("id"))
	if err != nil {
		return nil, err
	}
	v.title, v.charts = short(80, lesson.Title), true
	page := lessonPage{
		Lesson: lesson, Retired: lesson.Status == learning.StatusRetired,
		Judgements: options("", string(learning.ValidationConfirmed), learning.ValidationTypes()),
		Results:    options("", string(learning.ResultSuccess), learning.Results()),
	}
	history, err := s.services.Lessons.History(ctx, lesson.ID)
	if err != nil {
		return nil, err
	}
	page.Curve = learning.ConfidenceCurve(&lesson, history, s.now())
	for i := len(history) - 1; i >= 0 && len(page.History) < lessonHistory; i-- {
		page.History = append(page.History, history[i])
	}
	page.Earlier = len(history) - len(page.History)
	if lesson.SupersededBy != "" {
		if other, err := s.services.Lessons.Lesson(ctx, lesson.SupersededBy); err == nil {
			page.Successor = &other
		}
	}
	for i, id := range lesson.SourceCaseIDs {
		source, err := learning.Lesson{}, error(nil)
		if i < lessonSources {
			source, err = s.services.Lessons.Lesson(ctx, id)
		}
		if i >= lessonSources || err != nil {
			page.MoreSources = append(page.MoreSources, id)
			continue
		}
		page.Sources = append(page.Sources, source)
	}
	if err := s.lessonPlace(v, &page); err != nil {
		return nil, err
	}
	return page, nil
}

// lessonPlace finds what stands before and after the lesson: patterns and the guard's rule.
func (s *Server) lessonPlace(v *visit, page *lessonPage) error {
	ctx, lesson := v.context(), &page.Lesson
	if s.services.Patterns != nil {
		if lesson.PatternID != "" {
			switch pattern, err := s.services.Patterns.Pattern(ctx, lesson.PatternID); skillrouter.CodeOf(err) {
			case "":
				page.Pattern = &pattern
			case skillrouter.NotFound:
			default:
				return err
			}
		}
		among, err := s.services.Patterns.List(ctx, learning.PatternFilter{Domain: lesson.Domain, Limit: lessonAmong})
		if err != nil {
			return err
		}
		for _, pattern := range among {
			if has := func() bool {
				for _, id := range pattern.LessonIDs {
					if id == lesson.ID {
						return true
					}
				}
				return false
			}; has() && pattern.ID != lesson.PatternID {
				page.In = append(page.In, pattern)
			}
		}
	}
	if s.services.Guard != nil && lesson.Type == learning.LessonAntiPattern {
		switch rule, err := s.services.Guard.Rule(ctx, lesson.ID); skillrouter.CodeOf(err) {
		case "":
			page.Rule = &rule
		case skillrouter.NotFound:
		default:
			return err
		}
	}
	return nil
}

// by is who acts from the dashboard: whom the token names or, if it names nobody, what is typed.
func (v *visit) by() string { return v.value("by") }

func (s *Server) validateLesson(v *visit, id string) error {
	_, err := s.services.Lessons.Validate(v.context(), id, learning.ValidationDraft{
		Type: learning.ValidationType(v.value("judgement")), By: v.by(), Notes: v.value("notes"),
	})
	return err
}

func (s *Server) applyLesson(v *visit, id string) error {
	_, err := s.services.Lessons.Apply(v.context(), id, learning.ApplicationDraft{Outcome: learning.Result(v.value("outcome")), Notes: v.value("notes"), Agent: v.by()})
	return err
}

func (s *Server) promoteLesson(v *visit, id string) error {
	_, err := s.services.Lessons.Promote(v.context(), id, learning.PromotionDraft{By: v.by(), Notes: v.value("notes")})
	return err
}

func (s *Server) retireLesson(v *visit, id string) error {
	_, err := s.services.Lessons.Retire(v.context(), id, learning.RetirementDraft{By: v.by(), Reason: v.value("reason"), SupersededBy: v.value("superseded_by")})
	return err
}

func (s *Server) restoreLesson(v *visit, id string) error {
	_, err := s.services.Lessons.Restore(v.context(), id, v.value("notes"))
	return err
}
