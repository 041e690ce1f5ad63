package learning

import (
	"context"
	"strings"

	"skillrouter/tfidf"
)

// Len returns how many lessons can be found.
func (l *Lessons) Len() int { return l.kept.Len() }

// IndexState tells how the search index is doing.
func (l *Lessons) IndexState() tfidf.KeeperState { return l.kept.State() }

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
		l.removeDocument(lesson.ID)
	case reworded || !before.active():
		l.putDocuments([]tfidf.Document{lessonDocument(lesson)})
	}
	if reworded {
		l.like.put(lesson.ID, l.like.prepare(*lesson))
	}
	if l.rules != nil && lesson.Type == LessonAntiPattern {
		l.rules.keepRules(*lesson)
	}
}

// putDocuments and removeDocument keep the index in step with commits.
func (l *Lessons) putDocuments(docs []tfidf.Document) {
	if len(docs) == 0 {
		return
	}
	l.kept.Put(docs...)
	l.vectors.Load().touch(EmbeddedLesson, documentIDs(docs)...)
}

func (l *Lessons) removeDocument(id string) {
	l.kept.Delete(id)
	l.vectors.Load().touch(EmbeddedLesson, id)
}

// scanDocuments visits what is searched of every lesson that is not retired, oldest first.
func (l *Lessons) scanDocuments(ctx context.Context, visit func(docs []tfidf.Document) error) error {
	return l.store.ScanLessons(ctx, func(chunk []Lesson) error { return visit(lessonDocuments(chunk)) })
}

// documents returns what is searched of lessons that are not retired.
func (l *Lessons) documents(ctx context.Context, ids []string) ([]tfidf.Document, error) {
	lessons, err := l.store.Lessons(ctx, ids)
	return lessonDocuments(lessons), err
}

func lessonDocuments(lessons []Lesson) []tfidf.Document {
	docs := make([]tfidf.Document, 0, len(lessons))
	for i := range lessons {
		if lessons[i].active() {
			docs = append(docs, lessonDocument(&lessons[i]))
		}
	}
	return docs
}

// Check compares the index with the database. Lessons that are reported or
// retired meanwhile may show as missing or surplus.
func (l *Lessons) Check(ctx context.Context) (IndexCheck, error) {
	return checkIndex(l.kept.Index().IDs(), func(visit func(id string)) error { return l.store.LessonIDs(ctx, visit) })
}
