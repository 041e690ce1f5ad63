package lesson

import (
	"context"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/likeness"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/tfidf"
)

// IndexKind is the kind of the index of lessons.
const IndexKind shelf.IndexKind = "lessons"

// document is what is searched of a lesson. Its domain is the document's
// category. It and the tags are words of its text too: whoever chose them meant
// the lesson to be found by them.
func document(l *Lesson) tfidf.Document {
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
	parts = append(parts, l.Domain)
	return tfidf.Document{
		ID: l.ID, Title: l.Title, Body: strings.Join(parts, "\n"), Category: l.Domain, Project: l.Project, Tags: shelf.Written(learning.FoldTags(l.Tags), l.SourceAgent), Order: l.Number, At: shelf.Moment(l.CreatedAt),
	}
}

// keep brings the index, the likeness and the rules in step with a lesson that
// a commit changed; it runs in commit order. before is the lesson as it was.
func (l *Lessons) keep(before, lesson *Lesson, reworded bool) {
	switch {
	case !lesson.active():
		l.Remove(lesson.ID)
	case reworded || !before.active():
		l.Put(*lesson)
	}
	if reworded {
		l.like.Put(lesson.ID, likeness.Prepare(lesson.likenessParts()))
	}
	if l.rules != nil && lesson.Type == learning.LessonAntiPattern {
		l.rules.KeepRules(*lesson)
	}
}

// ran are the commands of a lesson. Reporters of failures give none: of a grave one it is what was done, where that reads as a
// command. A build or a test that fails is everyday work, and no grave failure.
func (l *Lesson) ran() []string {
	grave := l.Severity == learning.SeverityCritical || l.Severity == learning.SeverityHigh
	if len(l.RelatedCommands) == 0 && l.Type == learning.LessonFailure && grave && rule.LooksCommand(l.Action) {
		return []string{l.Action}
	}
	return l.RelatedCommands
}

// likeness.Parts is what a lesson is compared by.
func (l *Lesson) likenessParts() likeness.Parts {
	return likeness.Parts{
		Type: l.Type, Title: l.Title, Domain: l.Domain, Cause: l.RootCause, Action: l.Action, Outcome: l.Outcome, Context: l.Context,
		Solution: l.Solution, Body: l.Body, Tags: l.Tags, Commands: l.RelatedCommands, Ran: l.ran(),
	}
}

// Rebuild builds the index anew from the database, and reads in what reports
// are compared with. Lessons may be searched meanwhile.
func (l *Lessons) Rebuild(ctx context.Context) error {
	if err := l.Shelf.Rebuild(ctx); err != nil {
		return err
	}
	l.reading.Lock()
	defer l.reading.Unlock()
	return l.recall(ctx)
}

// Run reads in what reports are compared with, and keeps the index until ctx
// ends. Then it returns nil.
func (l *Lessons) Run(ctx context.Context) error {
	var reading sync.WaitGroup
	defer reading.Wait()
	reading.Go(func() {
		if err := l.ready(ctx); err != nil && ctx.Err() == nil {
			l.log.ErrorContext(ctx, "the lessons cannot be read in; the next report tries again", "error", err)
		}
	})
	return l.RunIndex(ctx)
}

// ready waits until that is read in with which reports and changes are compared: the likeness of every lesson, and the
// representatives of the patterns. A report that were compared with half of the lessons would be stored twice, and form
// patterns of its own. Searches need none of it.
func (l *Lessons) ready(ctx context.Context) error {
	l.reading.Lock()
	defer l.reading.Unlock()
	if l.read {
		return nil
	}
	return l.recall(ctx)
}

// recall reads in the likeness of all lessons, and then the patterns'.
func (l *Lessons) recall(ctx context.Context) error {
	err := l.store.ScanLessons(ctx, func(chunk []Lesson) error {
		for i := range chunk {
			if err := ctx.Err(); err != nil {
				return err // a stop need not wait for the rest of the chunk
			}
			l.like.Put(chunk[i].ID, likeness.Prepare(chunk[i].likenessParts()))
		}
		return nil
	})
	if err == nil && l.patterns != nil {
		err = l.patterns.recall(ctx)
	}
	l.read = l.read || err == nil
	return err
}
