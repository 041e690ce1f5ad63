package store

import (
	"context"
	"encoding/json"
	"math"
	"strconv"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

var _ lesson.PipelineStore = (*Store)(nil)

// Change implements lesson.PipelineStore.
func (s *Store) Change(ctx context.Context, decide func(tx lesson.PipelineTx) error, after func()) (wait func() error) {
	return s.queue(ctx, func(tx *gorm.DB) error { return decide(&transaction{tx}) }, after)
}

// ChangeExperiences implements experience.Store.
func (s *Store) ChangeExperiences(ctx context.Context, decide func(tx experience.Tx) error, after func()) (wait func() error) {
	return s.queue(ctx, func(tx *gorm.DB) error { return decide(&transaction{tx}) }, after)
}

// byRef is the condition that finds a row by its id or its number in decimal.
// No id is a number.
func byRef(ref string) (where string, arg any) {
	if number, err := strconv.ParseUint(ref, 10, 63); err == nil {
		return "WHERE num = ?", number
	}
	return "WHERE id = ?", ref
}

// unbounded is a size that no answer reaches.
const unbounded = math.MaxInt

// listText is a list of texts or whole numbers as its column holds it.
func listText[T any](list []T) string {
	if len(list) == 0 {
		return "[]"
	}
	text, _ := json.Marshal(list) // what such a list holds cannot fail
	return string(text)
}
