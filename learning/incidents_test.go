package learning_test

import (
	"testing"
	"time"

	"skillrouter/learning"
	"skillrouter/learning/incident"
	"skillrouter/learning/learningtest"
)

func TestIncidentsContract(t *testing.T) {
	learningtest.Incidents(t, func(t *testing.T) incident.Service {
		return incident.New(open(t, t.TempDir(), time.Now).store, learning.Options{})
	})
}
