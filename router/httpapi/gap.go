package httpapi

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

func (s *Server) gapRoutes() {
	gaps := s.services.Gaps
	if gaps == nil {
		return
	}
	register(s, operation(http.MethodGet, "/api/gaps", "gaps", "What was asked and found nothing"), func(ctx context.Context, in *struct {
		Status  learning.GapStatus `query:"status" doc:"open, answered or dismissed; default: open"`
		Project string             `query:"project"`
		AskedIn learning.GapPlace  `query:"asked_in" doc:"knowledge, episodes, lessons, query or search"`
		Order   learning.GapOrder  `query:"order" doc:"recent or count; default: recent"`
		Cursor  string             `query:"cursor" doc:"next of the page before"`
		Limit   int                `query:"limit" doc:"1 to 200; 0: 50"`
	},
	) (*answer[learning.GapPage], error) {
		page, err := gaps.List(ctx, learning.GapQuery{
			Status: in.Status, Project: in.Project, AskedIn: in.AskedIn, Order: in.Order, Cursor: in.Cursor, Limit: in.Limit,
		})
		page.Gaps = emptied(page.Gaps)
		return reply(page), err
	})
	register(s, operation(http.MethodGet, "/api/gaps/{id}", "gaps", "One gap"),
		func(ctx context.Context, in *struct {
			ID string `path:"id"`
		},
		) (*answer[learning.Gap], error) {
			gap, err := gaps.Gap(ctx, in.ID)
			return reply(gap), err
		})
	register(s, operation(http.MethodPost, "/api/gaps/{id}/check", "gaps", "Ask the question again; if something answers it now, the gap is answered"),
		func(ctx context.Context, in *changeInput[struct{}]) (*answer[learning.Gap], error) {
			gap, err := gaps.Check(ctx, in.ID)
			return reply(gap), err
		})
	register(s, operation(http.MethodPost, "/api/gaps/{id}/dismiss", "gaps", "Say that the gap need not be filled, however often the question is asked"),
		func(ctx context.Context, in *changeInput[Rejection]) (*answer[learning.Gap], error) {
			gap, err := gaps.Dismiss(ctx, in.ID, given(in.Body).Reason)
			return reply(gap), err
		})
	register(s, operation(http.MethodPost, "/api/gaps/{id}/reopen", "gaps", "Take a dismissal back"),
		func(ctx context.Context, in *changeInput[struct{}]) (*answer[learning.Gap], error) {
			gap, err := gaps.Reopen(ctx, in.ID)
			return reply(gap), err
		})
}
