package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Bounds of a bulk report. Its lessons may name each other as sources, in any
// order, and so they are reported together: unlike knowledge, they are held in
// memory until the last has come in.
const (
	// maxLessonsBody bounds the body, in bytes: 10,000 lessons of 3 KiB each.
	maxLessonsBody = 32 << 20
	// maxLessons bounds how many lessons it has: what they become takes half a KiB each
	// and as much again while they are reported, however short they are.
	maxLessons = 50_000
)

// lessonsProblem is the answer to a bulk report that was broken off, with what
// was stored before.
type lessonsProblem struct {
	*Problem
	lesson.BulkReported
}

// lessonBulkRoutes mounts both calls of MNEMOSYNE that take a list of lessons.
func (s *Server) lessonBulkRoutes(lessons lesson.Service) {
	turn := make(chan struct{}, 1) // two lists would be held in memory to be written one after the other
	for path, summary := range map[string]string{
		"/lessons/bulk":            "Report many lessons, sent as a JSON array or as one JSON object a line",
		"/claude-code/session-end": "Report all that a session taught; the same as /lessons/bulk",
	} {
		op := documented(http.MethodPost, path, "lessons", summary)
		op.Description = "Lessons that are refused are listed by their place and stop nothing; the same lesson again is another occurrence. " +
			"The body has at most 32 MiB and 50,000 lessons. If it is broken off or malformed, nothing is stored."
		bulk[lesson.Draft, lesson.BulkReported, lessonsProblem]{
			op: op, need: principal.ScopeAgent, limit: maxLessonsBody, record: maxLesson,
			store: func(ctx context.Context, from *records[lesson.Draft]) (lesson.BulkReported, error) {
				return takeTurn(ctx, turn, func() (lesson.BulkReported, error) { return reportAll(ctx, lessons, from.next) })
			},
			broken: func(p *Problem, result lesson.BulkReported) lessonsProblem { return lessonsProblem{p, result} },
		}.mount(s)
	}
}

// reportAll reads the drafts and reports those that can be read; places in the answer are those in the request.
func reportAll(ctx context.Context, lessons lesson.Service, next func() (lesson.Draft, error)) (lesson.BulkReported, error) {
	none := lesson.BulkReported{Results: []lesson.BulkOutcome{}, Refused: []learning.Refusal{}}
	var drafts []lesson.Draft
	var places []int // of the drafts in the request
	var unread []learning.Refusal
	for at := 0; ; at++ {
		draft, err := next()
		bad, unfit := errors.AsType[*knowledge.BadRecord](err)
		switch {
		case errors.Is(err, io.EOF):
			return report(ctx, lessons, drafts, places, unread)
		case err != nil && !unfit:
			return none, err
		case at == maxLessons:
			return none, errs.Errorf(errs.TooLarge, "the body has more than %d lessons: send it in parts", maxLessons)
		case unfit:
			unread = append(unread, learning.Refusal{Index: at, Field: errs.FieldOf(bad.Err), Error: problemOf(bad.Err).Detail})
		default:
			drafts, places = append(drafts, draft), append(places, at)
		}
	}
}

func report(ctx context.Context, lessons lesson.Service, drafts []lesson.Draft, places []int, unread []learning.Refusal) (result lesson.BulkReported, err error) {
	if len(drafts) > 0 {
		result, err = lessons.ReportAll(ctx, drafts)
	}
	for i := range result.Results {
		result.Results[i].Index = places[result.Results[i].Index]
	}
	for i := range result.Refused {
		result.Refused[i].Index = places[result.Refused[i].Index]
	}
	result.Results = append([]lesson.BulkOutcome{}, result.Results...) // a list even if it is empty
	result.Refused = append(append([]learning.Refusal{}, result.Refused...), unread...)
	slices.SortFunc(result.Refused, func(a, b learning.Refusal) int { return a.Index - b.Index })
	result.Refused = result.Refused[:min(len(result.Refused), learning.MaxRefusals)]
	result.RefusedCount += len(unread)
	return result, err
}
