package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Pragma is a setting and what reading it back must give.
type Pragma struct{ Name, Set, want string }

// writerCacheKiB is the most that the writer keeps of a database's pages, in KiB. An
// import into a large database touches indexes all over: with SQLite's own 2 MiB each
// row reads and writes pages again. 32 MiB are no faster than 8, and are taken of each database.
const writerCacheKiB = 8 << 10

// checkpointPages is how many pages of the write-ahead log are copied into the database at once, 16 MiB: the same few are written again and again, and whoever
// commits waits for the copying and two syncs. With SQLite's own 1,000, the slowest hundredth of reports took half as long again.
const checkpointPages = 4000

// logBytes is what the file of the write-ahead log is cut down to once nobody needs more of it: a reader of another program that holds the database
// open for long has it grow.
const logBytes = checkpointPages * (4<<10 + 24)

func writerPragmas() []Pragma {
	return []Pragma{
		{"busy_timeout", fmt.Sprint(busyTimeout.Milliseconds()), fmt.Sprint(busyTimeout.Milliseconds())}, // the driver takes them in this order
		{"journal_mode", "WAL", "wal"},
		{"synchronous", "FULL", "2"},
		{"foreign_keys", "1", "1"},
		{"trusted_schema", "0", "0"},
		{"cache_size", fmt.Sprint(-writerCacheKiB), fmt.Sprint(-writerCacheKiB)},
		{"wal_autocheckpoint", fmt.Sprint(checkpointPages), fmt.Sprint(checkpointPages)},
		{"journal_size_limit", fmt.Sprint(logBytes), fmt.Sprint(logBytes)},
		{"temp_store", "MEMORY", "2"}, // what takes one statement back is kept there too: in a file, it was a sixth of the time of reports
	}
}

// readerCacheKiB is the most that each of the reading connections keeps, in KiB. Whoever reads a few rows by their ids reuses little
// but the upper pages of an index, and the system has the rest in its own cache; with SQLite's own 2,000 all of them took 16 MB.
const readerCacheKiB = 1 << 10

func readerPragmas() []Pragma {
	return []Pragma{
		{"busy_timeout", fmt.Sprint(busyTimeout.Milliseconds()), fmt.Sprint(busyTimeout.Milliseconds())},
		{"cache_size", fmt.Sprint(-readerCacheKiB), fmt.Sprint(-readerCacheKiB)},
		{"query_only", "1", "1"},
		{"trusted_schema", "0", "0"},
	}
}

// writerDSN is the address of a writer, with settings in place of its own of the same name, or beside them: of two
// of a name, it is the driver's own choice which one stays.
func writerDSN(path string, settings ...Pragma) string {
	own := slices.DeleteFunc(writerPragmas(), func(p Pragma) bool {
		return slices.ContainsFunc(settings, func(s Pragma) bool { return s.Name == p.Name })
	})
	return "file:" + escape(path) + "?" + query(append(own, settings...)) + "&_txlock=immediate"
}

func readerDSN(path string) string {
	return "file:" + escape(path) + "?mode=ro&" + query(readerPragmas())
}

func query(pragmas []Pragma) string {
	var parts []string
	for _, p := range pragmas {
		parts = append(parts, "_pragma="+url.QueryEscape(p.Name+"("+p.Set+")"))
	}
	return strings.Join(parts, "&")
}

// escape makes a path safe inside a SQLite URI.
func escape(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(path))
}

func dial(dsn string, conns int) (*gorm.DB, error) {
	conn, err := sql.Open(sqlite.DriverName, dsn)
	if err != nil {
		return nil, err
	}
	conn.SetMaxOpenConns(conns)
	conn.SetMaxIdleConns(conns)
	return overGorm(conn, &sqlite.Dialector{Conn: &pool{spoken{conn, sqliteDialect}, conn}})
}

// overGorm puts gorm over a pool of connections, which it closes if that fails.
func overGorm(conn *sql.DB, dialector gorm.Dialector) (*gorm.DB, error) {
	db, err := gorm.Open(dialector, &gorm.Config{
		Logger:                 logger.Discard, // errors are returned; the default logger writes to stdout
		SkipDefaultTransaction: true,           // the committer opens the transactions
		TranslateError:         true,
	})
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return db, nil
}

// CheckPragmas reads every pragma back, because SQLite ignores a misspelt one
// silently.
func (db *DB) CheckPragmas(ctx context.Context) error {
	for _, side := range []struct {
		pool *gorm.DB
		want []Pragma
	}{{db.writer, writerPragmas()}, {db.Read, readerPragmas()}} {
		for _, p := range side.want {
			var got string
			if err := side.pool.WithContext(ctx).Raw("PRAGMA " + p.Name).Scan(&got).Error; err != nil {
				return fmt.Errorf("read pragma %s of %s: %w", p.Name, db.Path, err)
			}
			if got != p.want {
				return fmt.Errorf("pragma %s of %s is %q and not %q", p.Name, db.Path, got, p.want)
			}
		}
	}
	return nil
}
