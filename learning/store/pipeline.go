package store

import (
	"context"
	"encoding/json"
	"math"
	"strconv"

	"gorm.io/gorm"

	"skillrouter/learning/experience"
	"skillrouter/learning/lesson"
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

// conditions gathers the parts of a WHERE clause.
type conditions struct {
	text string
	args []any
}

func (c *conditions) add(condition string, args ...any) {
	if c.text == "" {
		c.text = "WHERE "
	} else {
		c.text += " AND "
	}
	c.text += condition
	c.args = append(c.args, args...)
}

// equal adds that a column has the value, unless that is empty. It stands in the program once: some fifty places call it.
//
//go:noinline
func (c *conditions) equal(column, value string) {
	if value != "" {
		c.add(column+" = ?", value)
	}
}

// among adds that a column has one of the values, of which there must be some.
func among[T ~string](c *conditions, column string, values []T) {
	list, args := "", []any{}
	for _, v := range values {
		list += ", ?"
		args = append(args, string(v))
	}
	c.add(column+" IN ("+list[2:]+")", args...)
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

// orNull is toJSON of what there may be.
func orNull[T any](value *T) any {
	if value == nil {
		return nil
	}
	return toJSON(value)
}
