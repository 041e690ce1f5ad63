package client

import (
	"context"
	"net/http"

	"skillrouter/learning/experience"
	"skillrouter/learning/lesson"
)

// Experience is experience.Service over HTTP.
type Experience struct{ c *Client }

var _ experience.Service = Experience{}

// Record implements experience.Service.
func (x Experience) Record(ctx context.Context, draft experience.Draft) (experience.Recorded, error) {
	return call[experience.Recorded](ctx, x.c, http.MethodPost, at("/api/experience"), draft)
}

// Experience implements experience.Service.
func (x Experience) Experience(ctx context.Context, number int64) (experience.Experience, error) {
	return call[experience.Experience](ctx, x.c, http.MethodGet, at("/api/episodes/{id}", number), nil)
}

// Recall implements experience.Service.
func (x Experience) Recall(ctx context.Context, filter experience.Filter) (experience.Recall, error) {
	from := at("/api/episodes")
	switch {
	case filter.Outcome != "" && (filter.ByOutcome || filter.OperationType == ""):
		from = at("/api/episodes/outcome/{outcome}", filter.Outcome).and("type", filter.OperationType)
	case filter.OperationType != "":
		from = at("/api/episodes/type/{type}", filter.OperationType).and("outcome", string(filter.Outcome))
	}
	return call[experience.Recall](ctx, x.c, http.MethodGet, from.with(page{filter.Limit, filter.Offset}), nil)
}

// page is how much of a list is asked for.
type page struct {
	Limit  int `query:"limit"`
	Offset int `query:"offset"`
}

// Patterns implements experience.Service.
func (x Experience) Patterns(ctx context.Context, filter lesson.PatternFilter) (experience.Patterns, error) {
	from := at("/api/patterns")
	if filter.Type != "" {
		from = at("/api/patterns/type/{type}", filter.Type)
		filter.Type = ""
	}
	return call[experience.Patterns](ctx, x.c, http.MethodGet, from.with(filter), nil)
}

// Pattern implements experience.Service.
func (x Experience) Pattern(ctx context.Context, number int64) (experience.Pattern, error) {
	return call[experience.Pattern](ctx, x.c, http.MethodGet, at("/api/patterns/{id}", number), nil)
}

// Lessons implements experience.Service.
func (x Experience) Lessons(ctx context.Context, filter lesson.Filter) (experience.Lessons, error) {
	return call[experience.Lessons](ctx, x.c, http.MethodGet, at("/api/lessons").with(filter), nil)
}

// Lesson implements experience.Service.
func (x Experience) Lesson(ctx context.Context, number int64) (experience.ApplicableLesson, error) {
	return call[experience.ApplicableLesson](ctx, x.c, http.MethodGet, at("/api/lessons/{id}", number), nil)
}

// Applicable implements experience.Service.
func (x Experience) Applicable(ctx context.Context, query experience.ApplicableQuery) (experience.Applicable, error) {
	return call[experience.Applicable](ctx, x.c, http.MethodPost, at("/api/lessons/applicable"), query)
}

// Apply implements experience.Service.
func (x Experience) Apply(ctx context.Context, number int64, draft lesson.ApplicationDraft) (lesson.Applied, error) {
	return call[lesson.Applied](ctx, x.c, http.MethodPost, at("/api/lessons/{id}/apply", number), draft)
}

// Learn implements experience.Service.
func (x Experience) Learn(ctx context.Context, draft experience.LearnDraft) (experience.Learned, error) {
	return call[experience.Learned](ctx, x.c, http.MethodPost, at("/api/lessons/learn"), draft)
}

// Stats implements experience.Service.
func (x Experience) Stats(ctx context.Context) (experience.Stats, error) {
	return call[experience.Stats](ctx, x.c, http.MethodGet, at("/api/stats"), nil)
}
