package app_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/migrations"
)

var quietLog = slog.New(slog.DiscardHandler)

// begin starts an App on a folder, or returns why it does not start.
func begin(t *testing.T, data string, options app.Options, log *slog.Logger) (*app.App, error) {
	t.Helper()
	cfg := config.Default()
	cfg.Data, cfg.Listen = data, "127.0.0.1:0"
	return app.New(t.Context(), cfg, log, options)
}

// finish stops an App.
func finish(t *testing.T, a *app.App) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLostDatabaseIsNotMadeAnew holds B3: a database that is missing beside a
// trace of one was made anew without a word, and without operational.db there
// are no tokens: everybody was let in.
func TestLostDatabaseIsNotMadeAnew(t *testing.T) {
	for name, lose := range map[string]func(data string) error{
		"operational.db": func(data string) error { return os.Remove(filepath.Join(data, "operational.db")) },
		"learning.db":    func(data string) error { return os.Remove(filepath.Join(data, "learning.db")) },
		"all but the owner's token": func(data string) error {
			_ = os.Remove(filepath.Join(data, "high-water"))
			_ = os.Remove(filepath.Join(data, "learning.db"))
			return os.Remove(filepath.Join(data, "operational.db"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			folderWith(t, data, "one")
			if err := lose(data); err != nil {
				t.Fatal(err)
			}
			missing, traces := app.Missing(t.Context(), data)
			if len(missing) == 0 || len(traces) == 0 {
				t.Fatalf("missing %q, traces %q", missing, traces)
			}
			before := tree(t, data)
			a, err := begin(t, data, app.Options{}, quietLog)
			if err == nil {
				finish(t, a)
				t.Fatal("it was made anew")
			}
			for _, want := range append(missing, "skillrouter restore", "--create-missing", traces[0]) {
				if !strings.Contains(errs.MessageOf(err), want) {
					t.Errorf("the refusal does not say %q: %s", want, errs.MessageOf(err))
				}
			}
			if fmt.Sprint(before) != fmt.Sprint(tree(t, data)) {
				t.Error("the folder was changed")
			}
			// The way out that is named.
			if a, err = begin(t, data, app.Options{CreateMissing: true}, quietLog); err != nil {
				t.Fatal(err)
			}
			finish(t, a)
			folderWith(t, data, "two") // from then on it is a folder like others
		})
	}
	folderWith(t, filepath.Join(t.TempDir(), "new"), "one") // where there is no trace, there was none
}

// TestFirstStartGoesOn holds B1 and B2: whatever a cut leaves of a first start that had not ended, the next start goes on. A database
// gets its name once it is whole: one that is not, beside one that is missing, is damage.
func TestFirstStartGoesOn(t *testing.T) {
	whole := t.TempDir()
	learning, operational := databasetest.Made(t, whole, "learning"), databasetest.Made(t, whole, "operational")
	for _, path := range []string{learning, operational} {
		execute(t, path, "DELETE FROM events", "DELETE FROM sqlite_sequence")
	}
	text, err := os.ReadFile(learning)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		leave   func(data string)
		refused bool
	}{
		"nothing":            {leave: func(string) {}},
		"one whole database": {leave: func(data string) { put(t, data+"/learning.db", string(text)) }},
		"a new token":        {leave: func(data string) { put(t, data+"/learning.db", string(text)); put(t, data+"/owner.token.new", "") }},
		"what was being made": {leave: func(data string) {
			put(t, data+"/learning.db.new", string(text[:5000]))
			put(t, data+"/learning.db.new-journal", "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 half")
			put(t, data+"/operational.db.new-wal", "half")
		}},
		"half a database":  {func(data string) { put(t, data+"/learning.db", string(text[:len(text)/2])) }, true},
		"an empty one":     {func(data string) { put(t, data+"/operational.db", "") }, true},
		"a log of nothing": {func(data string) { put(t, data+"/learning.db-wal", "frames") }, true},
		"a token":          {func(data string) { put(t, data+"/learning.db", string(text)); put(t, data+"/owner.token", "x") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			c.leave(data)
			if c.refused {
				if a, err := begin(t, data, app.Options{}, slog.New(slog.DiscardHandler)); err == nil {
					finish(t, a)
					t.Error("what was lost is made anew")
				}
				return
			}
			folderWith(t, data, "one")
			if _, err := locate.ReadOwnerToken(data); err != nil {
				t.Error(err)
			}
			if got := titlesIn(t, data); !slices.Equal(got, []string{"one"}) {
				t.Errorf("%q", got)
			}
			if found, err := app.VerifyFolder(t.Context(), data); err != nil || !found.OK {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// TestEmptyOwnerToken holds B1: a power cut left owner.token with no bytes, and
// the router never started again. What else is there in its place is left alone.
func TestEmptyOwnerToken(t *testing.T) {
	data := t.TempDir()
	folderWith(t, data, "one")
	path := filepath.Join(data, "owner.token")
	for _, text := range []string{"", "\n", strings.Repeat("\x00", 48)} {
		put(t, path, text)
		if _, err := locate.ReadOwnerToken(data); err == nil {
			t.Errorf("%q opens something", text)
		}
		folderWith(t, data)
		first, err := locate.ReadOwnerToken(data)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || len(first) < 40 || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v, %v", text, info, err, statErr)
		}
		folderWith(t, data)
		if again, err := locate.ReadOwnerToken(data); err != nil || again != first {
			t.Errorf("%q: it does not stay: %v", text, err)
		}
	}
	refused := func(what string) {
		t.Helper()
		a, err := begin(t, data, app.Options{}, quietLog)
		if err == nil {
			finish(t, a)
			t.Errorf("%s is replaced", what)
		}
	}
	put(t, path, "not a token")
	refused("a file that holds something else")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.DevNull, path); err == nil {
		refused("a link that somebody made")
	}
}

// hotJournal makes a copy of a database as a kill leaves it in the middle of a
// transaction of a database without a write-ahead log: half changed, with the
// journal that takes it back.
func hotJournal(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(t.TempDir(), "work.db")
	put(t, work, string(text))
	db, err := sql.Open("sqlite", "file:"+work)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{
		"PRAGMA journal_mode = DELETE", "PRAGMA cache_size = 2", "BEGIN IMMEDIATE", "CREATE TABLE half (x)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO half SELECT randomblob(1000) FROM n",
		"DELETE FROM goose_db_version",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for _, suffix := range []string{"", "-journal"} {
		text, err := os.ReadFile(work + suffix)
		if err != nil || len(text) == 0 {
			t.Fatal("no journal is there to test with", err)
		}
		put(t, to+suffix, string(text))
	}
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
}

// TestHotJournalIsTakenBack holds B2: a database with a hot journal was called
// damaged, at each start, though every SQLite takes it back.
func TestHotJournalIsTakenBack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "learning.db")
	hotJournal(t, databasetest.Made(t, t.TempDir(), "learning"), path)
	hotJournal(t, databasetest.Made(t, t.TempDir(), "operational"), filepath.Join(dir, "operational.db"))
	if found, err := app.VerifyFolder(t.Context(), dir); err != nil || found.OK || strings.Contains(strings.Join(found.Problems, " "), "damaged") || !strings.Contains(found.Problems[0], "next start") {
		t.Errorf("verify says %q, %v", found.Problems, err)
	}
	folderWith(t, dir)
	db := openReadOnly(t, dir, "learning")
	defer db.Close()
	if n := column[int](t, db, "SELECT count(*) FROM events"); n[0] != 50 {
		t.Errorf("%d events of 50", n[0])
	}
	if n := column[int](t, db, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'"); n[0] != 0 {
		t.Error("half a transaction is there")
	}
}

// TestRestoredIsWriteAhead holds B2: what a restore puts in its place was turned
// into a write-ahead database there, by the first start, which a kill could cut.
func TestRestoredIsWriteAhead(t *testing.T) {
	data, to := t.TempDir(), filepath.Join(t.TempDir(), "to")
	folderWith(t, data, "one")
	if _, err := app.Restore(t.Context(), bytes.NewReader(backupOf(t, data, app.BackupOptions{})), to, app.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"learning.db", "operational.db"} {
		text, err := os.ReadFile(filepath.Join(to, name))
		if err != nil || !bytes.Equal(text[18:20], []byte{2, 2}) { // https://www.sqlite.org/fileformat.html#file_format_version_numbers
			t.Errorf("%s: %v, %v", name, text[18:20], err)
		}
	}
}

// olderFolder makes a folder as the first version left it, with an entry.
func olderFolder(t *testing.T, data string) {
	t.Helper()
	for name, id := range map[string]int{"learning": 0x534b524c, "operational": 0x534b524f} {
		files, err := migrations.FS(name, "sqlite")
		if err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", "file:"+filepath.Join(data, name+".db"))
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		steps, err := goose.NewProvider(goose.DialectSQLite3, db, files)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA journal_mode = WAL", id)); err != nil {
			t.Fatal(err)
		}
		if _, err := steps.UpTo(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if name == "learning" {
			if _, err := db.Exec(`INSERT INTO knowledge (id, category, title, content, trust, content_hash, created_at, updated_at)
				VALUES ('01a1ffc1-f63e-70cd-93b8-1771a359a6a2', 'gotcha', 'old', 'It is old.', 'agent', x'00', 1, 1)`); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := app.OwnerToken(data); err != nil {
		t.Fatal(err)
	}
}

// TestUpgradeWhoseCopyIsThere holds B5: a kill during an upgrade left half a copy
// under the name of a whole one, and a restart within the same second was refused over it.
func TestUpgradeWhoseCopyIsThere(t *testing.T) {
	data, now := t.TempDir(), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	olderFolder(t, data)
	put(t, filepath.Join(data, "learning.db.v1-20261122T120000Z.backup"), "half a copy")
	put(t, filepath.Join(data, "learning.db.v1-20261122T120000Z.backup.partial"), "half a copy")
	put(t, filepath.Join(data, "operational.db.v1-20261121T120000Z.backup.partial"), "half a copy")
	a, err := begin(t, data, app.Options{Now: func() time.Time { return now }}, quietLog)
	if err != nil {
		t.Fatal(err)
	}
	finish(t, a)
	if got := titlesIn(t, data); !slices.Equal(got, []string{"old"}) {
		t.Errorf("%q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(data, "*.partial")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	copied := filepath.Join(data, "learning.db.v1-20261122T120000Z-2.backup")
	db, err := sql.Open("sqlite", "file:"+copied+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := column[string](t, db, "SELECT title FROM knowledge"); !slices.Equal(got, []string{"old"}) {
		t.Errorf("the copy holds %q", got)
	}
}
