// Package databasetest opens databases for tests: SQLite's files, or schemas on a PostgreSQL server where
// SKILLROUTER_TEST_STORE is postgres, so that the same tests run on both. It owns how a server is found.
package databasetest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/postgres"
)

// Databases are both databases of a test, migrated, with committers that run.
type Databases struct {
	Dir                   string // their data folder
	Learning, Operational *database.DB
}

// Open opens both databases in a new folder, and closes them at the end of the test.
func Open(t testing.TB) Databases {
	t.Helper()
	d := Databases{Dir: t.TempDir()}
	d.Learning, d.Operational = Running(t, d.Dir, "learning"), Running(t, d.Dir, "operational")
	return d
}

// Running opens one database in dir and runs its committer. Both end with the test.
func Running(t testing.TB, dir, name string) *database.DB {
	t.Helper()
	db, err := OpenIn(t, dir, name, time.Now, slog.New(slog.DiscardHandler))
	need(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := db.Commit.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// OpenIn opens a database for a test, which runs its committer and closes it. dir is the data folder: two calls of a
// test with one folder open one database.
func OpenIn(t testing.TB, dir, name string, now clock.Clock, log *slog.Logger) (*database.DB, error) {
	t.Helper()
	if !OnPostgres() {
		path := filepath.Join(dir, name+".db")
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			made, err := template(t, name)
			if err == nil {
				err = os.WriteFile(path, made, 0o600)
			}
			if err != nil {
				return nil, err
			}
		}
		return database.Open(t.Context(), dir, name, now, log)
	}
	server, err := postgres.Parse(Address(t, dir))
	if err != nil {
		return nil, err
	}
	if err := database.PrepareOnServer(t.Context(), server, log); err != nil {
		return nil, err
	}
	return database.OpenOnServer(t.Context(), server, name, now, log)
}

var (
	templates   = map[string][]byte{}
	templatesMu sync.Mutex
)

// template is a new database of a name as it is on disk. It is made once in a process: to make its schema takes longer than most tests.
func template(t testing.TB, name string) ([]byte, error) {
	templatesMu.Lock()
	defer templatesMu.Unlock()
	if made, there := templates[name]; there {
		return made, nil
	}
	path := filepath.Join(t.TempDir(), "template.db")
	if err := database.Create(t.Context(), name, path); err != nil {
		return nil, err
	}
	made, err := os.ReadFile(path)
	if err == nil {
		templates[name] = made
	}
	return made, err
}

// OnPostgres tells whether tests store on a server.
func OnPostgres() bool { return os.Getenv("SKILLROUTER_TEST_STORE") == "postgres" }

var (
	mu    sync.Mutex
	given = map[string]string{} // by folder
)

// Address is the address of the databases that belong to a data folder, on the tests' server. They are dropped when the
// folder is gone, or by a later process if this one has ended.
func Address(t testing.TB, dir string) string {
	t.Helper()
	base := os.Getenv("SKILLROUTER_TEST_POSTGRES")
	if base == "" {
		t.Fatal("SKILLROUTER_TEST_POSTGRES names no server")
	}
	mu.Lock()
	defer mu.Unlock()
	if address, there := given[dir]; there {
		return address
	}
	sum := sha256.Sum256([]byte(dir))
	prefix := fmt.Sprintf("t%d_%s_", os.Getpid(), hex.EncodeToString(sum[:8]))
	sweep(t, base)
	given[dir] = with(t, base, func(query url.Values) { query.Set("schema_prefix", prefix) })
	return given[dir]
}

// need fails the test, and ends it, if err is one.
func need(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// with changes the parameters of an address.
func with(t testing.TB, address string, change func(query url.Values)) string {
	t.Helper()
	parsed, err := url.Parse(address)
	need(t, err)
	query := parsed.Query()
	change(query)
	parsed.RawQuery = query.Encode()
	return parsed.String()
}

// sweep drops the schemas of folders, and of processes, that are gone.
func sweep(t testing.TB, base string) {
	db, err := sql.Open("pgx", base)
	need(t, err)
	defer db.Close()
	drop := func(schemas string, args ...any) {
		rows, err := db.QueryContext(t.Context(), "SELECT nspname FROM pg_namespace WHERE "+schemas, args...)
		need(t, err)
		var names []string
		for rows.Next() {
			var name string
			need(t, rows.Scan(&name))
			names = append(names, name)
		}
		need(t, rows.Err())
		for _, name := range names {
			var process int
			if _, err := fmt.Sscanf(name, "t%d_", &process); err != nil || process != os.Getpid() && runs(process) {
				continue
			}
			if _, err := db.ExecContext(t.Context(), "DROP SCHEMA IF EXISTS "+name+" CASCADE"); err != nil {
				t.Errorf("drop %s: %v", name, err)
			}
		}
	}
	if len(given) == 0 {
		drop(`nspname ~ '^t[0-9]+_[0-9a-f]{16}_'`)
	}
	for dir, address := range given {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			of, _ := url.Parse(address)
			drop("starts_with(nspname, $1)", of.Query().Get("schema_prefix"))
			delete(given, dir)
		}
	}
}

// Look opens a database beside the router that has it.
func Look(t testing.TB, dir, name string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", with(t, Address(t, dir), func(query url.Values) {
		query.Set("search_path", query.Get("schema_prefix")+name)
		query.Del("schema_prefix")
	}))
	need(t, err)
	return db
}

// FilesOnly skips a test that is about what SQLite alone has: it writes past the stores into the file, measures it, opens it twice,
// or wants numbers without a gap after what was rolled back.
func FilesOnly(t testing.TB) {
	t.Helper()
	if OnPostgres() {
		t.Skip("it is about SQLite's file")
	}
}

// ServerOnly skips a test where no server is.
func ServerOnly(t testing.TB) {
	t.Helper()
	if !OnPostgres() {
		t.Skip("make test-postgres runs it")
	}
}

// Beside runs statements beside the router; {} is the prefix of its schemas.
func Beside(t testing.TB, data string, statements ...string) {
	t.Helper()
	db := Look(t, data, "")
	defer db.Close()
	var prefix string
	if err := db.QueryRowContext(t.Context(), "SHOW search_path").Scan(&prefix); err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), strings.ReplaceAll(statement, "{}", prefix)); err != nil {
			t.Fatal(statement, err)
		}
	}
}

// InSchema runs statements in the schema of a database, beside who has it open.
func InSchema(t testing.TB, data, name, statements string) {
	t.Helper()
	db := Look(t, data, name)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(name, err)
	}
}

// Prepare makes the schemas of a folder.
func Prepare(t testing.TB, data string) {
	t.Helper()
	server, err := postgres.Parse(Address(t, data))
	if err == nil {
		err = database.PrepareOnServer(t.Context(), server, slog.New(slog.DiscardHandler))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// runs reports whether a process is there. Windows does not say.
func runs(process int) bool {
	p, err := os.FindProcess(process)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}
