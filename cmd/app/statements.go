package app

import (
	"container/list"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/glebarez/sqlite"
)

// cachedText is how many bytes of statements a connection keeps ready to run again: a hundred of usual length.
const cachedText = 64 << 10

// cacheable begins a statement that may be kept. A PRAGMA may act while it is parsed, and do nothing when it is run again.
var cacheable = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}

// openCaching opens a database whose connections keep the statements that they ran last. Parsing was a fifth of the
// time in SQLite, and a router sends the same few hundred statements all the time.
func openCaching(dsn string) (*sql.DB, error) {
	plain, err := sql.Open(sqlite.DriverName, dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(caching{plain.Driver(), dsn}), plain.Close()
}

// caching connects to a database with connections that keep their statements.
type caching struct {
	driver driver.Driver
	dsn    string
}

// Driver implements driver.Connector.
func (k caching) Driver() driver.Driver { return k.driver }

// Connect implements driver.Connector.
func (k caching) Connect(context.Context) (driver.Conn, error) {
	conn, err := k.driver.Open(k.dsn)
	if err != nil {
		return nil, err
	}
	can, ok := conn.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a connection to SQLite is a %T, which cannot do all that is wanted", conn), conn.Close())
	}
	return &cachingConn{sqliteConn: can, cached: map[string]*list.Element{}}, nil
}

// sqliteConn is what a connection of the driver can do and database/sql asks for.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.QueryerContext
}

// sqliteStmt is what a statement of the driver can do.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// sqliteRows is what rows of the driver can do.
type sqliteRows interface {
	driver.Rows
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
}

// cachingConn is a connection that keeps the statements which it ran last. database/sql lets one
// goroutine at a time use it.
type cachingConn struct {
	sqliteConn
	cached map[string]*list.Element // the statements that nobody runs, by their text
	last   list.List                // the same, the last run first
	held   int                      // bytes of their texts
}

type cachedStmt struct {
	text string
	stmt sqliteStmt
}

// take hands out a statement until keep has it back.
func (c *cachingConn) take(ctx context.Context, text string) (cachedStmt, error) {
	if at, there := c.cached[text]; there {
		return c.drop(at), nil
	}
	stmt, err := c.PrepareContext(ctx, text)
	if err != nil {
		return cachedStmt{}, err
	}
	return cachedStmt{text, stmt.(sqliteStmt)}, nil
}

// limitMark is a number of rows that a statement is limited to, as a parameter.
const limitMark = "LIMIT ?"

// limited writes into a statement to how many rows it is limited. SQLite looks at that parameter to plan by it, and so it parses a statement
// with one anew each time that it is run with values, kept or not: a seventh of what a session begins with went there. Written out, there is a statement of
// its own for each number, of which a router has few.
func limited(text string, args []driver.NamedValue) (string, []driver.NamedValue) {
	if !strings.Contains(text, limitMark) {
		return text, args
	}
	var into strings.Builder
	into.Grow(len(text) + len(limitMark))
	left, used, from := make([]driver.NamedValue, 0, len(args)), 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\'', '"':
			n := strings.IndexByte(text[i+1:], text[i])
			if n < 0 {
				return text, args // SQLite says what is wrong with it
			}
			i += n + 1
		case '?':
			if used == len(args) || i+1 < len(text) && '0' <= text[i+1] && text[i+1] <= '9' {
				return text, args
			}
			arg := args[used]
			used++
			if most, whole := arg.Value.(int64); whole && strings.HasSuffix(text[:i+1], limitMark) {
				into.WriteString(text[from:i])
				into.WriteString(strconv.FormatInt(most, 10))
				from = i + 1
				continue
			}
			arg.Ordinal = len(left) + 1
			left = append(left, arg)
		}
	}
	if used != len(args) {
		return text, args
	}
	into.WriteString(text[from:])
	return into.String(), left
}

// drop takes a statement out of those that are kept.
func (c *cachingConn) drop(at *list.Element) cachedStmt {
	s := c.last.Remove(at).(cachedStmt)
	delete(c.cached, s.text)
	c.held -= len(s.text)
	return s
}

// keep takes a statement back that went well, and closes those that were not run for longest if they are too many.
func (c *cachingConn) keep(s cachedStmt) error {
	begins := func(word string) bool { return strings.HasPrefix(s.text, word) }
	if len(s.text) > cachedText/8 || !slices.ContainsFunc(cacheable, begins) { // a long one would drive out too many others
		return s.stmt.Close()
	}
	var errs []error
	if at, there := c.cached[s.text]; there { // two rows of one statement were open
		errs = append(errs, c.drop(at).stmt.Close())
	}
	c.cached[s.text] = c.last.PushFront(s)
	c.held += len(s.text)
	for c.held > cachedText {
		errs = append(errs, c.drop(c.last.Back()).stmt.Close())
	}
	return errors.Join(errs...)
}

// ExecContext implements driver.ExecerContext.
func (c *cachingConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	text, args = limited(text, args)
	s, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	result, err := s.stmt.ExecContext(ctx, args)
	if err != nil {
		_ = s.stmt.Close() // it says the same again
		return nil, err
	}
	return result, c.keep(s)
}

// QueryContext implements driver.QueryerContext.
func (c *cachingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	text, args = limited(text, args)
	s, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	rows, err := s.stmt.QueryContext(ctx, args)
	if err != nil {
		_ = s.stmt.Close() // it says the same again
		return nil, err
	}
	return &cachedRows{rows.(sqliteRows), c, s}, nil
}

// ResetSession implements driver.SessionResetter.
func (c *cachingConn) ResetSession(ctx context.Context) error {
	if conn, can := c.sqliteConn.(driver.SessionResetter); can {
		return conn.ResetSession(ctx)
	}
	return nil
}

// IsValid implements driver.Validator.
func (c *cachingConn) IsValid() bool {
	conn, can := c.sqliteConn.(driver.Validator)
	return !can || conn.IsValid()
}

// Close implements driver.Conn.
func (c *cachingConn) Close() error {
	var errs []error
	for c.last.Len() > 0 {
		errs = append(errs, c.drop(c.last.Front()).stmt.Close())
	}
	return errors.Join(append(errs, c.sqliteConn.Close())...)
}

// cachedRows are rows of a kept statement, which goes back when they are closed.
type cachedRows struct {
	sqliteRows
	conn *cachingConn
	stmt cachedStmt
}

// Close implements driver.Rows.
func (r *cachedRows) Close() error {
	if r.conn == nil {
		return nil
	}
	conn := r.conn
	r.conn = nil
	if err := r.sqliteRows.Close(); err != nil {
		_ = r.stmt.stmt.Close() // it says the same again
		return err
	}
	return conn.keep(r.stmt)
}
