package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter/learning"
	"skillrouter/learning/experience"
	"skillrouter/learning/lesson"
)

// RecallPage selects a page of experiences.
type RecallPage struct {
	Limit  int `query:"limit" doc:"1 to 200; 0: 50"`
	Offset int `query:"offset" doc:"How many of the newest to pass over"`
}

type recallByType struct {
	Type    string          `path:"type" doc:"An operation type"`
	Outcome learning.Result `query:"outcome" doc:"success, failure or partial"`
	Filter  learning.Result `query:"outcome_filter" doc:"The same as outcome"`
	RecallPage
}

type recallByOutcome struct {
	Outcome       learning.Result `path:"outcome" doc:"success, failure or partial"`
	OperationType string          `query:"operation_type"`
	Type          string          `query:"type" doc:"The same as operation_type"`
	RecallPage
}

// PatternsPage selects patterns.
type PatternsPage struct {
	Statuses []lesson.PatternStatus `query:"status" doc:"emerging, confirmed and deprecated, separated by commas; left out: the first two"`
	Domain   string                 `query:"domain"`
	Limit    int                    `query:"limit" doc:"1 to 10000; 0: all, up to 10000"`
	Offset   int                    `query:"offset" doc:"How many of the heaviest to pass over; the answer's next_offset asks for the next"`
}

type patternsByType struct {
	Type lesson.PatternType `path:"type" doc:"success, failure, correlation, or a type of patterns of lessons"`
	PatternsPage
}

// lessonsInput selects a page of lessons.
type lessonsInput struct {
	Type          learning.LessonType `query:"lesson_type"`
	Domain        string              `query:"domain"`
	Category      string              `query:"category"`
	Severity      learning.Severity   `query:"severity"`
	Level         lesson.Level        `query:"level"`
	Statuses      []lesson.Status     `query:"status" doc:"Separated by commas; left out: all but retired"`
	SourceAgent   string              `query:"source_agent"`
	Project       string              `query:"project"`
	Proposed      bool                // no parameter
	General       bool                // no parameter
	Within        []string            // no parameter
	Tag           string              `query:"tag"`
	MinConfidence float64             `query:"min_confidence" doc:"0 to 1, of the confidence now"`
	Since         time.Time           `query:"since" doc:"Reported not before this time"`
	Cursor        string              `query:"cursor" doc:"The answer's next of the page before"`
	Limit         int                 `query:"limit" doc:"1 to 200; 0: the default of listings. Without another filter than min_confidence: 1 to 10000; 0: all, up to 10000"`
}

// applicableInput asks for the lessons that hold in a context in the address:
// the members that are not the others' are the context's.
type applicableInput struct {
	OperationType string  `query:"operation_type"`
	MinConfidence float64 `query:"min_confidence" doc:"0 to 1"`
	Limit         int     `query:"limit" doc:"1 to 10000; 0: all, up to 10000"`
	Context       string  `query:"context" doc:"A JSON object, or a word. Any further parameter is a member of the context too."`
	context       map[string]any
}

// resolve gathers the context.
func (in *applicableInput) resolve(address *url.URL) *huma.ErrorDetail {
	if strings.HasPrefix(strings.TrimSpace(in.Context), "{") {
		if err := json.Unmarshal([]byte(in.Context), &in.context); err != nil {
			return &huma.ErrorDetail{Location: "query.context", Message: "is not valid JSON"}
		}
	} else if in.Context != "" {
		in.context = map[string]any{"context": in.Context}
	}
	for name, values := range address.Query() {
		if !slices.Contains([]string{"operation_type", "min_confidence", "limit", "context"}, name) {
			list := make([]any, len(values))
			for i, v := range values {
				list[i] = v
			}
			if in.context == nil {
				in.context = map[string]any{}
			}
			in.context[name] = list
		}
	}
	return nil
}

// experienceRoutes mounts the experience server's paths. Its ids are numbers.
func (s *Server) experienceRoutes(x experience.Service) {
	offer(s, experience.Operations, x)
	at := s.at("experience", "/api")

	recall := func(ctx context.Context, filter experience.Filter, page RecallPage) (experience.Recall, error) {
		filter.Limit, filter.Offset = page.Limit, page.Offset
		return x.Recall(ctx, filter)
	}
	at.get("/episodes/type/{type}", "Episodes of an operation type, newest first, and its patterns",
		asked(func(ctx context.Context, in recallByType) (experience.Recall, error) {
			return recall(ctx, experience.Filter{OperationType: in.Type, Outcome: cmp.Or(in.Outcome, in.Filter)}, in.RecallPage)
		}))
	at.get("/episodes/outcome/{outcome}", "Episodes that went so, newest first",
		asked(func(ctx context.Context, in recallByOutcome) (experience.Recall, error) {
			filter := experience.Filter{OperationType: cmp.Or(in.OperationType, in.Type), Outcome: in.Outcome, ByOutcome: true}
			return recall(ctx, filter, in.RecallPage)
		}))

	patterns := func(ctx context.Context, kind lesson.PatternType, in PatternsPage) (experience.Patterns, error) {
		return x.Patterns(ctx, lesson.PatternFilter{Type: kind, Statuses: in.Statuses, Domain: in.Domain, Limit: in.Limit, Offset: in.Offset})
	}
	at.get("/patterns/type/{type}", "All patterns of a type, those of the greatest weight first",
		asked(func(ctx context.Context, in patternsByType) (experience.Patterns, error) {
			return patterns(ctx, in.Type, in.PatternsPage)
		}))

	at.get("/lessons", "All lessons in use or deprecated, the surest first; with a filter but min_confidence, pages of them, newest first",
		asked(func(ctx context.Context, in lessonsInput) (experience.Lessons, error) {
			return x.Lessons(ctx, lesson.Filter(in))
		}))
	at.get("/lessons/applicable", "Lessons that hold in a context, the surest first", typed(func(ctx context.Context, in *applicableInput) (experience.Applicable, error) {
		return x.Applicable(ctx, experience.ApplicableQuery{Context: in.context, OperationType: in.OperationType, MinConfidence: in.MinConfidence, Limit: in.Limit})
	}).lenient())
}
