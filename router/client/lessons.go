package client

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

// Lessons is learning.LessonService over HTTP.
type Lessons struct{ c *Client }

var _ learning.LessonService = Lessons{}

// Report implements learning.LessonService.
func (l Lessons) Report(ctx context.Context, draft learning.LessonDraft) (learning.Reported, error) {
	return call[learning.Reported](ctx, l.c, http.MethodPost, at("/lessons/report"), draft)
}

// ReportAll implements learning.LessonService. The router takes 32 MiB in one call.
func (l Lessons) ReportAll(ctx context.Context, drafts []learning.LessonDraft) (learning.BulkReported, error) {
	if drafts == nil {
		drafts = []learning.LessonDraft{}
	}
	return call[learning.BulkReported](ctx, l.c, http.MethodPost, at("/lessons/bulk"), drafts)
}

// Lesson implements learning.LessonService.
func (l Lessons) Lesson(ctx context.Context, ref string) (learning.Lesson, error) {
	return call[learning.Lesson](ctx, l.c, http.MethodGet, lessonAt(ref, ""), nil)
}

// List implements learning.LessonService.
func (l Lessons) List(ctx context.Context, filter learning.LessonFilter) (learning.LessonPage, error) {
	return call[learning.LessonPage](ctx, l.c, http.MethodGet, at("/lessons").with(filter), nil)
}

// Relevant implements learning.LessonService.
func (l Lessons) Relevant(ctx context.Context, query learning.LessonQuery) (learning.LessonResults, error) {
	return call[learning.LessonResults](ctx, l.c, http.MethodPost, at("/lessons/search"), query)
}

// Validate implements learning.LessonService.
func (l Lessons) Validate(ctx context.Context, ref string, draft learning.ValidationDraft) (learning.Lesson, error) {
	type judged struct {
		Lesson learning.Lesson `json:"lesson"`
	}
	answer, err := call[judged](ctx, l.c, http.MethodPost, lessonAt(ref, "/validate"), draft)
	return answer.Lesson, err
}

// Apply implements learning.LessonService.
func (l Lessons) Apply(ctx context.Context, ref string, draft learning.ApplicationDraft) (learning.Applied, error) {
	type applied struct {
		ID string `json:"id"`
		learning.Applied
	}
	answer, err := call[applied](ctx, l.c, http.MethodPost, lessonAt(ref, "/apply"), draft)
	answer.LessonID = answer.ID
	return answer.Applied, err
}

// Edit implements learning.LessonService.
func (l Lessons) Edit(ctx context.Context, ref string, patch learning.LessonPatch) (learning.Lesson, error) {
	return call[learning.Lesson](ctx, l.c, http.MethodPatch, lessonAt(ref, ""), patch)
}

// Promote implements learning.LessonService.
func (l Lessons) Promote(ctx context.Context, ref string, draft learning.PromotionDraft) (learning.Lesson, error) {
	return call[learning.Lesson](ctx, l.c, http.MethodPost, lessonAt(ref, "/promote"), draft)
}

// Retire implements learning.LessonService.
func (l Lessons) Retire(ctx context.Context, ref string, draft learning.RetirementDraft) (learning.Lesson, error) {
	return call[learning.Lesson](ctx, l.c, http.MethodPost, lessonAt(ref, "/retire"), draft)
}

// Restore implements learning.LessonService.
func (l Lessons) Restore(ctx context.Context, ref, note string) (learning.Lesson, error) {
	return call[learning.Lesson](ctx, l.c, http.MethodPost, lessonAt(ref, "/restore"), map[string]string{"note": note})
}

// Review implements learning.LessonService.
func (l Lessons) Review(ctx context.Context, query learning.ReviewQuery) (learning.Review, error) {
	return call[learning.Review](ctx, l.c, http.MethodGet, at("/lessons/review").with(query), nil)
}

// History implements learning.LessonService.
func (l Lessons) History(ctx context.Context, ref string) ([]learning.LessonChange, error) {
	return list[learning.LessonChange](ctx, l.c, lessonAt(ref, "/history"), "changes")
}

// lessonAt is a path below a lesson.
func lessonAt(ref, below string) address {
	return at("/lessons/{lesson}"+below, unlike(ref, "review", "report", "bulk", "search"))
}
