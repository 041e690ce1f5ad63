package database

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/migrations"
)

// Inspect refuses a file that must not be opened for writing. A file that is
// not there is fine, unless its write-ahead log is: then it was lost.
func Inspect(ctx context.Context, name, path string) error {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 0 {
			return Refusal(path, "is missing, while its write-ahead log %s is there: restore the file or move the log away", path+"-wal")
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	header := make([]byte, 100) // https://www.sqlite.org/fileformat.html#the_database_header
	if _, err := io.ReadFull(file, header); err != nil || !bytes.Equal(header[:16], sqliteMagic) {
		return Refusal(path, "is damaged: it does not begin as a SQLite database does")
	}
	if id := binary.BigEndian.Uint32(header[68:]); id != applicationID(name) {
		return Refusal(path, "is not the %s database of Skill Router (application id %#x)", name, id)
	}
	db, err := OpenForReading(path)
	if err != nil {
		return err
	}
	defer db.Close()
	version, err := Version(ctx, db)
	if err != nil {
		if reason := notReadable(path); reason != "" {
			return Refusal(path, "%s", reason)
		}
		return Refusal(path, "is damaged or cannot be read: %v", err)
	}
	if newest, err := NewestVersion(name); err != nil {
		return err
	} else if version > newest {
		return Refusal(path, "has schema version %d, and this program knows only up to %d: use the newer program", version, newest)
	}
	if info, err := file.Stat(); err != nil || info.Size() > quickCheckBelow {
		return err
	}
	if fault := quickCheck(ctx, db); fault != "" {
		return Refusal(path, "is damaged: %s", fault)
	}
	return nil
}

// RollBack takes back what a kill left half done in a database that is no
// write-ahead one yet, as every SQLite does that may write: its journal lies
// beside it. One that is only read is refused by SQLite until then, and is not damaged.
func RollBack(ctx context.Context, path string) error {
	if journal, err := os.Stat(path + "-journal"); err != nil || journal.Size() == 0 {
		return nil
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return nil // Inspect says what is wrong
	}
	db, err := sql.Open(sqlite.DriverName, "file:"+escape(path)+"?mode=rw&_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	defer db.Close()
	var n int64
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
		return Refusal(path, "was left in the middle of a change, which its journal %s-journal cannot take back: %v", path, err)
	}
	return nil
}

// notReadable says why a database that may be sound cannot be read where it
// lies; it is empty if that is not why.
func notReadable(path string) string {
	if journal, err := os.Stat(path + "-journal"); err == nil && journal.Size() > 0 {
		return "was left in the middle of a change: the next start of the router takes it back"
	}
	if err := Writable(filepath.Dir(path)); err != nil {
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
		return Fault(err, verdict)
	}
	return ""
}

// Fault says what is wrong: an error, or the verdict of a check.
func Fault(err error, verdict string) string {
	if err != nil {
		return err.Error()
	}
	return verdict
}

// Refusal is an error on a file that is left as it is.
func Refusal(path, format string, args ...any) error {
	return errs.Errorf(errs.Unavailable, "%s %s. It was not changed.", path, fmt.Sprintf(format, args...))
}

// Create makes a new database under another name and moves it into place, so
// that a crash never leaves a half-made file that looks like a damaged one.
func Create(ctx context.Context, name, path string) error {
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
	if err := SyncFile(temp); err != nil {
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
	_, err = db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; BEGIN;\n%s\nCOMMIT", applicationID(name), schema))
	if err == nil {
		err = useLog(ctx, db, path)
	}
	return errors.Join(err, db.Close())
}

// useLog makes a database one with a write-ahead log.
func useLog(ctx context.Context, db *sql.DB, path string) error {
	var mode string
	err := db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
	if err == nil && mode != "wal" {
		err = fmt.Errorf("%s cannot have a write-ahead log: its journal is %q", path, mode)
	}
	return err
}

// TurnToWAL makes a closed database, before it gets its place, one with a
// write-ahead log, and brings it to disk. Done later, in its place, a kill would
// leave a journal beside it.
func TurnToWAL(ctx context.Context, path string) error {
	db, err := sql.Open(sqlite.DriverName, "file:"+escape(path)+"?mode=rw&_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if err := errors.Join(useLog(ctx, db, path), db.Close()); err != nil {
		return err
	}
	return SyncFile(path)
}

// OpenForReading opens a database file that this process does not own, and changes nothing of it.
func OpenForReading(path string) (*sql.DB, error) {
	db, err := sql.Open(sqlite.DriverName, readerDSN(path)+immutable(path))
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// immutable is the option by which SQLite reads a database where it cannot make
// the files beside it that it wants for a write-ahead one. It is for a folder that
// cannot be written to and has no such log: then nobody is changing the file.
func immutable(path string) string {
	sealed := Writable(filepath.Dir(path))
	if sealed == nil {
		return ""
	}
	log, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) || err == nil && log.Size() == 0 && errors.Is(sealed, syscall.EROFS) {
		return "&immutable=1"
	}
	return ""
}

// OpenForWriting opens a database file that no router holds, with settings in place of those of a router's writer.
func OpenForWriting(path string, settings ...Pragma) (*sql.DB, error) {
	db, err := sql.Open(sqlite.DriverName, writerDSN(path, settings...))
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// OpenFileToRead opens a database file that no router holds for what a store reads of it; nothing is written into it.
func OpenFileToRead(name, path string) (*DB, error) {
	db := &DB{Name: name, Path: path}
	db.Commit = committer.Refusing[*gorm.DB](errs.Errorf(errs.Unavailable, "%s is only read", path))
	var err error
	db.Read, err = dial(readerDSN(path), 1)
	return db, err
}

// Spoken has a database file understand the words of SQL in braces.
func Spoken(db *sql.DB) gorm.ConnPool { return spoken{db, sqliteDialect} }
