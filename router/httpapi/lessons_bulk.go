package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"

	"skillrouter"
	"skillrouter/learning"
)

// Bounds of a bulk report. Its lessons may name each other as sources, in any
// order, and so they are reported together: unlike knowledge, they are held in
// memory until the last has come in.
const (
	// maxLessonsBody bounds the body, in bytes: 10,000 lessons of 3 KiB each.
	maxLessonsBody = 32 << 20
	// maxLessons bounds how many lessons it has: it is what the shortest ones that
	// could be stored make of the bound above.
	maxLessons = 100_000
)

// lessonsProblem is the answer to a bulk report that was broken off, with what
// was stored before.
type lessonsProblem struct {
	*Problem
	learning.BulkReported
}

// lessonBulkRoutes mounts both calls of seed 000 that take a list of lessons.
func (s *Server) lessonBulkRoutes(lessons learning.LessonService) {
	for path, summary := range map[string]string{
		"/lessons/bulk":            "Report many lessons, sent as a JSON array or as one JSON object a line",
		"/claude-code/session-end": "Report all that a session taught; the same as /lessons/bulk",
	} {
		op := operation(http.MethodPost, path, "lessons", summary)
		op.Description = "Lessons that are refused are listed by their place and stop nothing; the same lesson again is another occurrence. " +
			"The body has at most 32 MiB and 100,000 lessons. If it is broken off or malformed, nothing is stored."
		bulk[learning.LessonDraft, learning.BulkReported, lessonsProblem]{
			op: op, limit: maxLessonsBody, record: maxLesson,
			store: func(ctx context.Context, next func() (learning.LessonDraft, error)) (learning.BulkReported, error) {
				return reportAll(ctx, lessons, next)
			},
			broken: func(p *Problem, result learning.BulkReported) lessonsProblem { return lessonsProblem{p, result} },
		}.mount(s)
	}
}

// reportAll reads the drafts and reports those that can be read; places in the
// answer are those in the request.
func reportAll(ctx context.Context, lessons learning.LessonService, next func() (learning.LessonDraft, error)) (learning.BulkReported, error) {
	none := learning.BulkReported{Results: []learning.BulkOutcome{}, Refused: []learning.Refusal{}}
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeAgent); err != nil {
		return none, err // before a body is read that will be of no use
	}
	var drafts []learning.LessonDraft
	var places []int // of the drafts in the request
	var unread []learning.Refusal
	count := 0
	for ; ; count++ {
		draft, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if bad, ok := errors.AsType[*learning.BadRecord](err); ok {
			unread = append(unread, learning.Refusal{Index: count, Field: skillrouter.FieldOf(bad.Err), Error: problemOf(bad.Err).Detail})
			continue
		}
		if err != nil {
			return none, err
		}
		if len(drafts) == maxLessons {
			return none, skillrouter.Errorf(skillrouter.TooLarge, "the body has more than %d lessons: send it in parts", maxLessons)
		}
		drafts, places = append(drafts, draft), append(places, count)
	}
	result := none
	var err error
	if len(drafts) > 0 {
		result, err = lessons.ReportAll(ctx, drafts)
	}
	for i := range result.Results {
		result.Results[i].Index = places[result.Results[i].Index]
	}
	for i := range result.Refused {
		result.Refused[i].Index = places[result.Refused[i].Index]
	}
	result.Results = emptied(result.Results)
	result.Refused = append(emptied(result.Refused), unread...)
	slices.SortFunc(result.Refused, func(a, b learning.Refusal) int { return a.Index - b.Index })
	result.Refused = result.Refused[:min(len(result.Refused), learning.MaxRefusals)]
	result.RefusedCount += len(unread)
	return result, err
}
