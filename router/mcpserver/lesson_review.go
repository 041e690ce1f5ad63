package mcpserver

import (
	"fmt"
	"strings"
	"time"

	"skillrouter/learning/lesson"
)

type lessonReview struct {
	lesson.Review
	Notice string `json:"notice,omitempty"`
}

type lessonHistory struct {
	Changes []lessonChange `json:"changes"`
	Notice  string         `json:"notice,omitempty"`
}

// lessonChange is a change without the text of an edit, which get_lesson and
// the HTTP side have.
type lessonChange struct {
	Seq        int64         `json:"seq"`
	Kind       string        `json:"kind"`
	Agent      string        `json:"agent_id,omitempty"`
	Note       string        `json:"note,omitempty"`
	Level      lesson.Level  `json:"level,omitempty"` // these three after the change
	Status     lesson.Status `json:"status,omitempty"`
	Confidence *float64      `json:"confidence,omitempty"`
	At         time.Time     `json:"at"`
}

// addLessonReview offers what lessons need an eye, and what happened to one.
func (s *Server) addLessonReview() {
	add(s, tool{
		name: "review_lessons", title: "Lessons to look at", set: ToolsetLessons, effect: reads, holds: "promotions stale",
		description: "What needs an eye: lessons that have the evidence for a promotion, and lessons that nobody has validated for long.",
	}, described[lesson.ReviewQuery]("stale_days", "domain", "limit"), then(s.services.Lessons.Review, shownReview))
	add(s, tool{
		name: "lesson_history", title: "What happened to a lesson", set: ToolsetLessons, effect: reads, holds: "changes",
		description: "Everything that happened to a lesson, oldest first.",
	}, whichLesson, then(s.services.Lessons.History, shownHistory))
}

func shownReview(found lesson.Review) (lessonReview, string) {
	out := lessonReview{Review: lesson.Review{Promotions: owned(found.Promotions), Stale: owned(found.Stale)}}
	if len(out.Promotions)+len(out.Stale) == 0 {
		return out, "Nothing needs an eye."
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
	return out, f.String()
}

func shownHistory(found []lesson.Change) (lessonHistory, string) {
	out := lessonHistory{Notice: notice, Changes: views(found, func(c lesson.Change) lessonChange {
		shown := lessonChange{Seq: c.Seq, Kind: c.Kind, Agent: c.Agent, Note: c.Note, At: c.At}
		if c.After != nil {
			shown.Level, shown.Status, shown.Confidence = c.After.Level, c.After.Status, &c.After.Confidence
		}
		return shown
	})}
	var texts [][]*string
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
	return out, f.String()
}
