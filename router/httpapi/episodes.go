package httpapi

import "skillrouter/learning/episode"

// RecordedEpisode is the answer of POST /api/episodes.
type RecordedEpisode struct {
	EpisodeID string `json:"episode_id" doc:"The same as id"`
	episode.Episode
}

func (s *Server) episodeRoutes(episodes episode.Service) {
	offer(s, episode.Operations, episodes)
	s.at("episodes", "/api/episodes").post("", "Record what happened",
		created(sent(as(episodes.Record, func(e episode.Episode) RecordedEpisode { return RecordedEpisode{e.ID, e} }))))
}
