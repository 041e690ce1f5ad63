package experience

import "skillrouter/learning/episode"

// EpisodeRecord is an episode as it is carried: with its outcome, if it is an experience.
type EpisodeRecord struct {
	episode.Episode
	Experience *Experience `json:"experience,omitempty"`
}
