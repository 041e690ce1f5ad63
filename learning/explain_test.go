package learning_test

import (
	"testing"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
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
