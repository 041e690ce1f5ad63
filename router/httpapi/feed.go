package httpapi

import (
	"context"
	"net/http"

	"skillrouter/router"
)

func (s *Server) feedRoutes() {
	if s.services.Events != nil {
		s.engine.GET("/events", s.stream(s.services.Events))
	}
	if s.services.Socket != nil {
		s.engine.GET("/ws", s.stream(s.services.Socket))
	}
	feed := s.services.Feed
	if feed == nil {
		return
	}
	register(s, operation(http.MethodGet, "/api/events", "events", "What happened, in the order of the feed: events with seq, type and data"),
		func(ctx context.Context, in *struct {
			After   int64    `query:"after" minimum:"0" doc:"Only events of a greater seq; a page's seen is what to ask after next; 0: from the beginning; one beyond the end: nothing but where the feed ends"`
			Type    []string `query:"type" doc:"Only of these types, or groups such as task.*, separated by commas"`
			Agent   string   `query:"agent" doc:"Only what this agent did, what happened to it, and messages to it"`
			Project string   `query:"project"`
			Limit   int      `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"`
		},
		) (*answer[router.FeedPage], error) {
			page, err := feed.Feed(ctx, router.FeedQuery{After: in.After, Types: in.Type, Agent: in.Agent, Project: in.Project, Limit: in.Limit})
			return reply(page), err
		})
}
