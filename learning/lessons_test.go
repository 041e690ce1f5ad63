package learning_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"skillrouter/learning"
	"skillrouter/learning/learningtest"
)

// lessonService is Lessons as a LessonService, of which the contract calls
// everything but promotions and reviews.
type lessonService struct{ *learning.Lessons }

func (lessonService) Promote(context.Context, string, learning.PromotionDraft) (learning.Lesson, error) {
	return learning.Lesson{}, errors.ErrUnsupported
}

func (lessonService) Review(context.Context, learning.ReviewQuery) (learning.Review, error) {
	return learning.Review{}, errors.ErrUnsupported
}

func TestLessonContract(t *testing.T) {
	learningtest.RunLessons(t, func(t *testing.T) learning.LessonService {
		lessons := learning.NewLessons(open(t, t.TempDir(), time.Now).store, learning.LessonOptions{})
		if err := lessons.Rebuild(t.Context()); err != nil { // as a start does
			t.Fatal(err)
		}
		return lessonService{lessons}
	})
}
