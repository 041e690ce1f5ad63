package httpapi

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/search"
)

// What older clients ask and are answered in shapes of their own is the services' operations with another function.

// RecordedEpisode is the answer of POST /api/episodes.
type RecordedEpisode struct {
	EpisodeID string `json:"episode_id" doc:"The same as id"`
	episode.Episode
}

func (s *Server) episodeRoutes(episodes episode.Service) {
	s.mount(operation.Find(episode.Service.Record).As(func(e episode.Service, ctx context.Context, d episode.Draft) (RecordedEpisode, error) {
		recorded, err := e.Record(ctx, d)
		return RecordedEpisode{recorded.ID, recorded}, err
	}), episodes)
}

// pendingSelection selects escalations that nobody has looked at.
type pendingSelection struct {
	To       string `query:"to" doc:"Only those that went to this agent"`
	LessonID string `query:"lesson_id" doc:"Only those of this lesson"`
	Limit    int    `query:"limit" doc:"1 to 1000; 0: 100"`
}

func (s *Server) escalationRoutes(escalations operational.EscalationService) {
	s.offer(escalations, operation.Below("escalations", "/escalations",
		operation.Get("/pending", "The escalations that nobody has looked at, the most urgent first, as a bare list",
			func(e operational.EscalationService, ctx context.Context, q pendingSelection) ([]operational.Escalation, error) {
				return e.List(ctx, operational.EscalationFilter{
					Status: []operational.EscalationStatus{operational.EscalationPending}, To: q.To, LessonID: q.LessonID, Limit: q.Limit,
				})
			})))
}

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
