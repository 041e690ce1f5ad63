package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"skillrouter"
	"skillrouter/cmd/app/postgres"
	"skillrouter/cmd/locate"
	"skillrouter/router/cluster"
)

// movedSuffix ends the names of database files whose rows are on a server now.
const movedSuffix = ".moved"

// MovedDatabase is what was moved of one database.
type MovedDatabase struct {
	Database string           `json:"database"`
	Tables   []postgres.Moved `json:"tables"`
	Rows     int64            `json:"rows"`
}

// MoveToServer moves the databases of a data folder that no router holds to a PostgreSQL server: all rows with their numbers, so that what clients
// remember of them stays right. The files are looked through first, and stay beside under another name. If it is cut off it is run again.
func MoveToServer(ctx context.Context, data, address string) (moved []MovedDatabase, err error) {
	server, err := postgres.Parse(address)
	if err != nil {
		return nil, err
	}
	var names []string // what is to be moved: one that was renamed already is on the server
	for _, name := range databaseNames() {
		path := filepath.Join(data, name+".db")
		switch {
		case fileThere(path):
			names = append(names, name)
		case !fileThere(path + movedSuffix):
			return nil, skillrouter.Errorf(skillrouter.NotFound, "there is no %s.db in %s", name, data)
		}
	}
	lock, err := Acquire(data, locate.Holder{PID: os.Getpid(), Started: time.Now()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if len(names) == len(databaseNames()) {
		found, err := VerifyFolder(ctx, data)
		if err != nil {
			return nil, err
		}
		if !found.OK {
			return nil, skillrouter.Errorf(skillrouter.Conflict, "%s is not as it was stored: skillrouter verify --data %s says what is wrong. Nothing was moved.", data, data)
		}
	}
	log := slog.New(slog.DiscardHandler)
	if err := PrepareOnServer(ctx, server, log); err != nil {
		return nil, err
	}
	held := newLife(log)
	defer func() { err = errors.Join(err, held.stop()) }()
	if err := moveUnderLease(ctx, server, data, held); err != nil {
		return nil, err
	}
	for _, name := range names {
		tables, err := moveDatabase(ctx, server, name, filepath.Join(data, name+".db"))
		if err != nil {
			return nil, err
		}
		one := MovedDatabase{Database: name, Tables: tables}
		for _, t := range tables {
			one.Rows += t.Rows
		}
		moved = append(moved, one)
	}
	for _, name := range names {
		path := filepath.Join(data, name+".db")
		for _, suffix := range []string{"-wal", "-shm", ""} { // the database last: without it the others say nothing
			if err := os.Rename(path+suffix, path+movedSuffix+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
		}
	}
	return moved, syncFolder(data)
}

// moveUnderLease takes the lease of the server's databases, so that no router writes meanwhile.
func moveUnderLease(ctx context.Context, server *postgres.Server, data string, held *life) error {
	id, err := nodeID(data)
	if err != nil {
		return err
	}
	register := server.Register()
	held.defers("register", register.Close)
	return takeLease(ctx, cluster.Open(ctx, register, cluster.Node{ID: id}, time.Now, held.log), server, held)
}

// moveDatabase moves one.
func moveDatabase(ctx context.Context, server *postgres.Server, name, path string) (moved []postgres.Moved, err error) {
	from, err := openForReading(path)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	newest, err := newestVersion(name)
	if err != nil {
		return nil, err
	}
	version, err := versionOf(ctx, from)
	if err != nil {
		return nil, err
	}
	if version != newest {
		return nil, refusal(path, "has schema version %d, and this program has %d: start this program on the files once, which brings them up to date", version, newest)
	}
	writer := server.Writer(name)
	defer func() { err = errors.Join(err, writer.Close()) }()
	if moved, err = postgres.Move(ctx, writer, from); err != nil {
		return nil, translate(fmt.Errorf("move %s.db: %w", name, err))
	}
	return moved, nil
}
