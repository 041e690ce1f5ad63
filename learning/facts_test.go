package learning_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/learningtest"
)

// handClock is a clock that moves by hand alone.
type handClock struct{ ms atomic.Int64 }

func newHandClock() *handClock {
	c := new(handClock)
	c.ms.Store(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).UnixMilli())
	return c
}

func (c *handClock) now() time.Time { return time.UnixMilli(c.ms.Load()) }

func (c *handClock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

func openFacts(t testing.TB, dir string, now clock.Clock) (*fact.Facts, memory) {
	m := open(t, dir, now)
	return fact.NewFacts(m.store, learning.Options{Now: now}), m
}

func TestFactContract(t *testing.T) {
	learningtest.Facts(t, func(t *testing.T) learningtest.FactWorld {
		clock := newHandClock()
		facts, _ := openFacts(t, t.TempDir(), clock.now)
		return learningtest.FactWorld{Facts: facts, Advance: clock.advance}
	})
}
