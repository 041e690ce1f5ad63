package httpapi

import (
	"context"

	"skillrouter/internal/operation"
	"skillrouter/learning/episode"
)

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
