package database

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"gorm.io/gorm"
)

// dialect is how a database says what SQL does not say alike everywhere. The
// stores write SQL that SQLite and PostgreSQL both understand, and for the rest
// one of its words in braces: {greatest}(a, b), {elements tags}. A pool puts in
// what the database has for it, on the statement's way there; the error table is
// sqlerror.go.
type dialect struct {
	// words is what stands for each word; * is the place of what follows the word in the braces.
	words map[string]string
	// numbered: parameters are $1, $2 and so on, and not ?.
	numbered bool
}

// sqliteDialect is SQLite's. Each word says what it is for.
var sqliteDialect = &dialect{words: map[string]string{
	"greatest":   "max",                                                // the greater of two values, neither of them NULL
	"position":   "instr",                                              // where the second text begins in the first, from 1; 0 if it does not
	"like":       "LIKE",                                               // LIKE without regard to the case of ASCII letters
	"elements":   "json_each(*)",                                       // the elements of a JSON array as rows, in the column value
	"unindexed":  "+",                                                  // before a column: no index is chosen for this condition or order
	"indexed by": "INDEXED BY *",                                       // after a table: the index that must serve
	"last":       "(SELECT seq FROM sqlite_sequence WHERE name = '*')", // the greatest number that a table has given, NULL if none
	"columns":    "(SELECT name, type FROM pragma_table_info('*'))",    // the columns of a table, with their types as SQLite names them
}}

// postgresDialect is PostgreSQL's. It is made where it is wanted: few routers want it.
func postgresDialect() *dialect {
	return &dialect{words: map[string]string{
		"greatest":   "greatest",
		"position":   "strpos",
		"like":       "ILIKE",
		"elements":   "json_array_elements_text(CAST(* AS json)) AS elements(value)",
		"unindexed":  "",
		"indexed by": "",
		"last":       "(SELECT nullif(seq, 0) FROM heads WHERE log = '*')",
		"columns": `(SELECT column_name AS name, CASE data_type WHEN 'bigint' THEN 'INTEGER' WHEN 'double precision' THEN 'REAL' WHEN 'boolean' THEN 'BOOLEAN' ELSE 'TEXT' END AS type
		FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = '*')`,
	}, numbered: true}
}

// text is a statement in the dialect.
func (d *dialect) text(statement string) string {
	if strings.IndexByte(statement, '{') >= 0 {
		statement = d.put(statement)
	}
	if d.numbered {
		statement = numbered(statement)
	}
	return statement
}

// put replaces the words in braces. One that it does not know stays, and the database refuses it.
func (d *dialect) put(statement string) string {
	var out strings.Builder
	for {
		before, rest, open := strings.Cut(statement, "{")
		inner, after, closed := strings.Cut(rest, "}")
		if !open || !closed {
			out.WriteString(statement)
			return out.String()
		}
		out.WriteString(before)
		word, argument := inner, ""
		if at := strings.LastIndexByte(inner, ' '); at >= 0 {
			word, argument = inner[:at], inner[at+1:]
		}
		if stands, known := d.words[word]; known {
			out.WriteString(strings.Replace(stands, "*", argument, 1))
		} else {
			out.WriteString("{" + inner + "}")
		}
		statement = after
	}
}

// numbered turns each ? that stands for a parameter into $1, $2 and so on.
func numbered(statement string) string {
	var out strings.Builder
	n, quoted := 0, false
	for _, c := range statement {
		if c == '\'' {
			quoted = !quoted
		}
		if c != '?' || quoted {
			out.WriteRune(c)
			continue
		}
		n++
		out.WriteString("$" + strconv.Itoa(n))
	}
	return out.String()
}

// spoken is a connection, or a pool of them, whose statements come in a dialect. None is prepared: the driver parses each at each run.
type spoken struct {
	gorm.ConnPool
	dialect *dialect
}

// ExecContext implements gorm.ConnPool.
func (s spoken) ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	return s.ConnPool.ExecContext(ctx, s.dialect.text(statement), args...)
}

// QueryContext implements gorm.ConnPool.
func (s spoken) QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	return s.ConnPool.QueryContext(ctx, s.dialect.text(statement), args...)
}

// QueryRowContext implements gorm.ConnPool.
func (s spoken) QueryRowContext(ctx context.Context, statement string, args ...any) *sql.Row {
	return s.ConnPool.QueryRowContext(ctx, s.dialect.text(statement), args...)
}

// pool is a database's pool of connections, for gorm.
type pool struct {
	spoken
	db *sql.DB
}

// transaction is one of a pool.
type transaction struct {
	spoken
	gorm.TxCommitter
}

var (
	_ gorm.ConnPoolBeginner = (*pool)(nil)
	_ gorm.GetDBConnector   = (*pool)(nil)
	_ gorm.TxCommitter      = (*transaction)(nil)
)

// GetDBConn implements gorm.GetDBConnector.
func (p *pool) GetDBConn() (*sql.DB, error) { return p.db, nil }

// BeginTx implements gorm.ConnPoolBeginner.
func (p *pool) BeginTx(ctx context.Context, options *sql.TxOptions) (gorm.ConnPool, error) {
	tx, err := p.db.BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	return &transaction{spoken{tx, p.dialect}, tx}, nil
}
