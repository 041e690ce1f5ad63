package learning

import (
	"strings"

	"skillrouter/tfidf"
)

// KeptLessons is the kind of the index of lessons, and lessonForm the form of its documents.
const (
	KeptLessons KeptKind = "lessons"
	lessonForm  int      = 2
)

// lessonDocument is what is searched of a lesson. Its domain is the document's
// category. Tags are words of its text too: whoever chose them meant the lesson
// to be found by them.
func lessonDocument(l *Lesson) tfidf.Document {
	parts := make([]string, 0, 16)
	for _, part := range []string{l.Context, l.Action, l.Outcome, l.RootCause, l.Solution, l.Body} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	for _, list := range [][]string{l.Alternatives, l.RelatedCommands, l.Contexts, l.Tags} {
		parts = append(parts, list...)
	}
	if l.Category != l.Domain {
		parts = append(parts, l.Category)
	}
	return tfidf.Document{
		ID: l.ID, Title: l.Title, Body: strings.Join(parts, "\n"), Category: l.Domain, Project: l.Project, Tags: written(foldTags(l.Tags), l.SourceAgent), Order: l.Number, At: moment(l.CreatedAt),
	}
}

// keep brings the index, the likeness and the rules in step with a lesson that
// a commit changed; it runs in commit order. before is the lesson as it was.
func (l *Lessons) keep(before, lesson *Lesson, reworded bool) {
	switch {
	case !lesson.active():
		l.remove(lesson.ID)
	case reworded || !before.active():
		l.put(*lesson)
	}
	if reworded {
		l.like.put(lesson.ID, l.like.prepare(lesson.likenessParts()))
	}
	if l.rules != nil && lesson.Type == LessonAntiPattern {
		l.rules.keepRules(*lesson)
	}
}

// likenessParts is what a lesson is compared by.
func (l *Lesson) likenessParts() likenessParts {
	return likenessParts{
		Type: l.Type, Title: l.Title, Domain: l.Domain, Cause: l.RootCause, Action: l.Action, Outcome: l.Outcome, Context: l.Context,
		Solution: l.Solution, Body: l.Body, Tags: l.Tags, Commands: l.RelatedCommands,
	}
}
