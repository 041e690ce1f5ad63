package httpapi

import "skillrouter/learning/episode"

// RecordedEpisode is the answer of POST /api/episodes.
type RecordedEpisode struct {
	EpisodeID string `json:"episode_id" doc:"The same as id"`
	episode.Episode
}

// EpisodeList is the answer of GET /api/episodes/recent.
type EpisodeList struct {
	Episodes []episode.Episode `json:"episodes"`
	Count    int               `json:"count"`
}

func (s *Server) episodeRoutes(episodes episode.Service) {
	at := s.at("episodes", "/api/episodes")
	at.post("", "Record what happened",
		created(sent(as(episodes.Record, func(e episode.Episode) RecordedEpisode { return RecordedEpisode{e.ID, e} }))))
	at.get("/recent", "The latest episodes, newest first",
		asked(as(episodes.Recent, func(list []episode.Episode) EpisodeList { return EpisodeList{list, len(list)} })))
	at.post("/search", "Find past episodes, best first",
		explained(episodes.Search, func(q *episode.Query) *bool { return &q.Explain }))

	const id = "The episode's id, percent-encoded as one segment of the path, or its number"
	one := s.at("episodes", "/episodes")
	one.get("/{id}", "One episode", named(episodes.Episode).saying(id))
	one.patch("/{id}", "Change the fields that are sent", changedBy(episodes.Edit).saying(id))
	one.delete("/{id}", "Delete an episode; what was learned from it stays", named(silent(episodes.Delete)).saying(id))
}
