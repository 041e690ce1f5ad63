package app

import (
	"errors"

	gosqlite "github.com/glebarez/go-sqlite"

	"skillrouter"
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

// translate gives a driver's error the code that fits. What a store has given
// a code already stays as it is.
func translate(err error) error {
	if err == nil {
		return nil
	}
	if _, coded := errors.AsType[*skillrouter.Error](err); coded {
		return err
	}
	failure, ok := errors.AsType[*gosqlite.Error](err)
	if !ok {
		return err
	}
	switch failure.Code() & 0xff { // the low byte is the primary code
	case sqliteFull:
		return skillrouter.Wrap(skillrouter.StorageFull, err, "the disk is full: nothing was stored, reading goes on")
	case sqliteBusy, sqliteLocked:
		return skillrouter.Wrap(skillrouter.Unavailable, err, "another program holds the database")
	case sqliteCorrupt:
		return skillrouter.Wrap(skillrouter.Internal, err, "the database is damaged: stop the router and restore a backup")
	case sqliteIOErr:
		return skillrouter.Wrap(skillrouter.Internal, err, "the disk failed")
	}
	return err
}
