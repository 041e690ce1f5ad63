package table

import (
	"database/sql"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// The statements go past gorm's builder. Its reflection costs more than SQLite does: one event is written in 6.5 µs, and by gorm in
// 28 to 44; a hundred are read in 190 to 330 µs, and by gorm in 310 to 530 (BenchmarkPastGorm in learning/store, on two busy
// cores). gorm holds the connections and the transactions.

// Query asks for rows.
func Query(db *gorm.DB, text string, args ...any) (*sql.Rows, error) {
	return db.Statement.ConnPool.QueryContext(db.Statement.Context, text, args...)
}

// Exec runs a statement.
func Exec(db *gorm.DB, text string, args ...any) (sql.Result, error) {
	return db.Statement.ConnPool.ExecContext(db.Statement.Context, text, args...)
}

// One reads the one row that a query answers; false if there is none.
func One(db *gorm.DB, into []any, text string, args ...any) (bool, error) {
	found := false
	err := Each(Query(db, text, args...)).Visit(func(rows *sql.Rows) (bool, error) {
		found = true
		return false, rows.Scan(into...)
	})
	return found, err
}

// Scalar reads the one value that a query answers.
func Scalar[T any](db *gorm.DB, text string, args ...any) (of T, err error) {
	_, err = One(db, []any{&of}, text, args...)
	return of, err
}

// List reads all rows that a query answers. columns are where a row's columns go.
func List[T any](db *gorm.DB, columns func(row *T) []any, text string, args ...any) ([]T, error) {
	found := []T{}
	if err := Each(Query(db, text, args...)).into(func() []any {
		found = append(found, *new(T))
		return columns(&found[len(found)-1])
	}); err != nil {
		return nil, err
	}
	return found, nil
}

// Value is the column of a query of one.
func Value[T any](row *T) []any { return []any{row} }

// First is the first row of a list; false if there is none.
func First[T any](rows []T, err error) (row T, found bool, _ error) {
	if err != nil || len(rows) == 0 {
		return row, false, err
	}
	return rows[0], true, nil
}

// Tallied reads the rows of a query of names and their figures.
func Tallied[K comparable](db *gorm.DB, text string, args ...any) (map[K]int64, error) {
	type row struct {
		of K
		n  int64
	}
	rows, err := List(db, func(r *row) []any { return []any{&r.of, &r.n} }, text, args...)
	counts := make(map[K]int64, len(rows))
	for _, r := range rows {
		counts[r.of] = r.n
	}
	return counts, err
}

// Lookups is how many ids or hashes one query asks for.
const Lookups = 256

// InParts reads rows by a part of their ids at a time, so that no statement has too many parameters.
func InParts[ID, T any](ids []ID, read func(part []ID) ([]T, error)) (all []T, err error) {
	for part := range slices.Chunk(ids, Lookups) {
		found, err := read(part)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// Answered are the rows that a query answers, or why it answers none.
type Answered struct {
	rows *sql.Rows
	err  error
}

// Each is what a query answers, for Visit.
func Each(rows *sql.Rows, err error) Answered { return Answered{rows, err} }

// Visit goes over the rows until visit has enough, and closes them.
func (a Answered) Visit(visit func(rows *sql.Rows) (more bool, err error)) error {
	if a.err != nil {
		return a.err
	}
	var err error
	for more := true; more && err == nil && a.rows.Next(); {
		more, err = visit(a.rows)
	}
	if err == nil {
		err = a.rows.Err()
	}
	return errors.Join(err, a.rows.Close())
}

// into reads each row into the columns that next gives. It stands in the program once, and not for each type of row.
//
//go:noinline
func (a Answered) into(next func() []any) error {
	return a.Visit(func(rows *sql.Rows) (bool, error) { return true, rows.Scan(next()...) })
}

// ExecEach runs one statement for each row of values.
func ExecEach(db *gorm.DB, text string, rows iter.Seq[[]any]) error {
	for row := range rows {
		if _, err := Exec(db, text, row...); err != nil {
			return err
		}
	}
	return nil
}

// Affected counts the rows that a statement changed.
func Affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Marks are n places for parameters. For none it is NULL, which no value is among.
func Marks(n int) string {
	if n == 0 {
		return "NULL"
	}
	return "?" + strings.Repeat(", ?", n-1)
}

// Anys are values as parameters.
func Anys[T any](values []T) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	return list
}

// insertValues is about how many values one INSERT has. The driver looks for each parameter among all,
// and parsing a statement has its price too: between 200 and 400 values is the best of both.
const insertValues = 300

// InsertMost is how many values one INSERT has whose rows get numbers: those of 16 lessons, as many as report at once.
const InsertMost = 768

// OrKeep ends an INSERT that leaves rows which are there already as they are.
const OrKeep = " ON CONFLICT DO NOTHING"

// OrReplace ends an INSERT of the columns that overwrites a row with the same keys.
func OrReplace(columns []string, keys ...string) string {
	var set []string
	for _, column := range columns {
		if !slices.Contains(keys, column) {
			set = append(set, column+" = excluded."+column)
		}
	}
	return " ON CONFLICT (" + strings.Join(keys, ", ") + ") DO UPDATE SET " + strings.Join(set, ", ")
}

// InsertOr writes n rows, whose values row appends. conflict is what becomes of a row that is there already: OrKeep, OrReplace, or empty for a failure.
func InsertOr(tx *gorm.DB, conflict, table string, columns []string, n int, row func(i int, values []any) []any) error {
	_, err := insert(tx, conflict, table, columns, n, row)
	return err
}

// insert is InsertOr, and counts the rows that were written.
func insert(tx *gorm.DB, conflict, table string, columns []string, n int, row func(i int, values []any) []any) (written int64, err error) {
	if n == 0 {
		return 0, nil
	}
	head := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES "
	one := "(" + Marks(len(columns)) + ")"
	most := max(1, insertValues/len(columns))
	values := make([]any, 0, min(n, most)*len(columns))
	for from := 0; from < n; from += most {
		runtime.Gosched() // each of these takes a millisecond or two: a search that waits for a core goes first
		rows := min(most, n-from)
		values = values[:0]
		for i := range rows {
			values = row(from+i, values)
		}
		more, err := Affected(Exec(tx, head+one+strings.Repeat(", "+one, rows-1)+conflict, values...))
		if err != nil {
			return 0, err
		}
		written += more
	}
	return written, nil
}
