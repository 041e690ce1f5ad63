package learning_test

import (
	"testing"

	"skillrouter/learning"
	"skillrouter/learning/learningtest"
	"skillrouter/learning/lesson"
	"skillrouter/learning/procedure"
)

func second[T any](_ T, err error) error { return err }

func TestExplainContract(t *testing.T) {
	learningtest.Explain(t, func(t *testing.T) learningtest.ExplainWorld {
		clock := newHandClock()
		m := open(t, t.TempDir(), clock.now)
		options := learning.Options{Now: clock.now}
		return learningtest.ExplainWorld{
			Knowledge: m.knowledge, Episodes: m.episodes,
			Lessons:    lesson.NewLessons(m.store, lesson.Options{Options: options}),
			Procedures: procedure.NewProcedures(m.store, procedure.Options{Options: options}),
		}
	})
}
