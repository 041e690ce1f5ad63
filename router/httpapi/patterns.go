package httpapi

import (
	"cmp"
	"context"

	"skillrouter/learning/lesson"
)

// patternSelection selects patterns.
type patternSelection struct {
	Type   lesson.PatternType `query:"pattern_type" doc:"recurring_failure, common_solution, best_practice, anti_pattern or optimization; of episodes: success, failure or correlation"`
	Domain string             `query:"domain"`
	Limit  int                `query:"limit" doc:"1 to 200; 0: 50"`
	Offset int                `query:"offset" doc:"How many to pass over"`
}

// Confirmation is the body of POST /patterns/{id}/confirm and deprecate.
type Confirmation struct {
	By    string `json:"confirmed_by,omitempty" doc:"Default: the token's agent"`
	Notes string `json:"notes,omitempty"`
}

// confirmationInput takes who confirms from the query, as MNEMOSYNE's clients
// send it, or from the body.
type confirmationInput struct {
	ID    string `path:"id"`
	By    string `query:"confirmed_by"`
	Notes string `query:"notes"`
	Body  *Confirmation
}

// draft is who confirms. What the body says outweighs the query.
func (in *confirmationInput) draft() lesson.ConfirmationDraft {
	said := given(in.Body)
	return lesson.ConfirmationDraft{By: cmp.Or(said.By, in.By), Notes: cmp.Or(said.Notes, in.Notes)}
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
	offer(s, lesson.Operations.Patterns, patterns)
	at := s.at("patterns", "/patterns")
	at.get("/emerging", "Patterns that form and are not confirmed yet, each with its reasons, as a bare list",
		asked(func(ctx context.Context, q patternSelection) ([]lesson.Pattern, error) {
			return patterns.List(ctx, lesson.PatternFilter{
				Type: q.Type, Statuses: []lesson.PatternStatus{lesson.PatternEmerging}, Domain: q.Domain, Limit: q.Limit, Offset: q.Offset,
			})
		}))
	at.post("/{id}/confirm", "Say that a pattern is real and should be enforced, in the query or in the body", judged(patterns.Confirm).saying(id))
	at.post("/{id}/deprecate", "Say that a pattern holds no more; it is kept", judged(patterns.Deprecate).saying(id))
}

func judged(judge func(ctx context.Context, ref string, draft lesson.ConfirmationDraft) (lesson.Pattern, error)) handler {
	return typed(func(ctx context.Context, in *confirmationInput) (JudgedPattern, error) {
		pattern, err := judge(ctx, in.ID, in.draft())
		return JudgedPattern{Status: pattern.Status, PatternID: pattern.ID, Confidence: pattern.Confidence, Pattern: pattern}, err
	})
}
