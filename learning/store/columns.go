package store

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"
)

// Columns that database/sql cannot read by itself into a domain type's field.
// Texts of a type of their own, such as a status, it reads as they are.

// timeColumn is a column of Unix milliseconds, NULL for no time.
type timeColumn struct{ into *time.Time }

func at(into *time.Time) sql.Scanner { return timeColumn{into} }

// Scan implements sql.Scanner.
func (c timeColumn) Scan(value any) error {
	ms, err := optional[int64](value)
	if err == nil && ms != nil {
		*c.into = fromMillis(*ms)
	}
	return err
}

// momentColumn is a timeColumn into a pointer, which stays nil for NULL.
type momentColumn struct{ into **time.Time }

func atOrNil(into **time.Time) sql.Scanner { return momentColumn{into} }

// Scan implements sql.Scanner.
func (c momentColumn) Scan(value any) error {
	ms, err := optional[int64](value)
	*c.into = fromMillisPtr(ms)
	return err
}

// jsonColumn is a column of JSON; NULL leaves the field as it is.
type jsonColumn struct{ into any }

func fromJSON[T any](into *T) sql.Scanner { return jsonColumn{into} }

// Scan implements sql.Scanner.
func (c jsonColumn) Scan(value any) error {
	text, err := optional[string](value)
	if err != nil || text == nil {
		return err
	}
	switch field := c.into.(type) {
	case *[]string:
		if *text == "[]" { // most lists are: nothing is parsed for them
			*field = []string{}
			return nil
		}
	case *json.RawMessage:
		*field = json.RawMessage(*text)
		return nil
	}
	return json.Unmarshal([]byte(*text), c.into)
}

// written is JSON for a column, or why it cannot be written.
type written struct {
	text string
	err  error
}

// toJSON writes a value for a column, at once: what is changed afterwards is not in it.
func toJSON(of any) driver.Valuer {
	text, err := json.Marshal(of)
	return written{string(text), err}
}

// Value implements driver.Valuer.
func (w written) Value() (driver.Value, error) { return w.text, w.err }

// optional is what a driver hands out for a column, nil for NULL.
func optional[T any](value any) (*T, error) {
	if value == nil {
		return nil, nil
	}
	of, ok := value.(T)
	if !ok {
		return nil, fmt.Errorf("a column holds a %T and not a %T", value, of)
	}
	return &of, nil
}

// list reads all rows that a query answers. columns are where a row's columns go.
func list[T any](db *gorm.DB, columns func(row *T) []any, text string, args ...any) ([]T, error) {
	found := []T{}
	if err := each(query(db, text, args...)).into(func() []any {
		found = append(found, *new(T))
		return columns(&found[len(found)-1])
	}); err != nil {
		return nil, err
	}
	return found, nil
}

// value is the column of a query of one.
func value[T any](row *T) []any { return []any{row} }

// first is the first row of a list; false if there is none.
func first[T any](rows []T, err error) (row T, found bool, _ error) {
	if err != nil || len(rows) == 0 {
		return row, false, err
	}
	return rows[0], true, nil
}

// inParts reads rows by a part of their ids at a time, so that no statement has too many parameters.
func inParts[ID, T any](ids []ID, read func(part []ID) ([]T, error)) (all []T, err error) {
	for part := range slices.Chunk(ids, lookups) {
		found, err := read(part)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// tallied reads the rows of a query of names and their figures.
func tallied[K comparable](db *gorm.DB, text string, args ...any) (map[K]int64, error) {
	type row struct {
		of K
		n  int64
	}
	rows, err := list(db, func(r *row) []any { return []any{&r.of, &r.n} }, text, args...)
	counts := make(map[K]int64, len(rows))
	for _, r := range rows {
		counts[r.of] = r.n
	}
	return counts, err
}
