package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter/learning"
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

// Numbered is the number of an episode, pattern or lesson in the path.
type Numbered struct {
	Number int64 `path:"id" doc:"Its number"`
}

// PatternsPage selects patterns.
type PatternsPage struct {
	Statuses []learning.PatternStatus `query:"status" doc:"emerging, confirmed and deprecated, separated by commas; left out: the first two"`
	Domain   string                   `query:"domain"`
	Limit    int                      `query:"limit" doc:"1 to 10000; 0: all, up to 10000"`
	Offset   int                      `query:"offset" doc:"How many of the heaviest to pass over; the answer's next_offset asks for the next"`
}

type patternsByType struct {
	Type learning.PatternType `path:"type" doc:"success, failure, correlation, or a type of patterns of lessons"`
	PatternsPage
}

// lessonsInput selects a page of lessons.
type lessonsInput struct {
	Type          learning.LessonType     `query:"lesson_type"`
	Domain        string                  `query:"domain"`
	Category      string                  `query:"category"`
	Severity      learning.Severity       `query:"severity"`
	Level         learning.Level          `query:"level"`
	Statuses      []learning.LessonStatus `query:"status" doc:"Separated by commas; left out: all but retired"`
	SourceAgent   string                  `query:"source_agent"`
	Project       string                  `query:"project"`
	Tag           string                  `query:"tag"`
	MinConfidence float64                 `query:"min_confidence" doc:"0 to 1, of the confidence now"`
	Since         time.Time               `query:"since" doc:"Reported not before this time"`
	Cursor        string                  `query:"cursor" doc:"The answer's next of the page before"`
	Limit         int                     `query:"limit" doc:"1 to 200; 0: the default of listings. Without another filter than min_confidence: 1 to 10000; 0: all, up to 10000"`
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

// experienceRoutes mounts seed 003's paths. Its ids are numbers.
func (s *Server) experienceRoutes() {
	x := s.services.Experiences
	if x == nil {
		return
	}
	op := func(method, path, summary string) huma.Operation {
		return operation(method, "/api"+path, "experience", summary)
	}
	register(s, op(http.MethodGet, "/stats", "How much there is, and how sure"),
		func(ctx context.Context, _ *struct{}) (*answer[learning.ExperienceStats], error) {
			stats, err := x.Stats(ctx)
			return reply(stats), err
		})
	record := op(http.MethodPost, "/experience", "Record an episode with problem, solution, outcome and metadata")
	record.DefaultStatus = http.StatusCreated
	register(s, record, func(ctx context.Context, in *struct{ Body learning.ExperienceDraft }) (*answer[learning.Recorded], error) {
		recorded, err := x.Record(ctx, in.Body)
		return &answer[learning.Recorded]{Status: http.StatusCreated, Body: recorded}, err
	})
	recall := func(ctx context.Context, filter learning.ExperienceFilter, page RecallPage) (*answer[learning.Recall], error) {
		filter.Limit, filter.Offset = page.Limit, page.Offset
		found, err := x.Recall(ctx, filter)
		return reply(found), err
	}
	register(s, op(http.MethodGet, "/episodes", "Episodes with an outcome, newest first"),
		func(ctx context.Context, in *RecallPage) (*answer[learning.Recall], error) {
			return recall(ctx, learning.ExperienceFilter{}, *in)
		})
	register(s, op(http.MethodGet, "/episodes/type/{type}", "Episodes of an operation type, newest first, and its patterns"),
		func(ctx context.Context, in *recallByType) (*answer[learning.Recall], error) {
			if in.Outcome == "" {
				in.Outcome = in.Filter
			}
			return recall(ctx, learning.ExperienceFilter{OperationType: in.Type, Outcome: in.Outcome}, in.RecallPage)
		})
	register(s, op(http.MethodGet, "/episodes/outcome/{outcome}", "Episodes that went so, newest first"),
		func(ctx context.Context, in *recallByOutcome) (*answer[learning.Recall], error) {
			if in.OperationType == "" {
				in.OperationType = in.Type
			}
			return recall(ctx, learning.ExperienceFilter{OperationType: in.OperationType, Outcome: in.Outcome, ByOutcome: true}, in.RecallPage)
		})
	register(s, op(http.MethodGet, "/episodes/{id}", "One episode with an outcome, by its number"),
		func(ctx context.Context, in *Numbered) (*answer[learning.Experience], error) {
			found, err := x.Experience(ctx, in.Number)
			return reply(found), err
		})
	s.experiencePatternRoutes(x, op)
	s.experienceLessonRoutes(x, op)
}

func (s *Server) experiencePatternRoutes(x learning.ExperienceService, op func(method, path, summary string) huma.Operation) {
	list := func(ctx context.Context, kind learning.PatternType, in PatternsPage) (*answer[learning.ExperiencePatterns], error) {
		found, err := x.Patterns(ctx, learning.PatternFilter{Type: kind, Statuses: in.Statuses, Domain: in.Domain, Limit: in.Limit, Offset: in.Offset})
		return reply(found), err
	}
	register(s, op(http.MethodGet, "/patterns", "All patterns, those of the greatest weight first"),
		func(ctx context.Context, in *PatternsPage) (*answer[learning.ExperiencePatterns], error) {
			return list(ctx, "", *in)
		})
	register(s, op(http.MethodGet, "/patterns/type/{type}", "All patterns of a type, those of the greatest weight first"),
		func(ctx context.Context, in *patternsByType) (*answer[learning.ExperiencePatterns], error) {
			return list(ctx, in.Type, in.PatternsPage)
		})
	register(s, op(http.MethodGet, "/patterns/{id}", "One pattern, by its number"),
		func(ctx context.Context, in *Numbered) (*answer[learning.ExperiencePattern], error) {
			found, err := x.Pattern(ctx, in.Number)
			return reply(found), err
		})
}

func (s *Server) experienceLessonRoutes(x learning.ExperienceService, op func(method, path, summary string) huma.Operation) {
	register(s, op(http.MethodGet, "/lessons", "All lessons in use or deprecated, the surest first; with a filter but min_confidence, pages of them, newest first"),
		func(ctx context.Context, in *lessonsInput) (*answer[learning.ExperienceLessons], error) {
			page, err := x.Lessons(ctx, learning.LessonFilter(*in))
			return reply(page), err
		})
	ask := op(http.MethodGet, "/lessons/applicable", "Lessons that hold in a context, the surest first")
	ask.SkipValidateParams = true // what the address holds besides is the context; the service checks the rest
	register(s, ask, func(ctx context.Context, in *applicableInput) (*answer[learning.Applicable], error) {
		found, err := x.Applicable(ctx, learning.ApplicableQuery{Context: in.context, OperationType: in.OperationType, MinConfidence: in.MinConfidence, Limit: in.Limit})
		return reply(found), err
	})
	register(s, op(http.MethodPost, "/lessons/applicable", "Lessons that hold in a context, the surest first"),
		func(ctx context.Context, in *struct{ Body learning.ApplicableQuery }) (*answer[learning.Applicable], error) {
			found, err := x.Applicable(ctx, in.Body)
			return reply(found), err
		})
	register(s, op(http.MethodGet, "/lessons/{id}", "One lesson, by its number"),
		func(ctx context.Context, in *Numbered) (*answer[learning.ApplicableLesson], error) {
			found, err := x.Lesson(ctx, in.Number)
			return reply(found), err
		})
	register(s, op(http.MethodPost, "/lessons/{id}/apply", "Say that a lesson was applied and how it went"),
		func(ctx context.Context, in *struct {
			Numbered
			Body learning.ApplicationDraft
		},
		) (*answer[learning.Applied], error) {
			applied, err := x.Apply(ctx, in.Number, in.Body)
			return reply(applied), err
		})
	learn := op(http.MethodPost, "/lessons/learn", "Make a lesson of what at least three episodes show")
	learn.DefaultStatus = http.StatusCreated
	register(s, learn, func(ctx context.Context, in *struct{ Body learning.LearnDraft }) (*answer[learning.Learned], error) {
		learned, err := x.Learn(ctx, in.Body)
		return &answer[learning.Learned]{Status: http.StatusCreated, Body: learned}, err
	})
}
