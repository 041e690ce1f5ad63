package httpapi

import (
	"context"

	"skillrouter/internal/operation"
	"skillrouter/learning/lesson"
)

// patternSelection selects patterns.
type patternSelection struct {
	Type   lesson.PatternType `query:"pattern_type" doc:"recurring_failure, common_solution, best_practice, anti_pattern or optimization; of episodes: success, failure or correlation"`
	Domain string             `query:"domain"`
	Limit  int                `query:"limit" doc:"1 to 200; 0: 50"`
	Offset int                `query:"offset" doc:"How many to pass over"`
}

// Confirmation is the body, or the query as MNEMOSYNE's clients send it, of POST /patterns/{id}/confirm and deprecate.
type Confirmation struct {
	By    string `json:"confirmed_by,omitempty" query:"confirmed_by" doc:"Default: the token's agent"`
	Notes string `json:"notes,omitempty" query:"notes"`
}

// JudgedPattern is the answer of POST /patterns/{id}/confirm and deprecate.
type JudgedPattern struct {
	Status     lesson.PatternStatus `json:"status" doc:"As it is now: confirmed or deprecated"`
	PatternID  string               `json:"pattern_id"`
	Confidence float64              `json:"confidence"`
	Pattern    lesson.Pattern       `json:"pattern"`
}

func (s *Server) patternRoutes(patterns lesson.PatternService) {
	const id = "The pattern's id, percent-encoded as one segment of the path, or its number"
	s.offer(patterns, operation.Below("patterns", "/patterns",
		operation.Get("/emerging", "Patterns that form and are not confirmed yet, each with its reasons, as a bare list",
			func(p lesson.PatternService, ctx context.Context, q patternSelection) ([]lesson.Pattern, error) {
				return p.List(ctx, lesson.PatternFilter{
					Type: q.Type, Statuses: []lesson.PatternStatus{lesson.PatternEmerging}, Domain: q.Domain, Limit: q.Limit, Offset: q.Offset,
				})
			})))
	s.mount(operation.Find(lesson.PatternService.Confirm).As(judged(lesson.PatternService.Confirm)).Named(id), patterns)
	s.mount(operation.Find(lesson.PatternService.Deprecate).As(judged(lesson.PatternService.Deprecate)).Named(id), patterns)
}

func judged(judge func(p lesson.PatternService, ctx context.Context, ref string, draft lesson.ConfirmationDraft) (lesson.Pattern, error)) any {
	return func(p lesson.PatternService, ctx context.Context, ref string, said Confirmation) (JudgedPattern, error) {
		pattern, err := judge(p, ctx, ref, lesson.ConfirmationDraft{By: said.By, Notes: said.Notes})
		return JudgedPattern{Status: pattern.Status, PatternID: pattern.ID, Confidence: pattern.Confidence, Pattern: pattern}, err
	}
}
