package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/glebarez/sqlite"
	"github.com/pressly/goose/v3"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/migrations"
)

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
func NewestVersion(name string) (int64, error) {
	steps, err := migrations.Steps(name, "sqlite")
	if err != nil {
		return 0, err
	}
	return steps[len(steps)-1].Version, nil
}

// migrate brings an older schema up to date, after copying the database.
func (db *DB) migrate(ctx context.Context, now clock.Clock, log *slog.Logger) error {
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
	CopySuffix    = ".backup"
	PartialSuffix = ".backup.partial"
)

// copyAside makes a copy of the database beside it, under a name that nothing
// has, and returns that. The name appears with the whole copy behind it.
func (db *DB) copyAside(ctx context.Context, title string) (string, error) {
	dir := filepath.Dir(db.Path)
	temp := filepath.Join(dir, title+PartialSuffix)
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if err := errors.Join(Backup(ctx, db.Path, temp), SyncFile(temp)); err != nil {
		return "", err
	}
	name := filepath.Join(dir, FreshName(dir, title, CopySuffix))
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

// Version reads which version a database's schema has.
func Version(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (version int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version WHERE is_applied").Scan(&version)
	return version, err
}

// Model makes the schema that a database had at a version, 0: the newest, by its steps. What path names is empty, or not there; ":memory:" is no file.
func Model(ctx context.Context, name, path string, version int64) (*sql.DB, error) {
	db, err := sql.Open(sqlite.DriverName, "file:"+escape(path))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	steps, err := provider(name, db)
	switch {
	case err == nil && version > 0:
		_, err = steps.UpTo(ctx, version)
	case err == nil:
		_, err = steps.Up(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the schema %d of %s: %w", version, name, err), db.Close())
	}
	return db, nil
}
