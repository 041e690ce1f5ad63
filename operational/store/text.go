package store

import (
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/skillrouter/skillrouter/internal/database/table"
)

// maxFilterWords is how many words of a filter are looked for: each is a pass
// over the text of every row that the other conditions leave.
const maxFilterWords = 16

// fold makes one text of the parts in the form in which filters compare it:
// SQLite's own functions know the case of ASCII letters only.
func fold(parts ...string) string {
	return strings.ToLower(norm.NFC.String(strings.Join(parts, "\n")))
}

// given adds a condition on a value. A filter that leaves the value empty does not select by it.
func given[T comparable](q *gorm.DB, condition string, value T) *gorm.DB {
	if value == *new(T) {
		return q
	}
	return q.Where(condition, value)
}

// givenAny is given for the values one of which a column may have.
func givenAny[T any](q *gorm.DB, condition string, values []T) *gorm.DB {
	if len(values) == 0 {
		return q
	}
	return q.Where(condition, values)
}

// givenTime is given for a time.
func givenTime(q *gorm.DB, condition string, t time.Time) *gorm.DB {
	if t.IsZero() {
		return q
	}
	return q.Where(condition, table.Millis(t))
}

// ofAgent is a condition that a column names an agent or a session of it, as Principal.Is has it, and its arguments.
func ofAgent(column, agent string) (condition string, args []any) {
	return "(" + column + " = ? OR substr(" + column + ", 1, ?) = ?)", []any{agent, utf8.RuneCountInString(agent) + 1, agent + ":"}
}

// holding keeps the rows whose folded text holds every word.
func holding(q *gorm.DB, text string) *gorm.DB {
	for _, word := range filterWords(text) {
		q = q.Where(holdsOne, "%"+table.Literal(word)+"%")
	}
	return q
}

// filterWords are the folded words of a filter that are looked for.
func filterWords(text string) []string {
	words := strings.Fields(fold(text))
	return words[:min(len(words), maxFilterWords)]
}

// holdingAny keeps the rows whose folded text holds one of the words, and
// lists those that hold more of them first, and then in the order given. No
// words keep all rows.
func holdingAny(q *gorm.DB, words []string, order string) *gorm.DB {
	if len(words) == 0 {
		return q.Order(order)
	}
	sum, patterns := heldOf(words)
	return q.Where("("+strings.Repeat(holdsOne+" OR ", len(words)-1)+holdsOne+")", patterns...).
		Clauses(clause.OrderBy{Expression: clause.Expr{SQL: sum + " DESC, " + order, Vars: patterns, WithoutParentheses: true}})
}

// holdsOne tells whether the folded text holds a word.
const holdsOne = `folded LIKE ? ESCAPE '\'`

// heldOf counts the words that a folded text holds.
func heldOf(words []string) (sum string, patterns []any) {
	for _, w := range words {
		patterns = append(patterns, "%"+table.Literal(fold(w))+"%")
	}
	const counted = "CASE WHEN " + holdsOne + " THEN 1 ELSE 0 END"
	return strings.Repeat(counted+" + ", len(words)-1) + counted, patterns
}
