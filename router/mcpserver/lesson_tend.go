package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"skillrouter/learning"
)

type lessonRef struct {
	Lesson string `json:"lesson"`
}

type listLessons struct {
	Type     learning.LessonType   `json:"lesson_type"`
	Domain   string                `json:"domain"`
	Category string                `json:"category"`
	Severity learning.Severity     `json:"severity"`
	Level    learning.Level        `json:"level"`
	Status   learning.LessonStatus `json:"status"`
	Tag      string                `json:"tag"`
	Project  string                `json:"project"`
	Cursor   string                `json:"cursor"`
	Limit    int                   `json:"limit"`
}

type validateLesson struct {
	Lesson string                  `json:"lesson"`
	Type   learning.ValidationType `json:"validation_type"`
	Notes  string                  `json:"notes"`
}

type promoteLesson struct {
	Lesson  string   `json:"lesson"`
	Sources []string `json:"source_case_ids"`
	Notes   string   `json:"notes"`
}

type retireLesson struct {
	Lesson       string `json:"lesson"`
	Reason       string `json:"reason"`
	SupersededBy string `json:"superseded_by"`
}

type restoreLesson struct {
	Lesson string `json:"lesson"`
	Note   string `json:"note"`
}

type reviewLessons struct {
	StaleDays int    `json:"stale_days"`
	Domain    string `json:"domain"`
	Limit     int    `json:"limit"`
}

type lessonPage struct {
	Lessons []lesson `json:"lessons"`
	Next    string   `json:"next,omitempty"` // cursor of the next page
	Notice  string   `json:"notice,omitempty"`
}

type oneLesson struct {
	Lesson lesson `json:"lesson"`
	Notice string `json:"notice"`
}

type lessonReview struct {
	learning.Review
	Notice string `json:"notice,omitempty"`
}

type lessonHistory struct {
	Changes []lessonChange `json:"changes"`
	Notice  string         `json:"notice,omitempty"`
}

// lessonChange is a change without the text of an edit, which get_lesson and
// the HTTP side have.
type lessonChange struct {
	Seq        int64                 `json:"seq"`
	Kind       string                `json:"kind"`
	Agent      string                `json:"agent_id,omitempty"`
	Note       string                `json:"note,omitempty"`
	Level      learning.Level        `json:"level,omitempty"` // these three after the change
	Status     learning.LessonStatus `json:"status,omitempty"`
	Confidence *float64              `json:"confidence,omitempty"`
	At         time.Time             `json:"at"`
}

// ref is how every tool here names a lesson.
func ref() field { return required(text("lesson", "Its id or number")) }

// addLessonTending offers what looks after lessons, in the toolset for it.
func (s *Server) addLessonTending() {
	add(s, tool{
		name: "list_lessons", title: "List lessons", set: ToolsetLessons, effect: reads,
		description: "Lessons by what they are, newest first; retired ones only if asked for.",
		input: arguments(
			oneOf("lesson_type", "", learning.LessonTypes()...),
			text("domain", ""),
			text("category", ""),
			oneOf("severity", "", learning.Severities()...),
			oneOf("level", "", learning.Levels()...),
			oneOf("status", "", learning.LessonStatuses()...),
			text("tag", ""),
			text("project", ""),
			text("cursor", "The next of the page before"),
			integer("limit", "Default 50", 1, learning.MaxLimit),
		),
		output: holds("lessons"),
	}, s.listLessons)
	add(s, tool{
		name: "get_lesson", title: "One lesson", set: ToolsetLessons, effect: reads,
		description: "Everything that a lesson says.",
		input:       arguments(ref()),
		output:      holds("lesson"),
	}, s.getLesson)
	add(s, tool{
		name: "validate_lesson", title: "Judge a lesson", set: ToolsetLessons, effect: adds,
		description: "Say whether a lesson holds; its confidence moves with it.",
		input: arguments(
			ref(),
			required(oneOf("validation_type", "", learning.ValidationTypes()...)),
			text("notes", "Why"),
		),
		output: holds("lesson"),
	}, s.validateLesson)
	add(s, tool{
		name: "promote_lesson", title: "Promote a lesson", set: ToolsetLessons, effect: adds,
		description: "Draw a pattern, a new lesson, from two independent cases, which stay; or raise a pattern to a principle (three successful applications in distinct contexts). A refusal says which evidence is missing.",
		input: arguments(
			ref(),
			texts("source_case_ids", "Further lessons that it was drawn from"),
			text("notes", ""),
		),
		output: holds("lesson"),
	}, s.promoteLesson)
	add(s, tool{
		name: "retire_lesson", title: "Retire a lesson", set: ToolsetLessons, effect: adds,
		description: "Take a lesson out of use. It is kept with its history and can be restored.",
		input: arguments(
			ref(),
			required(text("reason", "")),
			text("superseded_by", "The lesson that stands in its place"),
		),
		output: holds("lesson"),
	}, s.retireLesson)
	add(s, tool{
		name: "restore_lesson", title: "Restore a lesson", set: ToolsetLessons, effect: ensure,
		description: "Take a retired lesson back into use.",
		input:       arguments(ref(), text("note", "Why")),
		output:      holds("lesson"),
	}, s.restoreLesson)
	add(s, tool{
		name: "review_lessons", title: "Lessons to look at", set: ToolsetLessons, effect: reads,
		description: "What needs an eye: lessons that have the evidence for a promotion, and lessons that nobody has validated for long.",
		input: arguments(
			whole("stale_days", "Default 90"),
			text("domain", ""),
			integer("limit", "", 1, learning.MaxLimit),
		),
		output: holds("promotions", "stale"),
	}, s.reviewLessons)
	add(s, tool{
		name: "lesson_history", title: "What happened to a lesson", set: ToolsetLessons, effect: reads,
		description: "Everything that happened to a lesson, oldest first.",
		input:       arguments(ref()),
		output:      holds("changes"),
	}, s.lessonHistory)
}

func (s *Server) listLessons(ctx context.Context, in listLessons) (reply[lessonPage], error) {
	filter := learning.LessonFilter{
		Type: in.Type, Domain: in.Domain, Category: in.Category, Severity: in.Severity, Level: in.Level,
		Tag: in.Tag, Project: in.Project, Cursor: in.Cursor, Limit: in.Limit,
	}
	if in.Status != "" {
		filter.Statuses = []learning.LessonStatus{in.Status}
	}
	page, err := s.services.Lessons.List(ctx, filter)
	if err != nil {
		return reply[lessonPage]{}, err
	}
	out := lessonPage{Lessons: []lesson{}, Next: page.Next}
	for _, l := range page.Lessons {
		out.Lessons = append(out.Lessons, shownLesson(l))
	}
	if len(out.Lessons) == 0 {
		return reply[lessonPage]{out, "There are no such lessons."}, nil
	}
	out.Notice = notice
	f := newFence("%s, newest first.", count(len(out.Lessons), "lesson", "lessons"))
	f.addLessons(out.Lessons)
	if out.Next != "" {
		f.say("There are more: ask again with cursor %q.", out.Next)
	}
	return reply[lessonPage]{out, f.String()}, nil
}

// changed answers with a lesson, after what was done to it.
func changed(l learning.Lesson, err error, format string, args ...any) (reply[oneLesson], error) {
	if err != nil {
		return reply[oneLesson]{}, err
	}
	list := []lesson{shownLesson(l)}
	f := newFence(format, args...)
	f.addLessons(list)
	return reply[oneLesson]{oneLesson{list[0], notice}, f.String()}, nil
}

func (s *Server) getLesson(ctx context.Context, in lessonRef) (reply[oneLesson], error) {
	l, err := s.services.Lessons.Lesson(ctx, in.Lesson)
	return changed(l, err, "Lesson %d.", l.Number)
}

func (s *Server) validateLesson(ctx context.Context, in validateLesson) (reply[oneLesson], error) {
	l, err := s.services.Lessons.Validate(ctx, in.Lesson, learning.ValidationDraft{Type: in.Type, By: s.actor(ctx, ""), Notes: in.Notes})
	return changed(l, err, "Judged %s; lesson %d has confidence %.2f now.", in.Type, l.Number, l.Confidence)
}

func (s *Server) promoteLesson(ctx context.Context, in promoteLesson) (reply[oneLesson], error) {
	l, err := s.services.Lessons.Promote(ctx, in.Lesson, learning.PromotionDraft{By: s.actor(ctx, ""), Sources: in.Sources, Notes: in.Notes})
	return changed(l, err, "Lesson %d is a %s now.", l.Number, l.Level)
}

func (s *Server) retireLesson(ctx context.Context, in retireLesson) (reply[oneLesson], error) {
	l, err := s.services.Lessons.Retire(ctx, in.Lesson, learning.RetirementDraft{By: s.actor(ctx, ""), Reason: in.Reason, SupersededBy: in.SupersededBy})
	return changed(l, err, "Lesson %d is retired.", l.Number)
}

func (s *Server) restoreLesson(ctx context.Context, in restoreLesson) (reply[oneLesson], error) {
	l, err := s.services.Lessons.Restore(ctx, in.Lesson, in.Note)
	return changed(l, err, "Lesson %d is in use again.", l.Number)
}

func (s *Server) reviewLessons(ctx context.Context, in reviewLessons) (reply[lessonReview], error) {
	found, err := s.services.Lessons.Review(ctx, learning.ReviewQuery{StaleDays: in.StaleDays, Domain: in.Domain, Limit: in.Limit})
	if err != nil {
		return reply[lessonReview]{}, err
	}
	out := lessonReview{Review: found}
	out.Promotions = append([]learning.Suggestion{}, found.Promotions...)
	out.Stale = append([]learning.StaleLesson{}, found.Stale...)
	if len(out.Promotions)+len(out.Stale) == 0 {
		return reply[lessonReview]{out, "Nothing needs an eye."}, nil
	}
	var texts [][]*string
	for i := range out.Promotions {
		texts = append(texts, []*string{&out.Promotions[i].Title, &out.Promotions[i].Why})
	}
	for i := range out.Stale {
		texts = append(texts, []*string{&out.Stale[i].Title})
	}
	fitTexts(texts)
	out.Notice = notice
	f := newFence("%s can be promoted, %s not validated for long.",
		count(len(out.Promotions), "lesson", "lessons"), count(len(out.Stale), "lesson was", "lessons were"))
	f.explain()
	for _, p := range out.Promotions {
		f.add(fmt.Sprintf("Lesson %d, from %s to %s:", p.Number, p.From, p.To), p.Title, p.Why, part("Evidence", strings.Join(p.Evidence, ", ")))
	}
	for _, l := range out.Stale {
		f.add(fmt.Sprintf("Lesson %d (%s), %.0f days without validation:", l.Number, l.Level, l.Days), l.Title)
	}
	return reply[lessonReview]{out, f.String()}, nil
}

func (s *Server) lessonHistory(ctx context.Context, in lessonRef) (reply[lessonHistory], error) {
	found, err := s.services.Lessons.History(ctx, in.Lesson)
	if err != nil {
		return reply[lessonHistory]{}, err
	}
	out := lessonHistory{Changes: []lessonChange{}, Notice: notice}
	var texts [][]*string
	for _, c := range found {
		shown := lessonChange{Seq: c.Seq, Kind: c.Kind, Agent: c.Agent, Note: c.Note, At: c.At}
		if c.After != nil {
			shown.Level, shown.Status, shown.Confidence = c.After.Level, c.After.Status, &c.After.Confidence
		}
		out.Changes = append(out.Changes, shown)
	}
	for i := range out.Changes {
		texts = append(texts, []*string{&out.Changes[i].Note})
	}
	fitTexts(texts)
	f := newFence("%s, oldest first.", count(len(out.Changes), "change", "changes"))
	f.explain()
	for _, c := range out.Changes {
		label := fmt.Sprintf("%s %s by %s", c.At.UTC().Format(time.RFC3339), visible(c.Kind), author(c.Agent))
		if c.Confidence != nil {
			label += fmt.Sprintf("; then %s %s, confidence %.2f", c.Status, c.Level, *c.Confidence)
		}
		f.add(label, c.Note)
	}
	return reply[lessonHistory]{out, f.String()}, nil
}
