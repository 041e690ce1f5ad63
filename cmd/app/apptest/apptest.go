// Package apptest opens databases for tests: SQLite's files, or schemas on a PostgreSQL server where
// SKILLROUTER_TEST_STORE is postgres, so that the same tests run on both. It owns how a server is found.
package apptest

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sync"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"skillrouter/cmd/app"
	"skillrouter/cmd/app/postgres"
	"skillrouter/internal/clock"
)

// Open opens a database for a test, which closes it. dir is the data folder: two calls of a test with one
// folder open one database.
func Open(t testing.TB, dir, name string, now clock.Clock, log *slog.Logger) (*app.Database, error) {
	t.Helper()
	if !OnPostgres() {
		return app.OpenDatabase(t.Context(), dir, name, now, log)
	}
	server, err := postgres.Parse(Address(t, dir))
	if err != nil {
		return nil, err
	}
	if err := app.PrepareOnServer(t.Context(), server, log); err != nil {
		return nil, err
	}
	return app.OpenOnServer(t.Context(), server, dir, name, now, log)
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
			if _, err := fmt.Sscanf(name, "t%d_", &process); err != nil || process != os.Getpid() && syscall.Kill(process, 0) == nil {
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
