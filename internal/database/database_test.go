package database_test

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/glebarez/go-sqlite"
	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/migrations"
)

func open(t *testing.T, dir, name string) (*database.DB, error) {
	t.Helper()
	return database.Open(t.Context(), dir, name, time.Now, slog.New(slog.DiscardHandler))
}

// tables lists the tables of a closed database.
func tables(t *testing.T, path string) (names []string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT name FROM sqlite_master WHERE type = 'table'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

func TestOpenCreatesPrivateFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range migrations.Databases() {
		for range 2 { // created, then opened again
			db, err := open(t, dir, name)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		info, err := os.Stat(filepath.Join(dir, name+".db"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s.db: mode %v, error %v; want 0600", name, info.Mode(), err)
		}
	}
}

// TestSQLiteVersion holds the driver above the WAL-reset corruption bug, which
// SQLite fixed in 3.51.3.
func TestSQLiteVersion(t *testing.T) {
	db, err := open(t, t.TempDir(), "learning")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var fresh bool
	err = db.Read.Raw(`WITH v(s) AS (SELECT sqlite_version())
		SELECT substr(s, 1, 2) = '3.' AND CAST(substr(s, 3) AS REAL) >= 51.3 FROM v`).Scan(&fresh).Error
	if err != nil || !fresh {
		t.Errorf("SQLite is older than 3.51.3 (%v)", err)
	}
}

// TestTheLogIsCopied: what is committed comes into the database file itself while the router runs, and not only when the writer's log is long.
func TestTheLogIsCopied(t *testing.T) {
	db, err := open(t, t.TempDir(), "operational")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- db.Commit.Run(ctx) }()
	defer func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	inFile := func() (rows int) { // immutable: SQLite looks at the file alone
		file, err := sql.Open("sqlite", "file:"+db.Path+"?immutable=1&mode=ro")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := file.QueryRow("SELECT count(*) FROM events WHERE type = 'copied'").Scan(&rows); err != nil {
			rows = 0 // the file is being written
		}
		return rows
	}
	if err := db.Commit.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("INSERT INTO events (type, subject, at, data) VALUES ('copied', 'x', 0, '')").Error
	}, nil); err != nil {
		t.Fatal(err)
	}
	if inFile() != 0 {
		t.Fatal("the row is in the file before the log was copied: this test shows nothing")
	}
	go func() { ended <- db.CopyLog(ctx) }()
	for until := time.Now().Add(20 * time.Second); inFile() == 0; <-time.After(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the log was not copied in 20 s")
		}
	}
}

// TestLogIsCutDown: a write-ahead log that a reader of another program had grow is cut down once that has left, while the router runs.
func TestLogIsCutDown(t *testing.T) {
	db, err := open(t, t.TempDir(), "operational")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- db.Commit.Run(ctx) }()
	go func() { ended <- db.CopyLog(ctx) }()
	defer func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	reader, err := sql.Open("sqlite", "file:"+db.Path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	reading, err := reader.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := reading.QueryRow("SELECT count(*) FROM events").Scan(&n); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if err := db.Commit.Write(ctx, func(tx *gorm.DB) error {
			return tx.Exec("INSERT INTO events (type, subject, at, data) VALUES ('large', 'x', 0, hex(randomblob(500000)))").Error
		}, nil); err != nil {
			t.Fatal(err)
		}
	}
	size := func() int64 {
		info, err := os.Stat(db.Path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if size() < 40<<20 {
		t.Fatalf("the log has %d bytes while it is read: this test shows nothing", size())
	}
	if err := reading.Rollback(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(20 * time.Second); size() > 17<<20; <-time.After(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("the log still has %d bytes", size())
		}
	}
}

func TestReadersCannotWrite(t *testing.T) {
	db, err := open(t, t.TempDir(), "operational")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Read.Exec("DELETE FROM events").Error; err == nil {
		t.Error("a reading connection wrote")
	}
}

func TestOpenRefusesAndLeavesTheFileAlone(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, path string)
		says   string
	}{
		"newer schema": {func(t *testing.T, path string) {
			databasetest.Edit(t, path, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
		}, "9999"},
		"overwritten header": {func(t *testing.T, path string) { patch(t, path, 0, []byte("not a database")) }, "damaged"},
		"empty file":         {func(t *testing.T, path string) { truncate(t, path, 0) }, "damaged"},
		"half a file":        {func(t *testing.T, path string) { truncate(t, path, size(t, path)/2) }, "damaged"},
		"garbage in the middle": {func(t *testing.T, path string) {
			patch(t, path, size(t, path)/2/4096*4096, bytes.Repeat([]byte{0xa5}, 8192))
		}, "damaged"},
		"another program's database": {func(t *testing.T, path string) { databasetest.Edit(t, path, "PRAGMA application_id = 7") }, "not the learning database"},
		"the other database":         {func(t *testing.T, path string) { move(t, databasetest.Made(t, t.TempDir(), "operational"), path) }, "not the learning database"},
		"no schema table":            {func(t *testing.T, path string) { databasetest.Edit(t, path, "DROP TABLE goose_db_version") }, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := databasetest.Made(t, dir, "learning")
			c.damage(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			db, err := open(t, dir, "learning")
			if err == nil {
				db.Close()
				t.Fatal("it was opened")
			}
			message := errs.MessageOf(err)
			if !strings.Contains(message, c.says) || !strings.Contains(message, path) || !strings.Contains(message, "not changed") {
				t.Errorf("the refusal says %q", message)
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

func TestOpenRefusesALogWithoutItsDatabase(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "learning.db")
	if err := os.WriteFile(path+"-wal", []byte("frames"), 0o600); err != nil {
		t.Fatal(err)
	}
	if db, err := open(t, dir, "learning"); err == nil {
		db.Close()
		t.Error("a lost database was silently made anew")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was made")
	}
}

func TestOpenFinishesACreationThatCrashed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "learning.db.new"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := open(t, dir, "learning")
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
}

func TestOlderSchemaIsBackedUpThenMigrated(t *testing.T) {
	dir := t.TempDir()
	path := databasetest.Made(t, dir, "learning")
	// Version 0 with something in it, as a migration would meet it.
	for _, table := range tables(t, path) {
		if !strings.HasPrefix(table, "goose_") && !strings.HasPrefix(table, "sqlite_") {
			databasetest.Edit(t, path, "DROP TABLE "+table)
		}
	}
	databasetest.Edit(t, path, "DELETE FROM goose_db_version WHERE version_id > 0", "CREATE TABLE keepsake (x)", "INSERT INTO keepsake VALUES (42)")
	db, err := open(t, dir, "learning")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.Read.Raw("SELECT count(*) FROM knowledge").Scan(&n).Error; err != nil {
		t.Errorf("not migrated: %v", err)
	}
	backups, _ := filepath.Glob(path + ".v0-*.backup")
	if len(backups) != 1 {
		t.Fatalf("backups: %v", backups)
	}
	backup, err := sql.Open("sqlite", "file:"+backups[0]+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer backup.Close()
	if err := backup.QueryRow("SELECT x FROM keepsake").Scan(&n); err != nil || n != 42 {
		t.Errorf("the backup holds %d (%v)", n, err)
	}
}

func TestPathsWithSpecialCharacters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "50% of #1? ü")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := databasetest.Made(t, dir, "operational")
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func patch(t *testing.T, path string, at int64, with []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(with, at); err != nil {
		t.Fatal(err)
	}
}

func truncate(t *testing.T, path string, to int64) {
	t.Helper()
	if err := os.Truncate(path, to); err != nil {
		t.Fatal(err)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// TestVerdictsMigrate opens a database of before verdicts were one table: what was said is there, and it can go back.
func TestVerdictsMigrate(t *testing.T) {
	steps, err := migrations.Steps("learning", "sqlite")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := databasetest.Made(t, dir, "learning")
	back := func() {
		t.Helper()
		for _, step := range slices.Backward(steps) {
			if step.Version >= 33 {
				databasetest.Edit(t, path, step.Down)
			}
		}
	}
	back()
	databasetest.Edit(
		t, path, "DELETE FROM goose_db_version WHERE version_id >= 33",
		"INSERT INTO knowledge_answers (entry_id, question_key, question, agent_id, helpful, at) VALUES ('e1', 'k1', 'red padlock', 'a', 1, 5), ('e1', 'k1', 'red padlock', 'b', 0, 6)",
		"INSERT INTO query_feedback (id, query, query_type, negated, agent_id, created_at) VALUES ('f1', 'baseline', 'recon', 1, 'a', 7)",
		`INSERT INTO gaps (id, question, project, asked_in, agents, count, first_asked, last_asked, status, checked_at) VALUES ('g1', 'zork', 'shop', '["query"]', '["a","b"]', 5, 1, 9, 'open', 9), ('g2', 'frob', '', '["query"]', '[]', 2, 1, 8, 'open', 8)`,
		`INSERT INTO gaps (id, question, asked_in, agents, count, first_asked, last_asked, status, answered_by, settled_at, checked_at) VALUES ('g3', 'old', '["query"]', '[]', 1, 1, 1, 'answered', 'knowledge/e1', 2, 1)`,
	)
	db, err := open(t, dir, "learning")
	if err != nil {
		t.Fatal(err)
	}
	rows := func(text string) (lines []string) {
		t.Helper()
		if err := db.Read.Raw(text).Scan(&lines).Error; err != nil {
			t.Fatal(err)
		}
		return lines
	}
	want := []string{
		"knowledge/e1 k1 red padlock  a 1 1 5 5", "knowledge/e1 k1 red padlock  b 0 1 6 6", "query_type/recon f1 baseline  a 0 1 7 7",
		" g2 frob   0 2 1 8", " g1 zork shop a 0 4 1 9", " g1 zork shop b 0 1 1 9",
	}
	if got := rows("SELECT concat_ws(' ', item, subject_key, subject, project, agent_id, helped, times, first_at, at) FROM verdicts ORDER BY seq"); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	db.Close()
	back()
	databasetest.Edit(t, path, "DELETE FROM goose_db_version WHERE version_id >= 33")
	if db, err = open(t, dir, "learning"); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := rows("SELECT concat_ws(' ', item, subject_key, subject, project, agent_id, helped, times, first_at, at) FROM verdicts WHERE item <> '' ORDER BY seq"); !slices.Equal(got, want[:3]) {
		t.Errorf("back and forth: got %q\nwant %q", got, want[:3])
	}
}

// TestToldMigrates opens a database of before what was told was one table: the tellings, their items and what came of these are there.
func TestToldMigrates(t *testing.T) {
	steps, err := migrations.Steps("operational", "sqlite")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := databasetest.Made(t, dir, "operational")
	for _, step := range slices.Backward(steps) {
		if step.Version >= 19 {
			databasetest.Edit(t, path, step.Down)
		}
	}
	databasetest.Edit(
		t, path, "DELETE FROM goose_db_version WHERE version_id >= 19",
		`INSERT INTO tellings (number, agent_id, project, session_id, moment, about, items, tokens, at) VALUES
			(7, 'a', 'shop', 's1', 'start', '', '[{"kind":"knowledge","id":"k","title":"t","tokens":3,"gives":["make x"],"judged":true,"used":true},{"kind":"incident","id":"i","tokens":4,"judged":true,"went":true,"repeated":true}]', 10, 5),
			(8, 'a', '', 's1', 'failure', 'npm test', '[]', 0, 6)`,
		"INSERT INTO told_days (day, project, moment, kind, item, title, own, shown, judged, used, prevented, repeated, tokens) VALUES (0, 'shop', 'start', 'knowledge', 'k', 't', 1, 1, 1, 1, 0, 0, 3)",
	)
	db, err := open(t, dir, "operational")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var got []string
	if err := db.Read.Raw(`SELECT concat_ws('|', number, telling, at, agent_id, project, session_id, moment, about, kind, item, title, own, gives, shown, judged, used, went, repeated, tokens)
		FROM told ORDER BY number`).Scan(&got).Error; err != nil {
		t.Fatal(err)
	}
	want := []string{
		"448|0|5|a|shop|s1|start|||||1|[]|1|0|0|0|0|3", `449|448|5||shop||start||knowledge|k|t|1|["make x"]|1|1|1|0|0|3`,
		"450|448|5||shop||start||incident|i||0|[]|1|1|0|1|1|4", "512|0|6|a||s1|failure|npm test||||1|[]|0|0|0|0|0|0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
