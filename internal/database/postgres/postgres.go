// Package postgres opens Skill Router's two databases on a PostgreSQL server, where
// each is a schema of one database. It owns what is asked of a server, the lock by
// which one router alone writes, and what the server's errors mean. It knows no table
// but heads, which is PostgreSQL's alone.
package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/migrations"
)

// Bounds of what is asked of a server.
const (
	// minVersion is the oldest version that all tests run on.
	minVersion = 15
	// connectWait bounds one try to connect.
	connectWait = 5 * time.Second
	// statementTime bounds a statement: the longest of a large import takes seconds.
	statementTime = 2 * time.Minute
	// settleTime is how long the outcome of a commit is asked for whose answer was lost: a server
	// that was stopped at once has read its log again by then.
	settleTime = 30 * time.Second
	// settleEvery is how often it is asked.
	settleEvery = 100 * time.Millisecond
	// idleTime is how long a transaction that writes may wait for its next statement: a router that hangs in the
	// middle of one would have others wait for what it has locked.
	idleTime = 30 * time.Second
	// prefix begins the names of the schemas.
	prefix = "skillrouter_"
)

// Server is a database of a PostgreSQL server.
type Server struct {
	config *pgx.ConnConfig
	prefix string
	knows  map[string]int64 // the versions of the schemas that the program knows
	log    *slog.Logger
}

// Parse reads an address, postgres://USER:PASSWORD@HOST:PORT/DATABASE, with libpq's parameters and
// schema_prefix, which begins the names of the two schemas in place of skillrouter_: two teams may share a
// database. A password may be left out of it: PGPASSWORD or a .pgpass file has it then.
func Parse(address string) (*Server, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "postgres" && parsed.Scheme != "postgresql" {
		return nil, errs.InvalidField("database", "must be an address that begins with postgres://")
	}
	s := &Server{prefix: prefix, knows: map[string]int64{}, log: slog.New(slog.DiscardHandler)}
	query, err := url.ParseQuery(parsed.RawQuery)
	if err != nil {
		return nil, errs.InvalidField("database", "has parameters that cannot be read: %v", err)
	}
	if own := query.Get("schema_prefix"); own != "" {
		if strings.Trim(own, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || len(own) > 40 {
			return nil, errs.InvalidField("database", "has a schema_prefix that is not of at most 40 small letters, digits and _")
		}
		s.prefix = own
	}
	query.Del("schema_prefix")
	parsed.RawQuery = query.Encode()
	if s.config, err = pgx.ParseConfig(parsed.String()); err != nil {
		return nil, errs.InvalidField("database", "is no address of a PostgreSQL database: %v", err) // pgx leaves the password out
	}
	several := slices.ContainsFunc(s.config.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.Host != s.config.Host || f.Port != s.config.Port })
	if several || s.config.ValidateConnect != nil { // it is the server that is written to, also for connections that only read
		s.config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	}
	if s.config.ConnectTimeout == 0 || s.config.ConnectTimeout > connectWait {
		s.config.ConnectTimeout = connectWait
	}
	s.config.RuntimeParams["application_name"] = fmt.Sprintf("skillrouter %d", os.Getpid())
	s.config.RuntimeParams["statement_timeout"] = strconv.FormatInt(statementTime.Milliseconds(), 10)
	return s, nil
}

// String names the server, or each of several, without its secrets.
func (s *Server) String() string {
	places := []string{fmt.Sprintf("%s:%d", s.config.Host, s.config.Port)}
	for _, other := range s.config.Fallbacks {
		if place := fmt.Sprintf("%s:%d", other.Host, other.Port); !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	return "postgres://" + strings.Join(places, ",") + "/" + s.config.Database
}

// Hosts are the names of all servers of the address; one that begins with / is a folder with a socket of this machine.
func (s *Server) Hosts() []string {
	hosts := []string{s.config.Host}
	for _, other := range s.config.Fallbacks {
		hosts = append(hosts, other.Host)
	}
	return hosts
}

// Schema is the name of a database's schema.
func (s *Server) Schema(database string) string { return s.prefix + database }

// Writer opens the one connection that writes into a schema. Who opens it has the lease (see Register), and what it commits is
// counted (see Open), so that a router whose lease was taken commits nothing.
func (s *Server) Writer(database string) *sql.DB {
	config := s.forSchema(database)
	config.RuntimeParams["application_name"] = s.WriterName(database)
	config.RuntimeParams["idle_in_transaction_session_timeout"] = strconv.FormatInt(idleTime.Milliseconds(), 10)
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	return db
}

// Starter opens a connection for what a router asks and makes before it has the lease. Who takes that ends it for no other (see Register.Take).
func (s *Server) Starter(database string) *sql.DB {
	db := stdlib.OpenDB(*s.forSchema(database))
	db.SetMaxOpenConns(1)
	return db
}

// WriterName is what connections that write into a schema are called on the server.
func (s *Server) WriterName(database string) string { return s.Schema(database) + " writer" }

// Reader opens connections that only read.
func (s *Server) Reader(database string, conns int) *sql.DB {
	config := s.forSchema(database)
	config.RuntimeParams["default_transaction_read_only"] = "on"
	config.RuntimeParams["default_transaction_isolation"] = "repeatable read" // what is read in one transaction is of one moment, as SQLite has it
	db := sql.OpenDB(reading{stdlib.GetConnector(*config)})
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db
}

func (s *Server) forSchema(database string) *pgx.ConnConfig {
	config := s.config.Copy()
	config.RuntimeParams["search_path"] = s.Schema(database)
	return config
}

// Register opens the connections of a cluster's register, which is in the schema of operational.
func (s *Server) Register() *sql.DB {
	config := s.forSchema("operational")
	config.RuntimeParams["application_name"] += ", register"
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(2)
	db.SetMaxIdleConns(1)
	return db
}

// ID tells the server's databases from others, also where they are reached by another name: when they were made, and what the server
// counts them by. The schemas must be there.
func (s *Server) ID(ctx context.Context) (id string, err error) {
	db := s.Reader("operational", 1)
	defer db.Close()
	err = db.QueryRowContext(ctx, `SELECT concat_ws(' ', CAST(extract(epoch FROM min(tstamp)) AS text), (SELECT oid FROM pg_database WHERE datname = current_database()), CAST(CAST('heads' AS regclass) AS oid)) FROM goose_db_version`).Scan(&id)
	return id, Translate(err)
}

// Gorm is gorm's dialect for a pool of connections.
func Gorm(pool gorm.ConnPool) gorm.Dialector { return postgres.New(postgres.Config{Conn: pool}) }

// must is what a server is refused without.
type must struct {
	query  string
	fits   func(value string) bool
	refuse string
}

// durable is what keeps what was acknowledged.
var durable = []must{
	{"SHOW fsync", isOn, "runs with fsync = off: what it acknowledges is not on its disk, and a power cut would lose it"},
	{"SHOW full_page_writes", isOn, "runs with full_page_writes = off: a power cut could damage it"},
	{"SHOW synchronous_commit", func(v string) bool { return v != "off" }, "runs with synchronous_commit = off: what it acknowledges may not be on its disk. Set it to on, for the server or for this user"},
}

// pooled is why a pooler is refused. PgBouncer takes none of the parameters that connections begin with, in session mode neither.
const pooled = "is a pooler that does not keep what a connection sets, as PgBouncer: name PostgreSQL itself"

// Check refuses a server that cannot be written to, and one that could lose what it acknowledged.
func (s *Server) Check(ctx context.Context, writer *sql.DB, database string) error {
	wanted := []must{
		{"SHOW server_version_num", func(v string) bool { n, err := strconv.Atoi(v); return err == nil && n/10000 >= minVersion }, fmt.Sprintf("is older than version %d", minVersion)},
		{"SELECT pg_is_in_recovery()", isFalse, "is a replica that only reads: name the server that is written to"},
		{"SHOW transaction_read_only", isOff, "takes no writes from this user: default_transaction_read_only is on"},
		{"SHOW server_encoding", func(v string) bool { return v == "UTF8" }, "has another encoding than UTF8"},
		{"SHOW search_path", func(v string) bool { return v == s.Schema(database) }, pooled},
	}
	return s.refuse(ctx, writer, append(wanted, durable...))
}

// Durable refuses a server that could lose what it acknowledged.
func (s *Server) Durable(ctx context.Context, conn *sql.DB) error {
	return s.refuse(ctx, conn, durable)
}

func (s *Server) refuse(ctx context.Context, conn *sql.DB, wanted []must) error {
	for _, m := range wanted {
		var value string
		if err := conn.QueryRowContext(ctx, m.query).Scan(&value); err != nil {
			return s.Opening(err)
		}
		if !m.fits(value) {
			return errs.Errorf(errs.Unavailable, "%s %s. Nothing was changed.", s, m.refuse)
		}
	}
	return nil
}

func isOn(v string) bool    { return v == "on" }
func isOff(v string) bool   { return v == "off" }
func isFalse(v string) bool { return v == "false" }

// Opening says what an error means that kept a server from being used at the start.
func (s *Server) Opening(err error) error {
	if _, coded := errors.AsType[*errs.Error](err); coded {
		return err
	}
	switch code := codeOf(err); {
	case code == preparedTwice, strings.Contains(err.Error(), "unsupported startup parameter"):
		return errs.Wrap(errs.Unavailable, err, "%s %s", s, pooled)
	case code == noRight:
		return errs.Wrap(errs.Unavailable, err, "the database server %s cannot be used: %v. Grant it (GRANT CREATE ON DATABASE %s TO %s, if the schemas are to be made), or name the role that owns the schemas", s, err, s.config.Database, s.config.User)
	}
	return errs.Wrap(errs.Unavailable, err, "the database server %s cannot be used: %v", s, err) // pgx leaves the password out
}

// Create makes the schemas of databases with all that is in them, in one transaction, if they are not there. It refuses
// one of their names that holds something else, and one without the others.
func (s *Server) Create(ctx context.Context, writer *sql.DB, databases []string, statements func(database string) (string, error)) (made bool, err error) {
	if there, err := s.there(ctx, writer, databases); err != nil || there {
		return false, err
	}
	var all strings.Builder
	for _, name := range databases {
		text, err := statements(name)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(&all, "CREATE SCHEMA IF NOT EXISTS %[1]s; SET LOCAL search_path = %[1]s;\n%[2]s\n", s.Schema(name), text)
	}
	conn, err := writer.Conn(ctx)
	if err != nil {
		return false, err
	}
	err = conn.Raw(func(raw any) error {
		server := raw.(*stdlib.Conn).Conn().PgConn()
		_, err := server.Exec(ctx, "BEGIN;"+all.String()+"COMMIT").ReadAll() // the simple protocol takes many statements
		if err != nil {
			_, _ = server.Exec(ctx, "ROLLBACK").ReadAll() // the error is what matters
		}
		return err
	})
	_ = conn.Close() // it goes back to the pool
	if err != nil {  // another router may have made it meanwhile
		if there, other := s.there(ctx, writer, databases); other == nil && there {
			return false, nil
		}
	}
	return true, err
}

// Usable refuses a schema that has not all of the tables which a program knows, and one whose tables its role may not write into. An
// older schema has fewer tables: none are asked for then.
func (s *Server) Usable(ctx context.Context, conn *sql.DB, database string, tables []string) error {
	var missing, refused string
	if err := conn.QueryRowContext(ctx, `SELECT coalesce(string_agg(n, ', ') FILTER (WHERE c.oid IS NULL), ''), coalesce(min(relname) FILTER (WHERE NOT (has_schema_privilege(relnamespace, 'USAGE')
		AND has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))), '')
		FROM unnest(CAST($1 AS text[])) n FULL JOIN (SELECT * FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace($2)) c ON relname = n`, tables, s.Schema(database)).Scan(&missing, &refused); err != nil {
		return err
	}
	switch {
	case missing != "":
		return errs.Errorf(errs.Unavailable, "%s has a schema %s in which tables are missing (%s): restore it from a backup. Nothing was changed.", s, s.Schema(database), missing)
	case refused != "":
		return errs.Errorf(errs.Unavailable, "%s lets the role %s not write into tables of %s, such as %s: name the role that owns the schemas. Nothing was changed.", s, s.config.User, s.Schema(database), refused)
	}
	return nil
}

// since is the log in heads that tells the oldest version which a program must know that writes into the schema. One that no step changed has none.
const since = "since"

// versions asks for the version of a schema, and for the oldest that a program must know which writes into it.
func (s *Server) versions(database string) string {
	return fmt.Sprintf("SELECT coalesce(max(version_id), 0), coalesce((SELECT seq FROM %[1]s.heads WHERE log = '"+since+"'), max(version_id), 0) FROM %[1]s.goose_db_version WHERE is_applied", s.Schema(database))
}

// Version reads the version of a schema, and the oldest that a program must know which writes into it.
func (s *Server) Version(ctx context.Context, conn *sql.DB, database string) (version, since int64, err error) {
	err = conn.QueryRowContext(ctx, s.versions(database)).Scan(&version, &since)
	return version, since, err
}

// Knows says up to which version the program knows a schema. It takes no lease while one of them is not for it (see Register), and says so.
func (s *Server) Knows(database string, version int64, log *slog.Logger) {
	s.knows[database], s.log = version, log
}

// Log is where it says what becomes of it: nowhere, before Knows was called.
func (s *Server) Log() *slog.Logger { return s.log }

// Fits are conditions of SQL, each behind an AND: the program may write into the schemas that it said it knows.
func (s *Server) Fits() (conditions string) {
	for database, version := range s.knows {
		conditions += fmt.Sprintf(" AND (SELECT since FROM (%s) AS of (version, since)) <= %d", s.versions(database), version)
	}
	return conditions
}

// Upgrade makes the steps that a schema does not have, in one transaction, and tells the version that it had; 0: it has all. The row
// that counts commits is its lock: who comes second waits for it and finds nothing to do, and who wrote before commits nothing more.
func (s *Server) Upgrade(ctx context.Context, writer *sql.DB, database string, steps []migrations.Step, oldest int64) (from int64, err error) {
	if from, _, err = s.Version(ctx, writer, database); err != nil || len(steps) == 0 || from >= steps[len(steps)-1].Version {
		return 0, err
	}
	tx, err := writer.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() //nolint:errcheck // after the commit there is nothing to take back
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("SET LOCAL statement_timeout = 0; UPDATE heads SET seq = (seq / %[1]d + 1) * %[1]d WHERE log = 'commits'", opened)); err != nil {
		return 0, err
	}
	if err := tx.QueryRowContext(ctx, s.versions(database)).Scan(&from, new(int64)); err != nil {
		return 0, err
	}
	if from >= steps[len(steps)-1].Version { // another did it meanwhile
		return 0, nil
	}
	for _, step := range steps {
		if step.Version <= from {
			continue
		}
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("%s;\nINSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, true)", step.Up, step.Version)); err != nil {
			return 0, fmt.Errorf("step %d: %w", step.Version, err)
		}
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO heads (log, seq) VALUES ('"+since+"', $1) ON CONFLICT (log) DO UPDATE SET seq = excluded.seq", oldest); err != nil {
		return 0, err
	}
	return from, tx.Commit()
}

// there tells whether the schemas of databases are there. It refuses them if they are not Skill Router's, or not all there.
func (s *Server) there(ctx context.Context, writer *sql.DB, databases []string) (there bool, err error) {
	var with, without string
	for _, name := range databases {
		var tables int
		var ours bool
		if err := writer.QueryRowContext(ctx, `SELECT count(*), count(*) FILTER (WHERE relname IN ('goose_db_version', 'heads')) = 2 FROM pg_class WHERE relkind IN ('r', 'p', 'v') AND relnamespace = to_regnamespace($1)`, s.Schema(name)).Scan(&tables, &ours); err != nil {
			return false, err
		}
		switch {
		case ours:
			with = s.Schema(name)
		case tables > 0:
			return false, errs.Errorf(errs.Unavailable, "%s has a schema %s that is not Skill Router's. It was not changed: take another schema_prefix.", s, s.Schema(name))
		default:
			without = s.Schema(name)
		}
	}
	if with != "" && without != "" {
		return false, errs.Errorf(errs.Unavailable, "%s has %s and not %s, which is a half of the memory: restore both from a backup, or drop what is there. Nothing was changed.", s, with, without)
	}
	return with != "", nil
}

// Size is how much room a schema takes on the server, in bytes.
func Size(ctx context.Context, db *gorm.DB) (bytes int64, err error) {
	err = db.WithContext(ctx).Raw("SELECT CAST(coalesce(sum(pg_total_relation_size(oid)), 0) AS bigint) FROM pg_class WHERE relkind = 'r' AND relnamespace = CAST(current_schema() AS regnamespace)").Scan(&bytes).Error
	return bytes, err
}

// opened is what the count of commits is raised by to the next multiple of at each opening of a writer. A writer would commit so many
// times in a century.
const opened = int64(1) << 32

// Open begins the count of a writer's commits where no other has been: from now on, one that was opened before commits nothing. It
// notes at which count it was opened, and after which opening: see past.
func Open(tx *gorm.DB) (commits int64, err error) {
	if err := tx.Raw("SELECT seq FROM heads WHERE log = 'commits' FOR UPDATE").Scan(&commits).Error; err != nil {
		return 0, err
	}
	if err := tx.Exec("INSERT INTO heads (log, seq) SELECT 'prior', coalesce((SELECT seq FROM heads WHERE log = 'opening'), 0) UNION ALL VALUES ('opening', CAST(? AS bigint)), ('since opening', CAST(? AS bigint)) ON CONFLICT (log) DO UPDATE SET seq = excluded.seq",
		rand.Int64(), commits).Error; err != nil {
		return 0, err
	}
	err = tx.Raw("UPDATE heads SET seq = (seq / ? + 1) * ? WHERE log = 'commits' RETURNING seq", opened, opened).Scan(&commits).Error
	return commits, err
}

// Seal counts a transaction, and notes the last numbers of the tables that the writer numbers. It fails with committer.ErrFenced unless
// commits transactions were committed before it.
func Seal(tx *gorm.DB, commits int64, numbers committer.Numbers) error {
	set, args, logs := "WHEN 'commits' THEN seq + 1", []any{}, "'commits'"
	for table, last := range numbers { // two names of our own
		set, args, logs = set+" WHEN '"+table+"' THEN CAST(? AS bigint)", append(args, last), logs+", '"+table+"'"
	}
	done := tx.Exec("UPDATE heads SET seq = CASE log "+set+" END WHERE log IN ("+logs+") AND (log <> 'commits' OR seq = ?)", append(args, commits)...)
	if done.Error == nil && done.RowsAffected != int64(len(numbers)+1) {
		return committer.ErrFenced
	}
	return done.Error
}

// Settle finds out what became of a commit whose answer was lost: it asks, on a new connection, until the server
// answers or settleTime is over. The caller knows how many commits there were before it. A transaction that has been counted holds its count
// until it is over, so that one which is still under way is waited for.
func Settle(writer *gorm.DB, commits int64) (committed bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(writer.Statement.Context), settleTime)
	defer cancel()
	writer = writer.WithContext(ctx)
	for {
		var now int64
		err := writer.Raw("SELECT seq FROM heads WHERE log = 'commits' FOR UPDATE").Scan(&now).Error
		switch {
		case err == nil && now == commits:
			return false, nil
		case err == nil && now == commits+1:
			return true, nil
		case err == nil:
			return false, committer.ErrFenced
		case committer.Pause(ctx, settleEvery) != nil:
			return false, err
		}
	}
}

// The codes of PostgreSQL's errors that callers can do something about
// (https://www.postgresql.org/docs/15/errcodes-appendix.html).
const (
	diskFull         = "53100"
	outOfMemory      = "53200"
	tooManyConns     = "53300"
	readOnly         = "25006"
	lockNotAvailable = "55P03"
	noTable          = "42P01" // a schema that was dropped, or is being restored
	noSchema         = "3F000"
	noRight          = "42501"
	preparedTwice    = "42P05" // by a pooler that gives one connection to several
	queryCanceled    = "57014"
	dataCorrupted    = "XX001"
	indexCorrupted   = "XX002"
	classConnection  = "08"
	classOperator    = "57P" // a server that is stopped, or was
	classSystem      = "58"  // what the server's machine did wrong
)

func codeOf(err error) string {
	if failure, ok := errors.AsType[*pgconn.PgError](err); ok {
		return failure.Code
	}
	return ""
}

// Translate gives a server's error the code that fits; an error that is none of a server stays as it is.
func Translate(err error) error {
	if err == nil {
		return nil
	}
	code := codeOf(err)
	switch {
	case code == diskFull:
		return errs.Wrap(errs.StorageFull, err, "the disk of the database server is full: nothing was stored, reading goes on")
	case code == dataCorrupted || code == indexCorrupted:
		return errs.Wrap(errs.Internal, err, "the database is damaged: stop the router and restore a backup")
	case code == queryCanceled:
		return errs.Wrap(errs.Unavailable, err, "the database server took too long, or the call was given up")
	case code == noTable, code == noSchema, code == noRight:
		return errs.Wrap(errs.Unavailable, err, "the database has not what this router stores in, or refuses it (the router's log has the cause): nothing was stored")
	case code == readOnly, code == tooManyConns, code == outOfMemory, code == lockNotAvailable, Lost(err):
		return errs.Wrap(errs.Unavailable, err, "the database server does not answer: nothing was stored, try again")
	}
	return err
}

// Lost tells whether an error is that of a connection which is gone.
func Lost(err error) bool {
	if code := codeOf(err); code != "" {
		return strings.HasPrefix(code, classConnection) || strings.HasPrefix(code, classOperator) || strings.HasPrefix(code, classSystem)
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	return errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrBadConn) || pgconn.Timeout(err) || isNetwork(err)
}

// Away tells whether an error at the start is that of a server which is not there, or not yet: it may be waited for.
func Away(err error) bool {
	if code := codeOf(err); code != "" {
		return code == tooManyConns || Lost(err)
	}
	return err != nil && (pgconn.Timeout(err) || isNetwork(err))
}

func isNetwork(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "conn closed")
}
