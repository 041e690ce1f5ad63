package client_test

import (
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/router/client/clienttest"

	"github.com/skillrouter/skillrouter/learning/learningtest"
)

// TestExplainContract: the parts of a score add up to it as they were printed, too.
func TestExplainContract(t *testing.T) {
	learningtest.Explain(t, func(t *testing.T) learningtest.ExplainWorld {
		c, _ := serveAt(t, time.Now)
		return learningtest.ExplainWorld{Knowledge: clienttest.Knowledge{C: c}, Episodes: clienttest.Episodes{C: c}, Lessons: clienttest.Lessons{C: c}, Procedures: clienttest.Procedures{C: c}}
	})
}
