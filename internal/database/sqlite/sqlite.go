// Package sqlite stands in for github.com/glebarez/go-sqlite, the driver below gorm's dialector of SQLite
// (github.com/glebarez/sqlite). It is modernc.org/sqlite, which the former is a fork of and whose translation of SQLite
// it runs. The fork parses each statement again at each run, also a prepared one, and looks for each parameter among all.
//
// It has what the dialector and this repository use, and keeps the fork's habits that they rest on.
package sqlite

import (
	"context"
	"database/sql/driver"
	"strings"

	"modernc.org/sqlite"
)

// Error is a failure that SQLite has a code for.
type Error = sqlite.Error

// patience has a connection wait for the locks of others, as the fork has it, unless its address says how long.
const patience = "PRAGMA busy_timeout(5000)"

// modernc.org/sqlite registers itself under the name that the dialector asks for.
func init() {
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, dsn string) error {
		if strings.Contains(dsn, "busy_timeout") {
			return nil
		}
		_, err := conn.ExecContext(context.TODO(), patience, []driver.NamedValue{})
		return err
	})
}
