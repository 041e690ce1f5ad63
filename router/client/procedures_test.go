package client_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/router/client/clienttest"

	"github.com/skillrouter/skillrouter/learning/learningtest"
)

func TestProcedureContract(t *testing.T) {
	learningtest.Procedures(t, func(t *testing.T) learningtest.ProcedureWorld {
		var ms atomic.Int64
		ms.Store(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).UnixMilli())
		c, _ := serveAt(t, func() time.Time { return time.UnixMilli(ms.Load()) })
		return learningtest.ProcedureWorld{Procedures: clienttest.Procedures{C: c}, Facts: clienttest.Facts{C: c}, Advance: func(d time.Duration) { ms.Add(d.Milliseconds()) }}
	})
}
