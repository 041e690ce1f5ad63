package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
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

// patternsByType selects patterns.
type patternsByType struct {
	Type     lesson.PatternType     `path:"type" doc:"success, failure, correlation, or a type of patterns of lessons"`
	Statuses []lesson.PatternStatus `query:"status" doc:"emerging, confirmed and deprecated, separated by commas; left out: the first two"`
	Domain   string                 `query:"domain"`
	Limit    int                    `query:"limit" doc:"1 to 10000; 0: all, up to 10000"`
	Offset   int                    `query:"offset" doc:"How many of the heaviest to pass over; the answer's next_offset asks for the next"`
}

// applicableInput asks for the lessons that hold in a context in the address:
// the members that are not the others' are the context's.
type applicableInput struct {
	OperationType string              `query:"operation_type"`
	MinConfidence float64             `query:"min_confidence" doc:"0 to 1"`
	Limit         int                 `query:"limit" doc:"1 to 10000; 0: all, up to 10000"`
	Context       string              `query:"context" doc:"A JSON object, or a word. Any further parameter is a member of the context too."`
	More          map[string][]string `query:"*"`
}

// experienceRoutes mounts the experience server's paths. Its ids are numbers.
func (s *Server) experienceRoutes(x experience.Service) {
	s.offer(x, operation.Below("experience", "/api",
		operation.Get("/episodes/type/{type}", "Episodes of an operation type, newest first, and its patterns",
			func(x experience.Service, ctx context.Context, in recallByType) (experience.Recall, error) {
				return x.Recall(ctx, experience.Filter{OperationType: in.Type, Outcome: cmp.Or(in.Outcome, in.Filter), Limit: in.Limit, Offset: in.Offset})
			}),
		operation.Get("/episodes/outcome/{outcome}", "Episodes that went so, newest first",
			func(x experience.Service, ctx context.Context, in recallByOutcome) (experience.Recall, error) {
				return x.Recall(ctx, experience.Filter{
					OperationType: cmp.Or(in.OperationType, in.Type), Outcome: in.Outcome, ByOutcome: true, Limit: in.Limit, Offset: in.Offset,
				})
			}),
		operation.Get("/patterns/type/{type}", "All patterns of a type, those of the greatest weight first",
			func(x experience.Service, ctx context.Context, in patternsByType) (experience.Patterns, error) {
				return x.Patterns(ctx, lesson.PatternFilter{Type: in.Type, Statuses: in.Statuses, Domain: in.Domain, Limit: in.Limit, Offset: in.Offset})
			}),
		operation.Get("/lessons/applicable", "Lessons that hold in a context, the surest first", applicable),
	))
}

func applicable(x experience.Service, ctx context.Context, in applicableInput) (experience.Applicable, error) { //nolint:revive // as a method
	query := experience.ApplicableQuery{OperationType: in.OperationType, MinConfidence: in.MinConfidence, Limit: in.Limit}
	if in.Context != "" || len(in.More) > 0 {
		query.Context = map[string]any{}
	}
	if strings.HasPrefix(strings.TrimSpace(in.Context), "{") {
		if err := json.Unmarshal([]byte(in.Context), &query.Context); err != nil {
			return experience.Applicable{}, errs.InvalidField("context", "is not valid JSON")
		}
	} else if in.Context != "" {
		query.Context["context"] = in.Context
	}
	for name, values := range in.More {
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v
		}
		query.Context[name] = list
	}
	return x.Applicable(ctx, query)
}
