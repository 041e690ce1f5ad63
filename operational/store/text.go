package store

import (
	"context"
	"database/sql"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/operational"
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

// wordsAtOnce is how many rows one page of a scan for the search index has, or
// are read by their ids.
const wordsAtOnce = 500

// TasksOf returns the tasks with the ids, in any order; those that are not there are left out.
func (s *Store) TasksOf(ctx context.Context, ids []string) ([]operational.Task, error) {
	return tasksOf(s.Read.WithContext(ctx), ids)
}

// TasksAfter returns the tasks of a project (of all, if it is empty) that come after a number, in their order, as many as a page has.
func (s *Store) TasksAfter(ctx context.Context, project string, number int64) ([]operational.Task, error) {
	return tasks.Find(given(s.Read.WithContext(ctx).Where("number > ?", number), "project = ?", project).Order("number").Limit(wordsAtOnce))
}

// FindingsOf returns the findings with the ids, in any order; those that are not there are left out.
func (s *Store) FindingsOf(ctx context.Context, ids []string) ([]operational.Finding, error) {
	return findings.Find(withEnvironment(s.Read.WithContext(ctx)).Where("findings.id IN ?", ids))
}

// FindingsAfter returns the findings that come after an id, in their order, as
// many as a page has; with an environment's id those of that one alone.
func (s *Store) FindingsAfter(ctx context.Context, id, environment string) ([]operational.Finding, error) {
	q := given(withEnvironment(s.Read.WithContext(ctx)).Where("findings.id > ?", id), "findings.environment_id = ?", environment)
	return findings.Find(q.Order("findings.id").Limit(wordsAtOnce))
}

// MessagesOf returns the messages with the ids, in any order; those that are not there are left out.
func (s *Store) MessagesOf(ctx context.Context, ids []string) ([]operational.Message, error) {
	return messages.Find(s.Read.WithContext(ctx).Where("id IN ?", ids))
}

// MessagesAfter returns the messages after a seq, in their order, as many as a page has.
func (s *Store) MessagesAfter(ctx context.Context, seq int64) ([]operational.Message, error) {
	return messages.Find(s.Read.WithContext(ctx).Where("seq > ?", seq).Order("seq").Limit(wordsAtOnce))
}

// MessageIDs visits the id of every message.
func (s *Store) MessageIDs(ctx context.Context, visit func(id string)) error {
	return table.Each(table.Query(s.Read.WithContext(ctx), "SELECT id FROM messages")).Visit(func(rows *sql.Rows) (bool, error) {
		var id string
		err := rows.Scan(&id)
		if err == nil {
			visit(id)
		}
		return true, err
	})
}

// SweptBell rings after each commit that deleted messages.
func (s *Store) SweptBell() *committer.Bell { return &s.swept }
