package httpapi

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

func (s *Server) judgementRoutes() {
	judgements := s.services.Judgements
	if judgements == nil {
		return
	}
	const path = "/api/judgements"
	register(s, operation(http.MethodPost, path, "judgements", "Say which entries are right, and which are wrong, for a question; what was said of it before stands where nothing else is said"),
		func(ctx context.Context, in *struct{ Body learning.JudgementDraft }) (*answer[learning.Judgement], error) {
			judgement, err := judgements.Judge(ctx, in.Body)
			return reply(judgement), err
		})
	register(s, operation(http.MethodGet, path, "judgements", "List judgements, the newest first"), func(ctx context.Context, in *struct {
		Project string `query:"project"`
		Cursor  string `query:"cursor" doc:"next of the page before"`
		Limit   int    `query:"limit" doc:"1 to 200; 0: 50"`
	},
	) (*answer[learning.JudgementPage], error) {
		page, err := judgements.Judgements(ctx, learning.JudgementQuery{Project: in.Project, Cursor: in.Cursor, Limit: in.Limit})
		page.Judgements = emptied(page.Judgements)
		return reply(page), err
	})
	type one struct {
		ID string `path:"id"`
	}
	register(s, operation(http.MethodGet, path+"/{id}", "judgements", "One judgement"),
		func(ctx context.Context, in *one) (*answer[learning.Judgement], error) {
			judgement, err := judgements.Judgement(ctx, in.ID)
			return reply(judgement), err
		})
	remove := operation(http.MethodDelete, path+"/{id}", "judgements", "Remove a judgement: its author may, and a captain")
	remove.DefaultStatus = http.StatusNoContent
	s.mount(remove, silent(func(ctx context.Context, in *one) error {
		return judgements.Remove(ctx, in.ID)
	}))
	register(s, operation(http.MethodPost, path+"/measure", "judgements", "Ask every judged question; say where the right entries are found, and what is worse than the last time"),
		func(ctx context.Context, _ *struct{}) (*answer[learning.JudgementReport], error) {
			report, err := judgements.Measure(ctx)
			return reply(report), err
		})
}
