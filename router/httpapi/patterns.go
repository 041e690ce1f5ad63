package httpapi

import (
	"cmp"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter/learning"
)

const patternsPath = "/patterns"

// patternRef is the pattern in the path.
type patternRef struct {
	ID string `path:"id" doc:"The pattern's id, percent-encoded as one segment of the path, or its number"`
}

// patternSelection selects patterns.
type patternSelection struct {
	Type   learning.PatternType `query:"pattern_type" doc:"recurring_failure, common_solution, best_practice, anti_pattern or optimization; of episodes: success, failure or correlation"`
	Domain string               `query:"domain"`
	Limit  int                  `query:"limit" doc:"1 to 200; 0: 50"`
	Offset int                  `query:"offset" doc:"How many to pass over"`
}

// allPatterns selects patterns of any status.
type allPatterns struct {
	Type   learning.PatternType     `query:"pattern_type"`
	Status []learning.PatternStatus `query:"status" doc:"Separated by commas; none: all but deprecated"`
	Domain string                   `query:"domain"`
	Limit  int                      `query:"limit" doc:"1 to 200; 0: 50"`
	Offset int                      `query:"offset" doc:"How many to pass over"`
}

// GatheredPatterns is the answer of GET /patterns.
type GatheredPatterns struct {
	Patterns []learning.Pattern `json:"patterns" doc:"The latest seen first"`
	Count    int                `json:"count"`
}

// Confirmation is the body of POST /patterns/{id}/confirm and deprecate.
type Confirmation struct {
	By    string `json:"confirmed_by,omitempty" doc:"Default: the token's agent"`
	Notes string `json:"notes,omitempty"`
}

// confirmationInput takes who confirms from the query, as seed 000's clients
// send it, or from the body.
type confirmationInput struct {
	patternRef
	By    string `query:"confirmed_by"`
	Notes string `query:"notes"`
	Body  *Confirmation
}

// draft is who confirms. What the body says outweighs the query.
func (in *confirmationInput) draft() learning.ConfirmationDraft {
	said := given(in.Body)
	return learning.ConfirmationDraft{By: cmp.Or(said.By, in.By), Notes: cmp.Or(said.Notes, in.Notes)}
}

// JudgedPattern is the answer of POST /patterns/{id}/confirm and deprecate.
type JudgedPattern struct {
	Status     learning.PatternStatus `json:"status" doc:"As it is now: confirmed or deprecated"`
	PatternID  string                 `json:"pattern_id"`
	Confidence float64                `json:"confidence"`
	Pattern    learning.Pattern       `json:"pattern"`
}

func (s *Server) patternRoutes() {
	patterns := s.services.Patterns
	if patterns == nil {
		return
	}
	op := func(method, path, summary string) huma.Operation {
		return operation(method, patternsPath+path, "patterns", summary)
	}
	register(s, op(http.MethodGet, "/emerging", "Patterns that form and are not confirmed yet, each with its reasons, as a bare list"),
		func(ctx context.Context, in *patternSelection) (*answer[[]learning.Pattern], error) {
			found, err := patterns.List(ctx, learning.PatternFilter{
				Type: in.Type, Statuses: []learning.PatternStatus{learning.PatternEmerging}, Domain: in.Domain, Limit: in.Limit, Offset: in.Offset,
			})
			return reply(emptied(found)), err
		})
	register(s, op(http.MethodGet, "", "Patterns, the latest seen first"),
		func(ctx context.Context, in *allPatterns) (*answer[GatheredPatterns], error) {
			found, err := patterns.List(ctx, learning.PatternFilter{
				Type: in.Type, Statuses: in.Status, Domain: in.Domain, Limit: in.Limit, Offset: in.Offset,
			})
			return reply(GatheredPatterns{Patterns: emptied(found), Count: len(found)}), err
		})
	register(s, op(http.MethodGet, "/{id}", "One pattern with its evidence"),
		func(ctx context.Context, in *patternRef) (*answer[learning.Pattern], error) {
			pattern, err := patterns.Pattern(ctx, in.ID)
			return reply(pattern), err
		})
	for _, verb := range []struct {
		path, summary string
		judge         func(ctx context.Context, ref string, draft learning.ConfirmationDraft) (learning.Pattern, error)
	}{
		{"/{id}/confirm", "Say that a pattern is real and should be enforced, in the query or in the body", patterns.Confirm},
		{"/{id}/deprecate", "Say that a pattern holds no more; it is kept", patterns.Deprecate},
	} {
		register(s, op(http.MethodPost, verb.path, verb.summary),
			func(ctx context.Context, in *confirmationInput) (*answer[JudgedPattern], error) {
				pattern, err := verb.judge(ctx, in.ID, in.draft())
				return reply(JudgedPattern{Status: pattern.Status, PatternID: pattern.ID, Confidence: pattern.Confidence, Pattern: pattern}), err
			})
	}
}
