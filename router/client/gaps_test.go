package client_test

import (
	"sync/atomic"
	"testing"
	"time"

	"skillrouter/learning/learningtest"
)

func TestGapContract(t *testing.T) {
	learningtest.Gaps(t, func(t *testing.T) learningtest.GapWorld {
		var ms atomic.Int64
		ms.Store(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).UnixMilli())
		c, _ := serveAt(t, func() time.Time { return time.UnixMilli(ms.Load()) })
		return learningtest.GapWorld{Gaps: c.Gaps, Knowledge: c.Knowledge, Lessons: c.Lessons, Settle: func() {
			ms.Add((3 * time.Second).Milliseconds())
			<-time.After(1500 * time.Millisecond) // the router writes once a second
		}}
	})
}
