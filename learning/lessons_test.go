package learning_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// lessonService is Lessons as a lesson.Service, of which the contract calls
// everything but promotions and reviews.
type lessonService struct{ *lesson.Lessons }

func (lessonService) Promote(context.Context, string, lesson.PromotionDraft) (lesson.Lesson, error) {
	return lesson.Lesson{}, errors.ErrUnsupported
}

func (lessonService) Review(context.Context, lesson.ReviewQuery) (lesson.Review, error) {
	return lesson.Review{}, errors.ErrUnsupported
}

func TestLessonContract(t *testing.T) {
	learningtest.RunLessons(t, func(t *testing.T) lesson.Service {
		lessons := lesson.NewLessons(open(t, t.TempDir(), time.Now).store, lesson.Options{})
		if err := lessons.Rebuild(t.Context()); err != nil { // as a start does
			t.Fatal(err)
		}
		return lessonService{lessons}
	})
}
