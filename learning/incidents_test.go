package learning_test

import (
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/learningtest"
)

func TestIncidentsContract(t *testing.T) {
	learningtest.Incidents(t, func(t *testing.T) history.Service {
		return history.New(open(t, t.TempDir(), time.Now).store, learning.Options{})
	})
}
