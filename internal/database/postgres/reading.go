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
	return tx, Translate(err)
}

// QueryContext implements driver.QueryerContext.
func (c readingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.Conn.QueryContext(ctx, text, args)
	if err != nil {
		return nil, Translate(err)
	}
	return readingRows{rows.(*stdlib.Rows)}, nil
}

type readingRows struct{ *stdlib.Rows }

// Next implements driver.Rows.
func (r readingRows) Next(row []driver.Value) error {
	err := r.Rows.Next(row)
	if err == io.EOF { //nolint:errorlint // as it is, the end of the rows; wrapped, that of the connection
		return err
	}
	return Translate(err)
}
