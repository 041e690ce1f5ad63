package store

import (
	"database/sql"
	"iter"
	"runtime"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// The statements of this store go past gorm's builder, and all of them through this file. Its reflection
// costs more than SQLite does: one event is written in 6.5 µs, and by gorm in 28 to 44; a hundred are read in
// 190 to 330 µs, and by gorm in 310 to 530 (BenchmarkPastGorm, on two busy cores). Reports, checks, facts and
// imports are written at a rate at which that is felt, what is searched is read by the ten thousand, and the
// rest has too few columns for a row's type, with what turns it into the domain's, to be shorter than its
// statement. gorm holds the connections and the transactions.

// query asks for rows.
func query(db *gorm.DB, text string, args ...any) (*sql.Rows, error) {
	return db.Statement.ConnPool.QueryContext(db.Statement.Context, text, args...)
}

// exec runs a statement.
func exec(db *gorm.DB, text string, args ...any) (sql.Result, error) {
	return db.Statement.ConnPool.ExecContext(db.Statement.Context, text, args...)
}

// insertOne writes one row and returns its number: the statement ends in RETURNING and its column.
func insertOne(db *gorm.DB, statement string, values ...any) (number int64, err error) {
	_, err = one(db, []any{&number}, statement, values...)
	return number, err
}

// one reads the one row that a query answers; false if there is none.
func one(db *gorm.DB, into []any, text string, args ...any) (bool, error) {
	found := false
	err := each(query(db, text, args...)).visit(func(rows *sql.Rows) (bool, error) {
		found = true
		return false, rows.Scan(into...)
	})
	return found, err
}

// scalar reads the one value that a query answers.
func scalar[T any](db *gorm.DB, text string, args ...any) (of T, err error) {
	_, err = one(db, []any{&of}, text, args...)
	return of, err
}

// execEach runs one statement for each row of values.
func execEach(db *gorm.DB, text string, rows iter.Seq[[]any]) error {
	for row := range rows {
		if _, err := exec(db, text, row...); err != nil {
			return err
		}
	}
	return nil
}

// marks are n places for parameters.
func marks(n int) string { return "?" + strings.Repeat(", ?", n-1) }

func anys[T any](values []T) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	return list
}

// insertValues is about how many values one INSERT has. The driver looks for each parameter among all,
// and parsing a statement has its price too: between 200 and 400 values is the best of both.
const insertValues = 300

// insert writes n rows, whose values row appends. It goes past gorm's
// reflection, which costs more than SQLite does.
func insert(tx *gorm.DB, table string, columns []string, n int, row func(i int, values []any) []any) error {
	return insertOr(tx, "", table, columns, n, row)
}

// orKeep ends an INSERT that leaves rows which are there already as they are.
const orKeep = " ON CONFLICT DO NOTHING"

// orReplace ends an INSERT of the columns that overwrites a row with the same keys.
func orReplace(columns []string, keys ...string) string {
	var set []string
	for _, column := range columns {
		if !slices.Contains(keys, column) {
			set = append(set, column+" = excluded."+column)
		}
	}
	return " ON CONFLICT (" + strings.Join(keys, ", ") + ") DO UPDATE SET " + strings.Join(set, ", ")
}

// insertOr is insert with what becomes of a row that is there already: orKeep, orReplace, or empty for a failure.
func insertOr(tx *gorm.DB, conflict, table string, columns []string, n int, row func(i int, values []any) []any) error {
	if n == 0 {
		return nil
	}
	conn, ctx := tx.Statement.ConnPool, tx.Statement.Context
	head := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES "
	one := "(" + marks(len(columns)) + ")"
	most := max(1, insertValues/len(columns))
	values := make([]any, 0, min(n, most)*len(columns))
	for from := 0; from < n; from += most {
		runtime.Gosched() // each of these takes a millisecond or two: a search that waits for a core goes first
		rows := min(most, n-from)
		values = values[:0]
		for i := range rows {
			values = row(from+i, values)
		}
		if _, err := conn.ExecContext(ctx, head+one+strings.Repeat(", "+one, rows-1)+conflict, values...); err != nil {
			return err
		}
	}
	return nil
}
