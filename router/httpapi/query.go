package httpapi

import (
	"context"
	"time"

	"skillrouter/internal/operation"
	"skillrouter/router/search"
)

// searchInput is a search in an address.
type searchInput struct {
	Query         string    `query:"q" doc:"What is looked for, in plain words"`
	Kinds         []string  `query:"kind" doc:"Only these kinds, as the answer names them; separated by commas"`
	Project       string    `query:"project"`
	PreferProject string    `query:"prefer_project" doc:"The project that the caller works in: what belongs to it goes before what fits about as well, and what was imported later"`
	Category      string    `query:"category" doc:"A lesson's domain, an episode's event type, a message's signal, a finding's severity, a task's status"`
	Tags          []string  `query:"tags" doc:"Each must be on it; separated by commas"`
	AgentID       string    `query:"agent_id" doc:"Who wrote it; of a task, who made or has it"`
	Since         time.Time `query:"since" doc:"Written or last changed at or after this time"`
	Until         time.Time `query:"until" doc:"And before this time"`
	TimeRange     string    `query:"time_range" doc:"Such as 7d, yesterday, 2026-01"`
	Limit         int       `query:"limit" doc:"1 to 50; 0: 10"`
	Explain       bool      `query:"explain" doc:"Say why each result was found"`
	// Last, as in search.Query.
	MinRelevance float64 `query:"min_relevance" minimum:"0" maximum:"1" doc:"Only what is at least so relevant, 0 to 1"`
	Shown        bool    `query:"shown" doc:"Only what people are shown: nothing if nothing is 10 % relevant, else what is 3 %"`
}

func (s *Server) searchRoutes(service search.Service) {
	s.offer(service, operation.Below("search", "/api/search", operation.Get("", "Find what fits a question in every memory, the likeliest first",
		func(s search.Service, ctx context.Context, in searchInput) (search.Answer, error) {
			return s.Search(ctx, search.Query(in))
		})))
}
