package client_test

import (
	"testing"

	"skillrouter/learning/incident"
	"skillrouter/learning/learningtest"
)

func TestIncidentsContract(t *testing.T) {
	learningtest.Incidents(t, func(t *testing.T) incident.Service {
		c, _ := consolidating(t, t.TempDir(), 0)
		return c.Incidents
	})
}
