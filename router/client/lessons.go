package client

import (
	"context"
	"net/http"

	"skillrouter/learning/lesson"
)

// Lessons is lesson.Service over HTTP.
type Lessons struct{ c *Client }

var _ lesson.Service = Lessons{}

// Report implements lesson.Service.
func (l Lessons) Report(ctx context.Context, draft lesson.Draft) (lesson.Reported, error) {
	return call[lesson.Reported](ctx, l.c, http.MethodPost, at("/lessons/report"), draft)
}

// ReportAll implements lesson.Service. The router takes 32 MiB in one call.
func (l Lessons) ReportAll(ctx context.Context, drafts []lesson.Draft) (lesson.BulkReported, error) {
	if drafts == nil {
		drafts = []lesson.Draft{}
	}
	return call[lesson.BulkReported](ctx, l.c, http.MethodPost, at("/lessons/bulk"), drafts)
}

// Lesson implements lesson.Service.
func (l Lessons) Lesson(ctx context.Context, ref string) (lesson.Lesson, error) {
	return call[lesson.Lesson](ctx, l.c, http.MethodGet, lessonAt(ref, ""), nil)
}

// List implements lesson.Service.
func (l Lessons) List(ctx context.Context, filter lesson.Filter) (lesson.Page, error) {
	return call[lesson.Page](ctx, l.c, http.MethodGet, at("/lessons").with(filter), nil)
}

// Relevant implements lesson.Service.
func (l Lessons) Relevant(ctx context.Context, query lesson.Query) (lesson.Results, error) {
	return call[lesson.Results](ctx, l.c, http.MethodPost, at("/lessons/search"), query)
}

// Validate implements lesson.Service.
func (l Lessons) Validate(ctx context.Context, ref string, draft lesson.ValidationDraft) (lesson.Lesson, error) {
	type judged struct {
		Lesson lesson.Lesson `json:"lesson"`
	}
	answer, err := call[judged](ctx, l.c, http.MethodPost, lessonAt(ref, "/validate"), draft)
	return answer.Lesson, err
}

// Apply implements lesson.Service.
func (l Lessons) Apply(ctx context.Context, ref string, draft lesson.ApplicationDraft) (lesson.Applied, error) {
	type applied struct {
		ID string `json:"id"`
		lesson.Applied
	}
	answer, err := call[applied](ctx, l.c, http.MethodPost, lessonAt(ref, "/apply"), draft)
	answer.LessonID = answer.ID
	return answer.Applied, err
}

// Edit implements lesson.Service.
func (l Lessons) Edit(ctx context.Context, ref string, patch lesson.Patch) (lesson.Lesson, error) {
	return call[lesson.Lesson](ctx, l.c, http.MethodPatch, lessonAt(ref, ""), patch)
}

// Promote implements lesson.Service.
func (l Lessons) Promote(ctx context.Context, ref string, draft lesson.PromotionDraft) (lesson.Lesson, error) {
	return call[lesson.Lesson](ctx, l.c, http.MethodPost, lessonAt(ref, "/promote"), draft)
}

// Retire implements lesson.Service.
func (l Lessons) Retire(ctx context.Context, ref string, draft lesson.RetirementDraft) (lesson.Lesson, error) {
	return call[lesson.Lesson](ctx, l.c, http.MethodPost, lessonAt(ref, "/retire"), draft)
}

// Restore implements lesson.Service.
func (l Lessons) Restore(ctx context.Context, ref, note string) (lesson.Lesson, error) {
	return call[lesson.Lesson](ctx, l.c, http.MethodPost, lessonAt(ref, "/restore"), map[string]string{"note": note})
}

// Review implements lesson.Service.
func (l Lessons) Review(ctx context.Context, query lesson.ReviewQuery) (lesson.Review, error) {
	return call[lesson.Review](ctx, l.c, http.MethodGet, at("/lessons/review").with(query), nil)
}

// History implements lesson.Service.
func (l Lessons) History(ctx context.Context, ref string) ([]lesson.Change, error) {
	return list[lesson.Change](ctx, l.c, lessonAt(ref, "/history"), "changes")
}

// lessonAt is a path below a lesson.
func lessonAt(ref, below string) address {
	return at("/lessons/{lesson}"+below, unlike(ref, "review", "report", "bulk", "search"))
}
