// Package database opens, migrates and closes the two databases of Skill Router: files of SQLite, or schemas on a PostgreSQL server. It is the
// only package that opens a driver. It knows no table but those that it counts and numbers by itself.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database/wal"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/trace"
)

// Bounds of a database.
const (
	// readers is the size of the pool of reading connections: twice the cores of the
	// smallest machine this runs on, so that one slow query does not hold up the rest.
	readers = 4
	// quickCheckBelow is the size, in bytes, up to which a database is checked page by
	// page before it is opened; that takes about 2 ms a MiB. A larger one is checked
	// while it is in use, up to lateCheckBelow; beyond, by doctor alone.
	quickCheckBelow = 4 << 20
	lateCheckBelow  = 64 << 20
	// lateAfter is when it begins to be checked while it is in use.
	lateAfter = 2 * time.Second
	// busyTimeout only matters beside tools that open the file from outside: inside
	// there is one writer.
	busyTimeout = 5 * time.Second
)

// sqliteMagic opens every SQLite file.
var sqliteMagic = []byte("SQLite format 3\x00")

// applicationID tells our two databases from each other and from everybody
// else's, in the header field that SQLite has for it ("SKRL" and "SKRO").
func applicationID(database string) uint32 {
	if database == "learning" {
		return 0x534b524c
	}
	return 0x534b524f
}

// Names are the databases of a data folder, in the order in which a
// backup takes them. The operational one has the cursors of those who follow
// both event logs. Taken first, it is never ahead of the learning one: its
// cursors only lag, and what they lag behind is delivered once more, which
// followers bear. The other way round events would be skipped.
func Names() []string { return []string{"operational", "learning"} }

// DB is one open database, a file of SQLite's or a schema on a PostgreSQL
// server: a pool that reads, and a committer that alone writes.
type DB struct {
	Name   string // learning or operational
	Path   string // of the file; on a server, what names the schema to people
	Read   *gorm.DB
	Commit *committer.Committer[*gorm.DB]
	// Torn is what its write-ahead log had lost when it was opened.
	Torn wal.Torn

	writer *gorm.DB
	// numbers are the last numbers of its tables, of the writer; stale: a transaction failed, and they must be read anew.
	numbers committer.Numbers
	stale   bool
	server  *onServer // nil: it is a file
}

// Open opens the database name ("learning" or "operational") in dir,
// creating it if there is none, and migrates it. It refuses, without changing
// the file, what is damaged, what is not ours and what a newer version wrote.
// An older schema is copied to a file beside it before it is migrated.
// Commit.Run must be started for writes to happen.
func Open(ctx context.Context, dir, name string, now clock.Clock, log *slog.Logger) (*DB, error) {
	path := filepath.Join(dir, name+".db")
	torn, err := wal.Scan(path) // before anybody opens it: SQLite writes over what it takes to be behind its end
	if err != nil {
		return nil, fmt.Errorf("read the write-ahead log of %s: %w", path, err)
	}
	if err := RollBack(ctx, path); err != nil {
		return nil, err
	}
	if err := Inspect(ctx, name, path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := Create(ctx, name, path); err != nil {
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
		log.Info("database created", "database", name, "path", path)
	}
	writer, err := dial(writerDSN(path), 1)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db := &DB{Name: name, Path: path, writer: writer, Torn: torn}
	db.Commit = committer.New(db.transact, db.savepoint)
	db.Commit.Span = commitSpan
	if err := db.migrate(ctx, now, log); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if db.Read, err = dial(readerDSN(path), readers); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s for reading: %w", path, err), db.Close())
	}
	if err := db.CheckPragmas(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := openNumbers(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("read the numbers of %s: %w", path, err), db.Close())
	}
	return db, os.Chmod(path, 0o600)
}

// Close closes both pools. The last close folds the write-ahead log into the file.
func (db *DB) Close() error {
	var errs []error
	for _, pool := range []*gorm.DB{db.Read, db.writer} {
		if pool == nil {
			continue
		}
		conn, err := pool.DB()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}

// logEvery is how often the write-ahead log is copied into the database beside the writer: what is written meanwhile is a few hundred pages of
// a busy team, many of them the same.
const logEvery = time.Second

// Checkpoint copies what it can of the write-ahead log into the database, so that the log's room is used again.
func (db *DB) Checkpoint() error {
	return db.writer.Exec("PRAGMA wal_checkpoint(PASSIVE)").Error
}

// CopyLog copies what is in the write-ahead log into the database, over a connection of its own, until ctx ends. The writer copies what is left of it at
// checkpointPages, and whoever commits just then waits for that: for all of it, if nobody did it before. A log that has grown far is cut down.
func (db *DB) CopyLog(ctx context.Context) error {
	if db.server != nil {
		<-ctx.Done()
		return nil
	}
	conn, err := sql.Open(sqlite.DriverName, writerDSN(db.Path, Pragma{Name: "cache_size", Set: "16"}, Pragma{Name: "busy_timeout", Set: "0"}))
	if err != nil {
		return err
	}
	var copied time.Time // when the log was written that was copied to its end
	for committer.Pause(ctx, logEvery) == nil {
		log, err := os.Stat(db.Path + "-wal")
		if err != nil || log.ModTime().Equal(copied) {
			continue
		}
		var busy, pages, done int64
		err = conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &done)
		if err != nil || busy != 0 || done != pages { // it is tried again, and the writer does it at the latest
			continue
		}
		if log.Size() > 2*logBytes { // of a reader that has left; while another reads, it is tried again
			if conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &done) != nil || busy != 0 {
				continue
			}
		}
		copied = log.ModTime()
	}
	return conn.Close()
}

// CheckLate checks, page by page, a database that was too large to be checked
// before it was opened, and waits for the end of ctx then. Its error stops the
// router: whoever goes on writing into a damaged database damages more of it.
func (db *DB) CheckLate(ctx context.Context) error {
	first := time.NewTimer(lateAfter) // the first answers come first, and a short life needs none
	defer first.Stop()
	select {
	case <-first.C:
	case <-ctx.Done():
		return nil
	}
	if info, err := os.Stat(db.Path); db.server == nil && err == nil && info.Size() > quickCheckBelow && info.Size() <= lateCheckBelow {
		conn, err := sql.Open(sqlite.DriverName, "file:"+escape(db.Path)+"?mode=ro&_pragma=query_only(1)")
		if err != nil {
			return err
		}
		fault := quickCheck(ctx, conn)
		if err := conn.Close(); err != nil {
			return err
		}
		if fault != "" && ctx.Err() == nil {
			return errs.Errorf(errs.Unavailable, "%s is damaged: %s. Nothing more is written into it.", db.Path, fault)
		}
	}
	<-ctx.Done()
	return nil
}

// commitSpan begins the span of a write: from its place in the queue to the disk.
func commitSpan(ctx context.Context) (finish func(err error)) {
	_, span := trace.StartSpan(ctx, "commit")
	return span.Finish
}
