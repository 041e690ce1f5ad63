package learning_test

import (
	"testing"
	"time"

	"skillrouter/learning"
	"skillrouter/learning/learningtest"
)

func TestExperienceContract(t *testing.T) {
	learningtest.RunExperience(t, func(t *testing.T) (learning.ExperienceService, learning.EpisodeService) {
		m := open(t, t.TempDir(), time.Now)
		return learning.NewExperiences(m.store, m.episodes, nil, learning.ExperienceOptions{}), m.episodes
	})
}
