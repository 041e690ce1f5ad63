package postgres

import (
	"context"
	"database/sql/driver"
	"io"

	"github.com/jackc/pgx/v5/stdlib"
)

// reading is a driver whose errors have the codes that callers know (see Translate), at whatever row they come: what is read goes to callers as
// it is. What writes is translated by its committer.
type reading struct{ driver.Connector }

// Connect implements driver.Connector.
func (r reading) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := r.Connector.Connect(ctx)
	if err != nil {
		return nil, Translate(err)
	}
	return readingConn{conn.(*stdlib.Conn)}, nil
}

type readingConn struct{ *stdlib.Conn }

// BeginTx implements driver.ConnBeginTx.
func (c readingConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.BeginTx(ctx, options)
	return readingTx{tx}, Translate(err)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c readingConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	s, err := c.Conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, Translate(err)
	}
	return readingStmt{s.(*stdlib.Stmt)}, nil
}

// QueryContext implements driver.QueryerContext.
func (c readingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	return readingRowsOf(c.Conn.QueryContext(ctx, text, args))
}

type readingTx struct{ driver.Tx }

// Commit implements driver.Tx.
func (t readingTx) Commit() error { return Translate(t.Tx.Commit()) }

type readingStmt struct{ *stdlib.Stmt }

// QueryContext implements driver.StmtQueryContext.
func (s readingStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return readingRowsOf(s.Stmt.QueryContext(ctx, args))
}

type readingRows struct{ *stdlib.Rows }

func readingRowsOf(rows driver.Rows, err error) (driver.Rows, error) {
	if err != nil {
		return nil, Translate(err)
	}
	return readingRows{rows.(*stdlib.Rows)}, nil
}

// Next implements driver.Rows.
func (r readingRows) Next(row []driver.Value) error {
	err := r.Rows.Next(row)
	if err == io.EOF { //nolint:errorlint // as it is, the end of the rows; wrapped, that of the connection
		return err
	}
	return Translate(err)
}
