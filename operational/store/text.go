package store

import (
	"context"
	"database/sql"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

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

// ofAgent is a condition that a column names an agent or a session of it, as Principal.Is has it, and its arguments.
func ofAgent(column, agent string) (condition string, args []any) {
	return "(" + column + " = ? OR substr(" + column + ", 1, ?) = ?)", []any{agent, utf8.RuneCountInString(agent) + 1, agent + ":"}
}

// holding keeps the rows whose folded text holds every word.
func holding(c *table.Conditions, text string) {
	words := strings.Fields(fold(text))
	for _, word := range words[:min(len(words), maxFilterWords)] {
		c.Add(holdsOne, "%"+table.Literal(word)+"%")
	}
}

// holdingAny keeps the rows whose folded text holds one of the words, and lists those that hold more of them first, and then in
// the order given. No words keep all rows. It returns how the statement goes on behind the conditions, which must be complete.
func holdingAny(c *table.Conditions, words []string, order string) string {
	if len(words) == 0 {
		return " ORDER BY " + order + " LIMIT ?"
	}
	patterns := make([]any, len(words))
	for i, w := range words {
		patterns[i] = "%" + table.Literal(fold(w)) + "%"
	}
	const counted = "CASE WHEN " + holdsOne + " THEN 1 ELSE 0 END"
	c.Add("("+strings.Repeat(holdsOne+" OR ", len(words)-1)+holdsOne+")", patterns...)
	c.Args = append(c.Args, patterns...) // of the order
	return " ORDER BY " + strings.Repeat(counted+" + ", len(words)-1) + counted + " DESC, " + order + " LIMIT ?"
}

// holdsOne tells whether the folded text holds a word.
const holdsOne = `folded LIKE ? ESCAPE '\'`

// wordsAtOnce is how many rows one page of a scan for the search index has, or
// are read by their ids.
const wordsAtOnce = 500

// TasksOf returns the tasks with the ids, in any order; those that are not there are left out.
func (s *Store) TasksOf(ctx context.Context, ids []string) ([]operational.Task, error) {
	return tasksOf(s.Read.WithContext(ctx), ids)
}

// TasksAfter returns the tasks of a project (of all, if it is empty) that come after a number, in their order, as many as a page has.
func (s *Store) TasksAfter(ctx context.Context, project string, number int64) ([]operational.Task, error) {
	var c table.Conditions
	c.Add("number > ?", number)
	c.Equal("project", project)
	return tasks.List(s.Read.WithContext(ctx), c.Text+" ORDER BY number LIMIT ?", c.With(wordsAtOnce)...)
}

// FindingsOf returns the findings with the ids, in any order; those that are not there are left out.
func (s *Store) FindingsOf(ctx context.Context, ids []string) ([]operational.Finding, error) {
	var c table.Conditions
	table.Among(&c, "findings.id", ids)
	return findings.List(s.Read.WithContext(ctx), withEnvironment+c.Text, c.Args...)
}

// FindingsAfter returns the findings that come after an id, in their order, as
// many as a page has; with an environment's id those of that one alone.
func (s *Store) FindingsAfter(ctx context.Context, id, environment string) ([]operational.Finding, error) {
	var c table.Conditions
	c.Add("findings.id > ?", id)
	c.Equal("findings.environment_id", environment)
	return findings.List(s.Read.WithContext(ctx), withEnvironment+c.Text+" ORDER BY findings.id LIMIT ?", c.With(wordsAtOnce)...)
}

// MessagesOf returns the messages with the ids, in any order; those that are not there are left out.
func (s *Store) MessagesOf(ctx context.Context, ids []string) ([]operational.Message, error) {
	var c table.Conditions
	table.Among(&c, "id", ids)
	return messages.List(s.Read.WithContext(ctx), c.Text, c.Args...)
}

// MessagesAfter returns the messages after a seq, in their order, as many as a page has.
func (s *Store) MessagesAfter(ctx context.Context, seq int64) ([]operational.Message, error) {
	return messages.List(s.Read.WithContext(ctx), "WHERE seq > ? ORDER BY seq LIMIT ?", seq, wordsAtOnce)
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
