package table

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Conditions gathers the parts of a WHERE clause.
type Conditions struct {
	Text string
	Args []any
}

// Add adds a condition.
func (c *Conditions) Add(condition string, args ...any) {
	if c.Text == "" {
		c.Text = "WHERE "
	} else {
		c.Text += " AND "
	}
	c.Text += condition
	c.Args = append(c.Args, args...)
}

// Given adds a condition on a value, unless that is empty.
func (c *Conditions) Given(condition, value string) {
	if value != "" {
		c.Add(condition, value)
	}
}

// Equal adds that a column has the value, unless that is empty. It stands in the program once: some fifty places call it.
//
//go:noinline
func (c *Conditions) Equal(column, value string) { c.Given(column+" = ?", value) }

// Below adds that a number is less than one, unless that is 0.
func (c *Conditions) Below(column string, number int64) {
	if number > 0 {
		c.Add(column+" < ?", number)
	}
}

// Between adds that a time is in a span whose ends may be zero, which stand for none; the end is not in it.
func (c *Conditions) Between(column string, since, until time.Time) {
	if !since.IsZero() {
		c.Add(column+" >= ?", Millis(since))
	}
	if !until.IsZero() {
		c.Add(column+" < ?", Millis(until))
	}
}

// With are the arguments of the conditions, and then others.
func (c *Conditions) With(more ...any) []any { return append(c.Args, more...) }

// Among adds that a column has one of the values. No row has one of none.
func Among[T any](c *Conditions, column string, values []T) {
	c.Add(column+" IN ("+Marks(len(values))+")", Anys(values)...)
}

// GivenAny is Among, unless there are no values.
func GivenAny[T any](c *Conditions, column string, values []T) {
	if len(values) > 0 {
		Among(c, column, values)
	}
}

// Behind is the first text after all that begin with a prefix, in the order of their code points.
func Behind(prefix string) string {
	last, size := utf8.DecodeLastRuneInString(prefix)
	rest := prefix[:len(prefix)-size]
	switch {
	case last == utf8.MaxRune && rest != "":
		return Behind(rest)
	case last == 0xD7FF: // the numbers up to U+E000 are no characters
		return rest + "\uE000"
	}
	return rest + string(last+1)
}

// Literal makes a text stand for itself in a pattern of LIKE with the escape \.
func Literal(text string) string {
	return strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text)
}
