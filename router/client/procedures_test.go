package client_test

import (
	"sync/atomic"
	"testing"
	"time"

	"skillrouter/learning/learningtest"
)

func TestProcedureContract(t *testing.T) {
	learningtest.Procedures(t, func(t *testing.T) learningtest.ProcedureWorld {
		var ms atomic.Int64
		ms.Store(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).UnixMilli())
		c, _ := serveAt(t, func() time.Time { return time.UnixMilli(ms.Load()) })
		return learningtest.ProcedureWorld{Procedures: c.Procedures, Facts: c.Facts, Advance: func(d time.Duration) { ms.Add(d.Milliseconds()) }}
	})
}
