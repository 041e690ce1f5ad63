package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/postgres"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/cluster"
)

// movedSuffix ends the names of database files whose rows are on a server now.
const movedSuffix = ".moved"

// MovedDatabase is what was moved of one database.
type MovedDatabase struct {
	Database string           `json:"database"`
	Tables   []postgres.Moved `json:"tables"`
	Rows     int64            `json:"rows"`
}

func movedDatabase(name string, tables []postgres.Moved) MovedDatabase {
	one := MovedDatabase{Database: name, Tables: tables}
	for _, t := range tables {
		one.Rows += t.Rows
	}
	return one
}

// toMove names the databases of a folder that are to be moved: one that was renamed already is on the server.
func toMove(data string) (names []string, err error) {
	for _, name := range database.Names() {
		path := filepath.Join(data, name+".db")
		switch {
		case fileThere(path):
			names = append(names, name)
		case !fileThere(path + movedSuffix):
			return nil, errs.Errorf(errs.NotFound, "there is no %s.db in %s", name, data)
		}
	}
	return names, nil
}

// MoveToServer moves the databases of a data folder that no router holds to a PostgreSQL server: all rows with their numbers, so that what clients
// remember of them stays right. The files are looked through first, and stay beside under another name. If it is cut off it is run again.
func MoveToServer(ctx context.Context, data, address string) (moved []MovedDatabase, err error) {
	server, err := postgres.Parse(address)
	if err != nil {
		return nil, err
	}
	if _, err := toMove(data); err != nil && !restoring(data) {
		return nil, err
	}
	held := newLife(slog.New(slog.DiscardHandler))
	defer func() { err = errors.Join(err, held.stop()) }()
	if err := held.takes(data); err != nil {
		return nil, err
	}
	names, err := toMove(data)
	if err != nil {
		return nil, err
	}
	if len(names) == len(database.Names()) {
		found, err := VerifyFolder(ctx, data)
		if err == nil && !found.OK {
			err = errs.Errorf(errs.Conflict, "%s is not as it was stored: skillrouter verify %[1]s says what is wrong. Nothing was moved.", data)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := database.PrepareOnServer(ctx, server, held.log); err != nil {
		return nil, err
	}
	if err := moveUnderLease(ctx, server, data, held); err != nil {
		return nil, err
	}
	for _, name := range names {
		tables, err := moveDatabase(ctx, server, name, filepath.Join(data, name+".db"))
		if err != nil {
			return nil, err
		}
		moved = append(moved, movedDatabase(name, tables))
	}
	for _, name := range names {
		path := filepath.Join(data, name+".db")
		for _, suffix := range []string{"-wal", "-shm", ""} { // the database last: without it the others say nothing
			if err := os.Rename(path+suffix, path+movedSuffix+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
		}
	}
	return moved, database.SyncFolder(data)
}

// moveUnderLease takes the lease of the server's databases, so that no router writes meanwhile.
func moveUnderLease(ctx context.Context, server *postgres.Server, data string, held *life) error {
	id, err := nodeID(data)
	if err != nil {
		return err
	}
	return takeLease(ctx, openLease(ctx, server, cluster.Node{ID: id}, time.Now, held), server, held)
}

// moveDatabase moves one.
func moveDatabase(ctx context.Context, server *postgres.Server, name, path string) (moved []postgres.Moved, err error) {
	from, err := database.OpenForReading(path)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	newest, err := database.NewestVersion(name)
	if err != nil {
		return nil, err
	}
	version, err := database.Version(ctx, from)
	if err != nil {
		return nil, err
	}
	if version != newest {
		return nil, database.Refusal(path, "has schema version %d, and this program has %d: start this program on the files once, which brings them up to date", version, newest)
	}
	writer := server.Writer(name)
	defer func() { err = errors.Join(err, writer.Close()) }()
	if moved, err = postgres.Move(ctx, writer, from); err != nil {
		return nil, database.Translate(fmt.Errorf("move %s.db: %w", name, err))
	}
	return moved, nil
}
