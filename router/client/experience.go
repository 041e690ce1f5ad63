package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"skillrouter/learning"
)

// Experience is learning.ExperienceService over HTTP.
type Experience struct{ c *Client }

var _ learning.ExperienceService = Experience{}

// Record implements learning.ExperienceService.
func (x Experience) Record(ctx context.Context, draft learning.ExperienceDraft) (learning.Recorded, error) {
	return call[learning.Recorded](ctx, x.c, http.MethodPost, "/api/experience", nil, draft)
}

// Experience implements learning.ExperienceService.
func (x Experience) Experience(ctx context.Context, number int64) (learning.Experience, error) {
	return numbered[learning.Experience](ctx, x.c, "/api/episodes/", number)
}

// Recall implements learning.ExperienceService.
func (x Experience) Recall(ctx context.Context, filter learning.ExperienceFilter) (learning.Recall, error) {
	path := "/api/episodes"
	query := []any{"limit", filter.Limit, "offset", filter.Offset}
	switch {
	case filter.Outcome != "" && (filter.ByOutcome || filter.OperationType == ""):
		path += "/outcome/" + url.PathEscape(string(filter.Outcome))
		query = append(query, "type", filter.OperationType)
	case filter.OperationType != "":
		path += "/type/" + url.PathEscape(filter.OperationType)
		query = append(query, "outcome", string(filter.Outcome))
	}
	return call[learning.Recall](ctx, x.c, http.MethodGet, path, values(query...), nil)
}

// Patterns implements learning.ExperienceService.
func (x Experience) Patterns(ctx context.Context, filter learning.PatternFilter) (learning.ExperiencePatterns, error) {
	path := "/api/patterns"
	if filter.Type != "" {
		path += "/type/" + url.PathEscape(string(filter.Type))
	}
	return call[learning.ExperiencePatterns](ctx, x.c, http.MethodGet, path, values(
		"status", commas(filter.Statuses), "domain", filter.Domain, "limit", filter.Limit, "offset", filter.Offset,
	), nil)
}

// Pattern implements learning.ExperienceService.
func (x Experience) Pattern(ctx context.Context, number int64) (learning.ExperiencePattern, error) {
	return numbered[learning.ExperiencePattern](ctx, x.c, "/api/patterns/", number)
}

// Lessons implements learning.ExperienceService.
func (x Experience) Lessons(ctx context.Context, filter learning.LessonFilter) (learning.ExperienceLessons, error) {
	return call[learning.ExperienceLessons](ctx, x.c, http.MethodGet, "/api/lessons", values(
		"lesson_type", filter.Type, "domain", filter.Domain, "category", filter.Category, "severity", filter.Severity, "level", filter.Level,
		"status", commas(filter.Statuses), "source_agent", filter.SourceAgent, "project", filter.Project, "tag", filter.Tag,
		"min_confidence", filter.MinConfidence, "since", filter.Since, "cursor", filter.Cursor, "limit", filter.Limit,
	), nil)
}

// Lesson implements learning.ExperienceService.
func (x Experience) Lesson(ctx context.Context, number int64) (learning.ApplicableLesson, error) {
	return numbered[learning.ApplicableLesson](ctx, x.c, "/api/lessons/", number)
}

// Applicable implements learning.ExperienceService.
func (x Experience) Applicable(ctx context.Context, query learning.ApplicableQuery) (learning.Applicable, error) {
	return call[learning.Applicable](ctx, x.c, http.MethodPost, "/api/lessons/applicable", nil, query)
}

// Apply implements learning.ExperienceService.
func (x Experience) Apply(ctx context.Context, number int64, draft learning.ApplicationDraft) (learning.Applied, error) {
	return call[learning.Applied](ctx, x.c, http.MethodPost, "/api/lessons/"+strconv.FormatInt(number, 10)+"/apply", nil, draft)
}

// Learn implements learning.ExperienceService.
func (x Experience) Learn(ctx context.Context, draft learning.LearnDraft) (learning.Learned, error) {
	return call[learning.Learned](ctx, x.c, http.MethodPost, "/api/lessons/learn", nil, draft)
}

// Stats implements learning.ExperienceService.
func (x Experience) Stats(ctx context.Context) (learning.ExperienceStats, error) {
	return call[learning.ExperienceStats](ctx, x.c, http.MethodGet, "/api/stats", nil, nil)
}

// commas is a list as an address holds it.
func commas[T ~string](list []T) string {
	parts := make([]string, len(list))
	for i, one := range list {
		parts[i] = string(one)
	}
	return strings.Join(parts, ",")
}

// numbered gets what has that number.
func numbered[T any](ctx context.Context, c *Client, path string, number int64) (T, error) {
	return call[T](ctx, c, http.MethodGet, path+strconv.FormatInt(number, 10), nil, nil)
}
