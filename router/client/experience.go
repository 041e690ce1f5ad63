package client

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

// Experience is learning.ExperienceService over HTTP.
type Experience struct{ c *Client }

var _ learning.ExperienceService = Experience{}

// Record implements learning.ExperienceService.
func (x Experience) Record(ctx context.Context, draft learning.ExperienceDraft) (learning.Recorded, error) {
	return call[learning.Recorded](ctx, x.c, http.MethodPost, at("/api/experience"), draft)
}

// Experience implements learning.ExperienceService.
func (x Experience) Experience(ctx context.Context, number int64) (learning.Experience, error) {
	return call[learning.Experience](ctx, x.c, http.MethodGet, at("/api/episodes/{id}", number), nil)
}

// Recall implements learning.ExperienceService.
func (x Experience) Recall(ctx context.Context, filter learning.ExperienceFilter) (learning.Recall, error) {
	from := at("/api/episodes")
	switch {
	case filter.Outcome != "" && (filter.ByOutcome || filter.OperationType == ""):
		from = at("/api/episodes/outcome/{outcome}", filter.Outcome).and("type", filter.OperationType)
	case filter.OperationType != "":
		from = at("/api/episodes/type/{type}", filter.OperationType).and("outcome", string(filter.Outcome))
	}
	return call[learning.Recall](ctx, x.c, http.MethodGet, from.with(page{filter.Limit, filter.Offset}), nil)
}

// page is how much of a list is asked for.
type page struct {
	Limit  int `query:"limit"`
	Offset int `query:"offset"`
}

// Patterns implements learning.ExperienceService.
func (x Experience) Patterns(ctx context.Context, filter learning.PatternFilter) (learning.ExperiencePatterns, error) {
	from := at("/api/patterns")
	if filter.Type != "" {
		from = at("/api/patterns/type/{type}", filter.Type)
		filter.Type = ""
	}
	return call[learning.ExperiencePatterns](ctx, x.c, http.MethodGet, from.with(filter), nil)
}

// Pattern implements learning.ExperienceService.
func (x Experience) Pattern(ctx context.Context, number int64) (learning.ExperiencePattern, error) {
	return call[learning.ExperiencePattern](ctx, x.c, http.MethodGet, at("/api/patterns/{id}", number), nil)
}

// Lessons implements learning.ExperienceService.
func (x Experience) Lessons(ctx context.Context, filter learning.LessonFilter) (learning.ExperienceLessons, error) {
	return call[learning.ExperienceLessons](ctx, x.c, http.MethodGet, at("/api/lessons").with(filter), nil)
}

// Lesson implements learning.ExperienceService.
func (x Experience) Lesson(ctx context.Context, number int64) (learning.ApplicableLesson, error) {
	return call[learning.ApplicableLesson](ctx, x.c, http.MethodGet, at("/api/lessons/{id}", number), nil)
}

// Applicable implements learning.ExperienceService.
func (x Experience) Applicable(ctx context.Context, query learning.ApplicableQuery) (learning.Applicable, error) {
	return call[learning.Applicable](ctx, x.c, http.MethodPost, at("/api/lessons/applicable"), query)
}

// Apply implements learning.ExperienceService.
func (x Experience) Apply(ctx context.Context, number int64, draft learning.ApplicationDraft) (learning.Applied, error) {
	return call[learning.Applied](ctx, x.c, http.MethodPost, at("/api/lessons/{id}/apply", number), draft)
}

// Learn implements learning.ExperienceService.
func (x Experience) Learn(ctx context.Context, draft learning.LearnDraft) (learning.Learned, error) {
	return call[learning.Learned](ctx, x.c, http.MethodPost, at("/api/lessons/learn"), draft)
}

// Stats implements learning.ExperienceService.
func (x Experience) Stats(ctx context.Context) (learning.ExperienceStats, error) {
	return call[learning.ExperienceStats](ctx, x.c, http.MethodGet, at("/api/stats"), nil)
}
