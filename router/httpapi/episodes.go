package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter/learning"
)

// RecordedEpisode is the answer of POST /api/episodes.
type RecordedEpisode struct {
	EpisodeID string `json:"episode_id" doc:"The same as id"`
	learning.Episode
}

// EpisodeList is the answer of GET /api/episodes/recent.
type EpisodeList struct {
	Episodes []learning.Episode `json:"episodes"`
	Count    int                `json:"count"`
}

// recentInput selects recent episodes.
type recentInput struct {
	SessionID string    `query:"session_id" doc:"current: the session that agent_id, or the token's agent, is in"`
	AgentID   string    `query:"agent_id"`
	Persona   string    `query:"persona" doc:"Whose memory; empty or *: everybody's"`
	Project   string    `query:"project"`
	EventType string    `query:"event_type" doc:"action, error, decision or outcome"`
	Event     string    `query:"event" doc:"An event's whole name, such as mrr-drop-investigation"`
	Since     time.Time `query:"since" doc:"Not before this time"`
	Until     time.Time `query:"until" doc:"Before this time"`
	TimeRange string    `query:"time_range" doc:"7d, 24h, 2w, 3mo, 1y, today, yesterday, last week, 2026-01-15 or 2026-01-01..2026-02-01; days are UTC's"`
	Limit     int       `query:"limit" doc:"1 to 200; 0: 10"`
}

func (s *Server) episodeRoutes() {
	episodes := s.services.Episodes
	if episodes == nil {
		return
	}
	op := func(method, path, summary string) huma.Operation {
		return operation(method, "/api/episodes"+path, "episodes", summary)
	}

	record := op(http.MethodPost, "", "Record what happened")
	record.DefaultStatus = http.StatusCreated
	register(s, record, func(ctx context.Context, in *struct{ Body learning.EpisodeDraft }) (*answer[RecordedEpisode], error) {
		episode, err := episodes.Record(ctx, in.Body)
		return &answer[RecordedEpisode]{Status: http.StatusCreated, Body: RecordedEpisode{episode.ID, episode}}, err
	})
	register(s, op(http.MethodGet, "/recent", "The latest episodes, newest first"),
		func(ctx context.Context, in *recentInput) (*answer[EpisodeList], error) {
			list, err := episodes.Recent(ctx, learning.EpisodeFilter(*in))
			return reply(EpisodeList{Episodes: emptied(list), Count: len(list)}), err
		})
	register(s, op(http.MethodPost, "/search", "Find past episodes, best first"),
		func(ctx context.Context, in *explainInput[learning.EpisodeQuery]) (*answer[learning.EpisodeResults], error) {
			in.Body.Explain = in.Body.Explain || in.Explain
			results, err := episodes.Search(ctx, in.Body)
			return reply(results), err
		})
}
