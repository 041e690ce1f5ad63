package router_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"skillrouter/internal/principal"
	"skillrouter/router"
	"skillrouter/router/classify"
	"skillrouter/router/question"
	"skillrouter/router/routertest"
	"skillrouter/router/routertest/fixture"
	"skillrouter/router/search"
)

// none has nothing to find.
type none struct{}

func (none) Search(context.Context, search.Query) (search.Answer, error) {
	return search.Answer{}, nil
}

func taught(t *testing.T) (*router.Taught, *fixture.World) {
	t.Helper()
	c, err := classify.NewClassifier()
	if err != nil {
		t.Fatal(err)
	}
	b := fixture.Open(t)
	tt, err := router.NewTaught(t.Context(), c, b.Learning, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tt, b
}

func TestFeedbackContract(t *testing.T) {
	routertest.RunFeedback(t, func(t *testing.T) func(principal.Principal) routertest.FeedbackWorld {
		tt, b := taught(t)
		r := question.New(tt, none{}, question.Sources{Tasks: b.Tasks}, question.Options{})
		return func(principal.Principal) routertest.FeedbackWorld {
			return routertest.FeedbackWorld{Feedback: tt, Router: r}
		}
	})
}

// TestFeedbackOutlivesTheProcess proves that what was taught is heeded by the next classifier on the same database.
func TestFeedbackOutlivesTheProcess(t *testing.T) {
	first, b := taught(t)
	ctx := principal.With(t.Context(), principal.System())
	if _, err := first.Teach(ctx, router.FeedbackDraft{Query: "frobnicator baseline", QueryType: classify.ClassRecon}); err != nil {
		t.Fatal(err)
	}
	c, err := classify.NewClassifier()
	if err != nil {
		t.Fatal(err)
	}
	second, err := router.NewTaught(t.Context(), c, b.Learning, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := second.Classify("frobnicator baseline", nil); got.Class != classify.ClassRecon {
		t.Errorf("after a restart it is %s", got.Class)
	}
}

// BenchmarkClassifyTaught is a classification with the list of feedback full.
func BenchmarkClassifyTaught(b *testing.B) {
	base, err := classify.NewClassifier()
	if err != nil {
		b.Fatal(err)
	}
	var list []classify.Feedback
	for i := range classify.MaxFeedback {
		list = append(list, classify.Feedback{
			Query: fmt.Sprintf("what is the state of the build %d in the queue of project %d", i, i%7), Class: classify.Classes()[i%4], Teacher: fmt.Sprint("agent-", i%10),
		})
	}
	c := base.WithFeedback(list)
	var most time.Duration
	for b.Loop() {
		began := time.Now()
		c.Classify("what is the state of the build 17 in the queue", nil)
		most = max(most, time.Since(began))
	}
	b.ReportMetric(float64(most.Microseconds()), "max-µs")
}
