package app

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/glebarez/sqlite"
	"github.com/pressly/goose/v3"
	"gorm.io/gorm"

	"skillrouter/cmd/app/wal"
	"skillrouter/internal/clock"
	"skillrouter/internal/committer"
	"skillrouter/internal/errs"
	"skillrouter/migrations"
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

// Database is one open database, a file of SQLite's or a schema on a PostgreSQL
// server: a pool that reads, and a committer that alone writes.
type Database struct {
	Name   string // learning or operational
	Path   string // of the file; on a server, what names the schema to people
	Read   *gorm.DB
	Commit *committer.Committer[*gorm.DB]

	writer *gorm.DB
	// numbers are the last numbers of its tables, of the writer; stale: a transaction failed, and they must be read anew.
	numbers committer.Numbers
	stale   bool
	torn    wal.Torn  // what its write-ahead log had lost when it was opened
	server  *onServer // nil: it is a file
}

// OpenDatabase opens the database name ("learning" or "operational") in dir,
// creating it if there is none, and migrates it. It refuses, without changing
// the file, what is damaged, what is not ours and what a newer version wrote.
// An older schema is copied to a file beside it before it is migrated.
// Commit.Run must be started for writes to happen.
func OpenDatabase(ctx context.Context, dir, name string, now clock.Clock, log *slog.Logger) (*Database, error) {
	path := filepath.Join(dir, name+".db")
	torn, err := wal.Scan(path) // before anybody opens it: SQLite writes over what it takes to be behind its end
	if err != nil {
		return nil, fmt.Errorf("read the write-ahead log of %s: %w", path, err)
	}
	if err := rollBack(ctx, path); err != nil {
		return nil, err
	}
	if err := inspect(ctx, name, path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := create(ctx, name, path); err != nil {
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
		log.Info("database created", "database", name, "path", path)
	}
	writer, err := dial(writerDSN(path), 1)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db := &Database{Name: name, Path: path, writer: writer, torn: torn}
	db.Commit = committer.New(db.transact, db.savepoint)
	if err := db.migrate(ctx, now, log); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if db.Read, err = dial(readerDSN(path), readers); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s for reading: %w", path, err), db.Close())
	}
	if err := db.checkPragmas(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := openNumbers(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("read the numbers of %s: %w", path, err), db.Close())
	}
	return db, os.Chmod(path, 0o600)
}

// Close closes both pools. The last close folds the write-ahead log into the file.
func (db *Database) Close() error {
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

// CopyLog copies what is in the write-ahead log into the database, over a connection of its own, until ctx ends. The writer copies what is left of it at
// checkpointPages, and whoever commits just then waits for that: for all of it, if nobody did it before. A log that has grown far is cut down.
func (db *Database) CopyLog(ctx context.Context) error {
	if db.server != nil {
		<-ctx.Done()
		return nil
	}
	conn, err := sql.Open(sqlite.DriverName, writerDSN(db.Path, pragma{name: "cache_size", set: "16"}, pragma{name: "busy_timeout", set: "0"}))
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

// inspect refuses a file that must not be opened for writing. A file that is
// not there is fine, unless its write-ahead log is: then it was lost.
func inspect(ctx context.Context, name, path string) error {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 0 {
			return refusal(path, "is missing, while its write-ahead log %s is there: restore the file or move the log away", path+"-wal")
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	header := make([]byte, 100) // https://www.sqlite.org/fileformat.html#the_database_header
	if _, err := io.ReadFull(file, header); err != nil || !bytes.Equal(header[:16], sqliteMagic) {
		return refusal(path, "is damaged: it does not begin as a SQLite database does")
	}
	if id := binary.BigEndian.Uint32(header[68:]); id != applicationID(name) {
		return refusal(path, "is not the %s database of Skill Router (application id %#x)", name, id)
	}
	db, err := openForReading(path)
	if err != nil {
		return err
	}
	defer db.Close()
	version, err := versionOf(ctx, db)
	if err != nil {
		if reason := notReadable(path); reason != "" {
			return refusal(path, "%s", reason)
		}
		return refusal(path, "is damaged or cannot be read: %v", err)
	}
	if newest, err := newestVersion(name); err != nil {
		return err
	} else if version > newest {
		return refusal(path, "has schema version %d, and this program knows only up to %d: use the newer program", version, newest)
	}
	if info, err := file.Stat(); err != nil || info.Size() > quickCheckBelow {
		return err
	}
	if fault := quickCheck(ctx, db); fault != "" {
		return refusal(path, "is damaged: %s", fault)
	}
	return nil
}

// rollBack takes back what a kill left half done in a database that is no
// write-ahead one yet, as every SQLite does that may write: its journal lies
// beside it. One that is only read is refused by SQLite until then, and is not damaged.
func rollBack(ctx context.Context, path string) error {
	if journal, err := os.Stat(path + "-journal"); err != nil || journal.Size() == 0 {
		return nil
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return nil // inspect says what is wrong
	}
	db, err := sql.Open(sqlite.DriverName, "file:"+escape(path)+"?mode=rw&_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	defer db.Close()
	var n int64
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
		return refusal(path, "was left in the middle of a change, which its journal %s-journal cannot take back: %v", path, err)
	}
	return nil
}

// notReadable says why a database that may be sound cannot be read where it
// lies; it is empty if that is not why.
func notReadable(path string) string {
	if journal, err := os.Stat(path + "-journal"); err == nil && journal.Size() > 0 {
		return "was left in the middle of a change: the next start of the router takes it back"
	}
	if err := writable(filepath.Dir(path)); err != nil {
		if log, gone := os.Stat(path + "-wal"); gone == nil && log.Size() > 0 {
			return fmt.Sprintf("cannot be read here: its write-ahead log has to be read with it, and the folder cannot be written to (%v). Copy the folder to where it can", err)
		}
	}
	return ""
}

// quickCheck reads a database page by page, and says what is wrong with it.
func quickCheck(ctx context.Context, db *sql.DB) (fault string) {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil || verdict != "ok" {
		return cmpErr(err, verdict)
	}
	return ""
}

// CheckLate checks, page by page, a database that was too large to be checked
// before it was opened, and waits for the end of ctx then. Its error stops the
// router: whoever goes on writing into a damaged database damages more of it.
func (db *Database) CheckLate(ctx context.Context) error {
	first := time.NewTimer(settleAfter) // the first answers come first, and a short life needs none
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

func cmpErr(err error, verdict string) string {
	if err != nil {
		return err.Error()
	}
	return verdict
}

// refusal is an error on a file that is left as it is.
func refusal(path, format string, args ...any) error {
	return errs.Errorf(errs.Unavailable, "%s %s. It was not changed.", path, fmt.Sprintf(format, args...))
}

// create makes a new database under another name and moves it into place, so
// that a crash never leaves a half-made file that looks like a damaged one.
func create(ctx context.Context, name, path string) error {
	temp := path + ".new"
	for _, leftover := range []string{temp + "-journal", temp + "-wal", temp + "-shm", temp} {
		if err := os.Remove(leftover); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	file, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := fill(ctx, name, temp); err != nil {
		return err
	}
	if err := syncFile(temp); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// fill makes an empty file a database with the newest schema, in one transaction, and one with a
// write-ahead log. A kill leaves whatever it leaves: the caller syncs the file and gives it its name.
func fill(ctx context.Context, name, path string) error {
	schema, err := migrations.Schema(name, "sqlite")
	if err != nil {
		return err
	}
	db, err := sql.Open(sqlite.DriverName, "file:"+escape(path)+"?_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	var mode string
	_, err = db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; BEGIN;\n%s\nCOMMIT", applicationID(name), schema))
	if err == nil {
		err = db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
	}
	if err = errors.Join(err, db.Close()); err == nil && mode != "wal" {
		err = fmt.Errorf("%s cannot have a write-ahead log: its journal is %q", path, mode)
	}
	return err
}

// turnToWAL makes a closed database, before it gets its place, one with a
// write-ahead log, and brings it to disk. Done later, in its place, a kill would
// leave a journal beside it.
func turnToWAL(ctx context.Context, path string) error {
	db, err := sql.Open(sqlite.DriverName, "file:"+escape(path)+"?mode=rw&_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	var mode string
	err = db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("%s cannot have a write-ahead log: its journal is %q", path, mode)
	}
	return syncFile(path)
}

// provider applies the steps of a database. goose is given them as functions: its
// own reader of SQL takes most of a first start's time, and 4 MiB for each line.
func provider(name string, db *sql.DB) (*goose.Provider, error) {
	steps, err := migrations.Steps(name, "sqlite")
	if err != nil {
		return nil, err
	}
	execute := func(text string) *goose.GoFunc {
		return &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, text)
			return err
		}}
	}
	given := make([]*goose.Migration, len(steps))
	for i, step := range steps {
		given[i] = goose.NewGoMigration(step.Version, execute(step.Up), execute(step.Down))
	}
	return goose.NewProvider(goose.DialectSQLite3, db, nil, goose.WithGoMigrations(given...), goose.WithDisableGlobalRegistry(true))
}

// newestVersion is the greatest migration that this program has for a database.
func newestVersion(name string) (int64, error) {
	steps, err := migrations.Steps(name, "sqlite")
	if err != nil {
		return 0, err
	}
	return steps[len(steps)-1].Version, nil
}

// migrate brings an older schema up to date, after copying the database.
func (db *Database) migrate(ctx context.Context, now clock.Clock, log *slog.Logger) error {
	conn, err := db.writer.DB()
	if err != nil {
		return err
	}
	steps, err := provider(db.Name, conn)
	if err != nil {
		return err
	}
	current, target, err := steps.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the schema version of %s: %w", db.Path, err)
	}
	if current >= target {
		return nil
	}
	backup, err := db.copyAside(ctx, fmt.Sprintf("%s.db.v%d-%s", db.Name, current, now().UTC().Format("20060102T150405Z")))
	if err != nil {
		return fmt.Errorf("back up %s before migrating it: %w", db.Path, err)
	}
	if _, err := steps.Up(ctx); err != nil {
		return fmt.Errorf("migrate %s (a copy is in %s): %w", db.Path, backup, err)
	}
	log.Info("database migrated", "database", db.Name, "from", current, "to", target, "backup", backup)
	return nil
}

// The names of copies that are made before a migration: a whole one, and one
// that is being written. What a kill leaves of the latter goes at the next start.
const (
	copySuffix    = ".backup"
	partialSuffix = ".backup.partial"
)

// copyAside makes a copy of the database beside it, under a name that nothing
// has, and returns that. The name appears with the whole copy behind it.
func (db *Database) copyAside(ctx context.Context, title string) (string, error) {
	dir := filepath.Dir(db.Path)
	temp := filepath.Join(dir, title+partialSuffix)
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if err := errors.Join(Backup(ctx, db.Path, temp), syncFile(temp)); err != nil {
		return "", err
	}
	name := filepath.Join(dir, freshName(dir, title, copySuffix))
	return name, errors.Join(os.Rename(temp, name), SyncFolder(dir))
}

// Backup writes a consistent copy of the database at path to the new file
// target, while the database may be in use.
func Backup(ctx context.Context, path, target string) error {
	// VACUUM INTO fails under query_only, hence a plain read-only connection.
	db, err := sql.Open(sqlite.DriverName, "file:"+escape(path)+"?mode=ro"+immutable(path))
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", target); err != nil {
		return err
	}
	return os.Chmod(target, 0o600)
}
