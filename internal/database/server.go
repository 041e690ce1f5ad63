package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database/postgres"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/migrations"
)

// onServer is what a database on a PostgreSQL server has besides one in a file. A nil one is a file's: it does nothing.
// Its fields are the committer's own, but for server and committed.
type onServer struct {
	server  *postgres.Server
	commits int64 // the count of the transactions that were committed so far
	// stopping ends when the router begins to end, or to write no more; gaveUp tells that the server did not answer in drainTime after it.
	stopping context.Context
	gaveUp   bool
	// committed is told of that count after each; nil: nobody is.
	committed func(commits int64)
}

// OpenOnServer opens the database name ("learning" or "operational") on a PostgreSQL server, whose schema is there (see
// PrepareOnServer), brought up to date if it is an older one. Whoever opens
// it has the lease, and from now on whoever opened it before writes nothing more.
// Commit.Run must be started for writes to happen.
func OpenOnServer(ctx context.Context, server *postgres.Server, name string, now clock.Clock, log *slog.Logger) (*DB, error) {
	schema := server.Schema(name)
	conn := server.Writer(name)
	if err := upgradeSchema(ctx, server, conn, name, log); err != nil {
		return nil, errors.Join(server.Opening(err), conn.Close())
	}
	db := &DB{Name: name, Path: schema + " of " + server.String(), server: &onServer{server: server, stopping: context.WithoutCancel(ctx)}}
	var err error
	if db.writer, err = spokenPostgres(conn); err != nil {
		return nil, err
	}
	db.Commit = committer.New(db.transact, db.savepoint)
	db.Commit.Span = commitSpan
	if db.Read, err = spokenPostgres(server.Reader(name, readers)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := openNumbers(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("read the numbers of %s: %w", schema, err), db.Close())
	}
	return db, nil
}

// OpenFollowing opens a database on a server for reading, beside the router that writes into it.
func OpenFollowing(server *postgres.Server, name string) (*DB, error) {
	db := &DB{Name: name, Path: server.Schema(name) + " of " + server.String(), server: &onServer{server: server}}
	db.Commit = committer.Refusing[*gorm.DB](errs.Errorf(errs.Unavailable, "this node does not write"))
	var err error
	db.Read, err = spokenPostgres(server.Reader(name, readers))
	return db, err
}

// spokenPostgres puts gorm over connections to PostgreSQL.
func spokenPostgres(conn *sql.DB) (*gorm.DB, error) {
	return overGorm(conn, postgres.Gorm(&pool{spoken{conn, postgresDialect()}, conn}))
}

// PrepareOnServer makes the schemas of both databases if they are not there. It refuses, and changes nothing, what a newer
// version changed so that this one must not write into it, what is not as it was made, and a server that could lose what it acknowledged.
// Older schemas stay as they are: another router may write into them until this one has the lease.
func PrepareOnServer(ctx context.Context, server *postgres.Server, log *slog.Logger) (err error) {
	names := Names()
	conns := map[string]*sql.DB{}
	defer func() {
		for _, conn := range conns {
			err = errors.Join(err, conn.Close())
		}
	}()
	for _, name := range names {
		conns[name] = server.Starter(name)
		if err := server.Check(ctx, conns[name], name); err != nil {
			return server.Opening(err)
		}
	}
	made, err := server.Create(ctx, conns[names[0]], names, func(name string) (string, error) { return migrations.Schema(name, "postgres") })
	if err != nil {
		return server.Opening(err)
	}
	for _, name := range names {
		if err := checkSchema(ctx, server, conns[name], name, log); err != nil {
			return server.Opening(err)
		}
		if made {
			log.Info("database created", "database", name, "schema", server.Schema(name), "server", server)
		}
	}
	return nil
}

// tableMade is a table in the statements that make a schema.
var tableMade = lazyregexp.New(`(?m)^CREATE TABLE (\w+)`)

// checkSchema refuses the schema of a database that cannot be used.
func checkSchema(ctx context.Context, server *postgres.Server, conn *sql.DB, name string, log *slog.Logger) error {
	if err := server.Usable(ctx, conn, name, nil); err != nil {
		return err
	}
	newest, err := NewestVersion(name)
	if err != nil {
		return err
	}
	server.Knows(name, newest, log)
	version, since, err := server.Version(ctx, conn, name)
	switch given := migrations.Given(name, "postgres"); {
	case err != nil:
		return err
	case since > newest:
		return Refusal(server.Schema(name), "has schema version %d, into which only a program may write that knows version %d, and this one knows up to %d: use the newer program", version, since, newest)
	case version < given:
		return Refusal(server.Schema(name), "has schema version %d, and there are steps only from %d on", version, given)
	case version < newest:
		return nil
	}
	statements, err := migrations.Schema(name, "postgres")
	if err != nil {
		return err
	}
	var tables []string
	for _, found := range tableMade.FindAllStringSubmatch(statements, -1) {
		tables = append(tables, found[1])
	}
	return server.Usable(ctx, conn, name, tables)
}

// upgradeSchema brings an older schema up to date.
func upgradeSchema(ctx context.Context, server *postgres.Server, conn *sql.DB, name string, log *slog.Logger) error {
	steps, err := migrations.Steps(name, "postgres")
	if err != nil {
		return err
	}
	from, err := server.Upgrade(ctx, conn, name, steps, migrations.Since(name, steps))
	if err == nil && from > 0 {
		log.Info("database migrated", "database", name, "schema", server.Schema(name), "from", from, "to", steps[len(steps)-1].Version)
	}
	return err
}

// Server is the server that it is on; nil: it is a file.
func (db *DB) Server() *postgres.Server {
	if db.server == nil {
		return nil
	}
	return db.server.server
}

// EndWith has transactions on a server take no longer than drainTime once stopping has ended.
func (db *DB) EndWith(stopping context.Context) {
	if db.server != nil {
		db.server.stopping = stopping
	}
}

// OnCommit has tell called with the count of the commits on a server: now, and after each commit.
func (db *DB) OnCommit(tell func(commits int64)) {
	db.server.committed = tell
	tell(db.server.commits)
}

// begin begins to count the transactions that are committed. The count must stay what this router has counted.
func (s *onServer) begin(tx *gorm.DB) (err error) {
	if s != nil {
		s.commits, err = postgres.Open(tx)
	}
	return err
}

// count counts a transaction at its end, and fails if another router has written since the last.
func (s *onServer) count(tx *gorm.DB, numbers committer.Numbers) error {
	if s == nil {
		return nil
	}
	return postgres.Seal(tx, s.commits, numbers)
}

// drainTime is how long a transaction may take once the router begins to end, or to write no more: longer than the second that a server takes for the
// largest batch, and short enough for the patience of a service manager.
const drainTime = 5 * time.Second

// transaction is what one transaction is written through, and what must be called at its end. While the router ends it may take drainTime: a server that
// falls silent would hold it up without end, and with it whatever waits for what it writes. After one that took longer there is none.
func (s *onServer) transaction(writer *gorm.DB) (bounded *gorm.DB, end func()) {
	if s == nil {
		return writer, func() {}
	}
	ctx, cancel := context.WithCancel(writer.Statement.Context)
	if s.gaveUp {
		cancel()
	}
	stop := context.AfterFunc(s.stopping, func() { time.AfterFunc(drainTime, cancel) })
	return writer.WithContext(ctx), func() {
		s.gaveUp = ctx.Err() != nil
		stop()
		cancel()
	}
}

// settle tells what became of a transaction: one whose commit was answered by nobody may be there all the same.
func (s *onServer) settle(writer *gorm.DB, err error, applied bool) error {
	if s == nil {
		return err
	}
	canceled := errors.Is(err, context.Canceled)
	if canceled || errors.Is(err, sql.ErrTxDone) { // which would be taken for a clean end
		err = errs.Errorf(errs.Unavailable, "the router ends, and the database server does not answer: nothing was stored (%v)", err)
	}
	if err != nil && applied && (canceled || postgres.Lost(err)) {
		lost := err
		var committed bool
		switch committed, err = postgres.Settle(writer, s.commits); {
		case err != nil:
			// It has a code, so that nobody takes it for the loss of a connection, after which nothing is stored.
			err = errs.Wrap(errs.OutcomeUnknown, errors.Join(err, lost), "the answer to a commit was lost, and what became of it is not known")
		case !committed:
			err = lost
		}
	}
	if err == nil {
		s.commits++
		if s.committed != nil {
			s.committed(s.commits)
		}
	}
	return err
}

// Size is how much room a database takes, in bytes.
func (db *DB) Size(ctx context.Context) (bytes int64, err error) {
	if db.server != nil {
		return postgres.Size(ctx, db.Read)
	}
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(db.Path + suffix); err == nil { // a log that is not there takes no room
			bytes += info.Size()
		}
	}
	return bytes, nil
}
