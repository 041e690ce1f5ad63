package database

import (
	"errors"
	"os"
	"path/filepath"

	gosqlite "github.com/glebarez/go-sqlite"

	"github.com/skillrouter/skillrouter/internal/database/postgres"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// SQLite's primary result codes that callers can do something about
// (https://www.sqlite.org/rescode.html).
const (
	sqliteBusy    = 5
	sqliteLocked  = 6
	sqliteIOErr   = 10
	sqliteCorrupt = 11
	sqliteFull    = 13
)

// Extended codes of sqliteIOErr whose cause may be a want of room.
const (
	sqliteIOErrWrite    = 778
	sqliteIOErrTruncate = 1546
	sqliteIOErrShmSize  = 4874
)

// Translate gives a driver's error the code that fits. What a store has given
// a code already stays as it is.
func Translate(err error) error {
	if err == nil {
		return nil
	}
	if _, coded := errors.AsType[*errs.Error](err); coded {
		return err
	}
	failure, ok := errors.AsType[*gosqlite.Error](err)
	if !ok {
		return postgres.Translate(err)
	}
	switch failure.Code() & 0xff { // the low byte is the primary code
	case sqliteFull:
		return errs.Wrap(errs.StorageFull, err, "the disk is full: nothing was stored, reading goes on")
	case sqliteBusy, sqliteLocked:
		return errs.Wrap(errs.Unavailable, err, "another program holds the database")
	case sqliteCorrupt:
		return errs.Wrap(errs.Internal, err, "the database is damaged: stop the router and restore a backup")
	case sqliteIOErr:
		return errs.Wrap(errs.Internal, err, "the disk failed")
	}
	return err
}

// translateWrite is Translate for a write, which a quota or a limit on the size of files may refuse.
func (db *DB) translateWrite(err error) error {
	translated := Translate(err)
	failure, ok := errors.AsType[*gosqlite.Error](err)
	if !ok || errs.CodeOf(translated) != errs.Internal {
		return translated
	}
	switch failure.Code() {
	case sqliteIOErrWrite, sqliteIOErrTruncate, sqliteIOErrShmSize:
	default:
		return translated
	}
	var largest int64
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(db.Path + suffix); err == nil {
			largest = max(largest, info.Size())
		}
	}
	if full := outOfRoom(filepath.Dir(db.Path), largest); full != nil {
		return errs.Wrap(errs.StorageFull, errors.Join(full, err), "the disk takes no more (%s): nothing was stored, reading goes on", full)
	}
	return translated
}
