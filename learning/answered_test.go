package learning_test

import (
	"context"
	"testing"
	"time"

	"skillrouter/internal/principal"
	"skillrouter/learning"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/learningtest"
)

func TestAnsweredContract(t *testing.T) {
	learningtest.RunAnswered(t, func(t *testing.T) (context.Context, learningtest.AnsweredWorld) {
		ctx := principal.With(t.Context(), principal.Open())
		s := open(t, t.TempDir(), time.Now).store
		base := knowledge.NewBase(s, learning.Options{})
		answered, err := knowledge.NewAnswered(ctx, s, base.Used, nil)
		if err != nil {
			t.Fatal(err)
		}
		base.LearnFrom(answered)
		return ctx, learningtest.AnsweredWorld{Knowledge: base, Answered: answered}
	})
}

// TestAnsweredOutlivesTheProcessAndFades proves that what was learned is there after a
// restart, and counts for less as time goes by.
func TestAnsweredOutlivesTheProcessAndFades(t *testing.T) {
	ctx := principal.With(t.Context(), principal.Open())
	s := open(t, t.TempDir(), time.Now).store
	base := knowledge.NewBase(s, learning.Options{})
	first, err := knowledge.NewAnswered(ctx, s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := base.Store(ctx, knowledge.Draft{Category: "c", Title: "Rotate certificates", Content: "certbot renew"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Answered(ctx, stored.ID, knowledge.AnswerDraft{Query: "red padlock"}); err != nil {
		t.Fatal(err)
	}
	var scores []float64
	for _, later := range []time.Duration{0, 180 * 24 * time.Hour, 360 * 24 * time.Hour} {
		next := knowledge.NewBase(s, learning.Options{})
		answered, err := knowledge.NewAnswered(ctx, s, nil, func() time.Time { return time.Now().Add(later) })
		if err != nil {
			t.Fatal(err)
		}
		next.LearnFrom(answered)
		found, err := next.Search(ctx, knowledge.Query{Query: "red padlock"})
		if err != nil || found.Count != 1 {
			t.Fatalf("after a restart: %+v, %v", found, err)
		}
		scores = append(scores, found.Results[0].RelevanceScore)
	}
	if scores[0] < 0.49 || scores[0] > 0.5 || scores[1] >= scores[0] || scores[2] >= scores[1] {
		t.Errorf("as time goes by: %v", scores)
	}
}
