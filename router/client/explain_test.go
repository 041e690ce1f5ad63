package client_test

import (
	"testing"
	"time"

	"skillrouter/learning/learningtest"
)

// TestExplainContract: the parts of a score add up to it as they were printed, too.
func TestExplainContract(t *testing.T) {
	learningtest.Explain(t, func(t *testing.T) learningtest.ExplainWorld {
		c, _ := serveAt(t, time.Now)
		return learningtest.ExplainWorld{Knowledge: c.Knowledge, Episodes: c.Episodes, Lessons: c.Lessons, Procedures: c.Procedures}
	})
}
