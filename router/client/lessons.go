package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"skillrouter/learning"
)

// Lessons is learning.LessonService over HTTP.
type Lessons struct{ c *Client }

var _ learning.LessonService = Lessons{}

// Report implements learning.LessonService.
func (l Lessons) Report(ctx context.Context, draft learning.LessonDraft) (learning.Reported, error) {
	return call[learning.Reported](ctx, l.c, http.MethodPost, "/lessons/report", nil, draft)
}

// ReportAll implements learning.LessonService. The router takes 32 MiB in one call.
func (l Lessons) ReportAll(ctx context.Context, drafts []learning.LessonDraft) (learning.BulkReported, error) {
	if drafts == nil {
		drafts = []learning.LessonDraft{}
	}
	return call[learning.BulkReported](ctx, l.c, http.MethodPost, "/lessons/bulk", nil, drafts)
}

// Lesson implements learning.LessonService.
func (l Lessons) Lesson(ctx context.Context, ref string) (learning.Lesson, error) {
	return onLesson[learning.Lesson](ctx, l.c, http.MethodGet, ref, "", nil)
}

// List implements learning.LessonService.
func (l Lessons) List(ctx context.Context, filter learning.LessonFilter) (learning.LessonPage, error) {
	return call[learning.LessonPage](ctx, l.c, http.MethodGet, "/lessons", values(
		"lesson_type", filter.Type, "domain", filter.Domain, "category", filter.Category, "severity", filter.Severity,
		"level", filter.Level, "status", list(filter.Statuses), "source_agent", filter.SourceAgent, "project", filter.Project,
		"tag", filter.Tag, "min_confidence", filter.MinConfidence, "since", filter.Since, "cursor", filter.Cursor, "limit", filter.Limit,
	), nil)
}

// Relevant implements learning.LessonService.
func (l Lessons) Relevant(ctx context.Context, query learning.LessonQuery) (learning.LessonResults, error) {
	return call[learning.LessonResults](ctx, l.c, http.MethodPost, "/lessons/search", nil, query)
}

// Validate implements learning.LessonService.
func (l Lessons) Validate(ctx context.Context, ref string, draft learning.ValidationDraft) (learning.Lesson, error) {
	type judged struct {
		Lesson learning.Lesson `json:"lesson"`
	}
	answer, err := onLesson[judged](ctx, l.c, http.MethodPost, ref, "/validate", draft)
	return answer.Lesson, err
}

// Apply implements learning.LessonService.
func (l Lessons) Apply(ctx context.Context, ref string, draft learning.ApplicationDraft) (learning.Applied, error) {
	type applied struct {
		ID string `json:"id"`
		learning.Applied
	}
	answer, err := onLesson[applied](ctx, l.c, http.MethodPost, ref, "/apply", draft)
	answer.LessonID = answer.ID
	return answer.Applied, err
}

// Edit implements learning.LessonService.
func (l Lessons) Edit(ctx context.Context, ref string, patch learning.LessonPatch) (learning.Lesson, error) {
	return onLesson[learning.Lesson](ctx, l.c, http.MethodPatch, ref, "", patch)
}

// Promote implements learning.LessonService.
func (l Lessons) Promote(ctx context.Context, ref string, draft learning.PromotionDraft) (learning.Lesson, error) {
	return onLesson[learning.Lesson](ctx, l.c, http.MethodPost, ref, "/promote", draft)
}

// Retire implements learning.LessonService.
func (l Lessons) Retire(ctx context.Context, ref string, draft learning.RetirementDraft) (learning.Lesson, error) {
	return onLesson[learning.Lesson](ctx, l.c, http.MethodPost, ref, "/retire", draft)
}

// Restore implements learning.LessonService.
func (l Lessons) Restore(ctx context.Context, ref, note string) (learning.Lesson, error) {
	return onLesson[learning.Lesson](ctx, l.c, http.MethodPost, ref, "/restore", map[string]string{"note": note})
}

// Review implements learning.LessonService.
func (l Lessons) Review(ctx context.Context, query learning.ReviewQuery) (learning.Review, error) {
	return call[learning.Review](ctx, l.c, http.MethodGet, "/lessons/review", values(
		"stale_days", query.StaleDays, "domain", query.Domain, "limit", query.Limit,
	), nil)
}

// History implements learning.LessonService.
func (l Lessons) History(ctx context.Context, ref string) ([]learning.LessonChange, error) {
	type listing struct {
		Changes []learning.LessonChange `json:"changes"`
	}
	found, err := onLesson[listing](ctx, l.c, http.MethodGet, ref, "/history", nil)
	return found.Changes, err
}

// lessonVerbs are the names that stand where a lesson's id does. A lesson
// whose id is one of them is reached with its first letter escaped.
var lessonVerbs = []string{"review", "report", "bulk", "search"}

func onLesson[Out any](ctx context.Context, c *Client, method, ref, verb string, in any) (Out, error) {
	path, err := segment("lesson", ref)
	if err != nil {
		var none Out
		return none, err
	}
	if slices.Contains(lessonVerbs, path) {
		path = fmt.Sprintf("%%%02X%s", path[0], path[1:])
	}
	return call[Out](ctx, c, method, "/lessons/"+path+verb, nil, in)
}
