package app_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// oldSecret is the n-th secret that a version before left in the databases.
// All of them end in the same bytes, which are looked for afterwards.
func oldSecret(n int) string { return fmt.Sprintf("ghp_%04d%s", n, leftover) }

const leftover = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"

var (
	oneOf = regexp.MustCompile(`IN \('([^']*)'`)
	// nextColumn begins the next column of the same line.
	nextColumn = regexp.MustCompile(`, *\w+ +(?:TEXT|INTEGER|REAL|BLOB)\b`)
	jsonType   = regexp.MustCompile(`json_type\(\w+\) = '(\w+)'|json_valid`)
)

// fillWithSecrets puts a row into every table of a database whose every text holds a
// secret, all but those that may say one of a few words.
func fillWithSecrets(t *testing.T, path string) (columns int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=foreign_keys(0)&_pragma=ignore_check_constraints(1)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	type column struct{ table, name, kind, check string }
	var all []column
	rows, err := db.Query(`SELECT t.name, t.sql, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT IN ('goose_db_version', 'passphrase') ORDER BY t.name, c.cid`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var c column
		var made string
		if err := rows.Scan(&c.table, &made, &c.name, &c.kind); err != nil {
			t.Fatal(err)
		}
		// A column that a migration added stands behind another on its line.
		if at := regexp.MustCompile(`(?m)(?:^|[\s,(])` + c.name + ` +[A-Z].*`).FindStringIndex(made); at != nil {
			c.check = made[at[0]+1 : at[1]]
			if next := nextColumn.FindStringIndex(c.check); next != nil {
				c.check = c.check[:next[0]]
			}
		}
		all = append(all, c)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for len(all) > 0 {
		var names, marks []string
		var values []any
		table := all[0].table
		for len(all) > 0 && all[0].table == table {
			c := all[0]
			all = all[1:]
			var value any
			switch allowed, shape := oneOf.FindStringSubmatch(c.check), jsonType.FindStringSubmatch(c.check); {
			case c.kind == "INTEGER":
				value = 1
			case c.kind == "REAL":
				value = 0.5
			case c.kind == "BLOB":
				value = []byte{1}
			case allowed != nil:
				value = allowed[1]
			case shape != nil && shape[1] == "array":
				value = `["` + oldSecret(columns) + `"]`
			case shape != nil:
				value = `{"note":"` + oldSecret(columns) + `"}`
			default:
				value = oldSecret(columns)
			}
			if strings.HasSuffix(c.name, "_at") || c.name == "decided_at" || c.name == "next_at" {
				if !strings.Contains(c.check, "NOT NULL") {
					value = nil
				}
			}
			if table == "judgements" && c.name == "ranks" {
				value = nil // there are some if, and only if, it ran
			}
			if text, is := value.(string); is && strings.Contains(text, leftover) {
				columns++
			}
			names, marks, values = append(names, `"`+c.name+`"`), append(marks, "?"), append(values, value)
		}
		if _, err := db.Exec(fmt.Sprintf("INSERT OR REPLACE INTO %s (%s) VALUES (%s)", table, strings.Join(names, ", "), strings.Join(marks, ", ")), values...); err != nil {
			t.Fatalf("table %s: %v", table, err)
		}
	}
	return columns
}

// filesWith lists the files of a folder that hold some bytes.
func filesWith(t *testing.T, dir, want string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(content), []byte(strings.ToLower(want))) {
			names = append(names, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestRedactFolder sweeps databases in which a version before left a secret in
// every text of every table (S4): none is left, not on a free page or in a log
// either, and a second sweep finds nothing.
func TestRedactFolder(t *testing.T) {
	dir := t.TempDir()
	columns := 0
	for _, name := range []string{"learning", "operational"} {
		columns += fillWithSecrets(t, databasetest.Made(t, dir, name))
	}
	if columns < 150 {
		t.Fatalf("only %d columns hold a secret: the test is broken", columns)
	}
	look, err := app.RedactFolder(t.Context(), dir, false, nil)
	if err != nil || look.Applied || len(look.Tables) < 30 || len(filesWith(t, dir, leftover)) != 2 {
		t.Fatalf("a look found %+v, %v; files %v", look, err, filesWith(t, dir, leftover))
	}
	if strings.Contains(fmt.Sprint(look), leftover) {
		t.Error("the report holds a secret")
	}
	if err := os.MkdirAll(filepath.Join(dir, "index"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index", "knowledge.snapshot"), []byte(leftover), 0o600); err != nil {
		t.Fatal(err)
	}
	swept, err := app.RedactFolder(t.Context(), dir, true, nil)
	if err != nil || swept.Rows != look.Rows {
		t.Fatalf("the sweep did %+v, %v; the look found %d rows", swept, err, look.Rows)
	}
	if files := filesWith(t, dir, leftover); len(files) > 0 {
		t.Errorf("secrets are left in %v", files)
	}
	again, err := app.RedactFolder(t.Context(), dir, true, nil)
	if err != nil || again.Rows != 0 {
		t.Errorf("the second sweep found %+v, %v", again, err)
	}
}

// TestRedactFolderCutOff ends a sweep in its middle, and begins it again: what
// it did is done, and the rest is done then.
func TestRedactFolderCutOff(t *testing.T) {
	dir := t.TempDir()
	path := databasetest.Made(t, dir, "operational")
	databasetest.Made(t, dir, "learning")
	var statements []string
	for n := range 1200 {
		statements = append(statements, fmt.Sprintf("INSERT INTO messages (id, from_agent, to_agent, signal, context, created_at) VALUES ('m%d', 'a', 'b', 'message', '{\"text\":\"%s\"}', 0)", n, oldSecret(n)))
	}
	databasetest.Edit(t, path, statements...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := app.RedactFolder(ctx, dir, true, nil); err == nil {
		t.Fatal("a sweep that was ended says that it is done")
	}
	swept, err := app.RedactFolder(t.Context(), dir, true, nil)
	if err != nil || swept.Rows != 1200 || !slices.Equal(swept.Tables[0].Kinds, []string{"github_token"}) {
		t.Fatalf("the sweep did %+v, %v", swept, err)
	}
	if files := filesWith(t, dir, leftover); len(files) > 0 {
		t.Errorf("secrets are left in %v", files)
	}
}

func TestRedactFolderIsRefusedWhileARouterHoldsIt(t *testing.T) {
	dir := t.TempDir()
	databasetest.Made(t, dir, "operational")
	databasetest.Made(t, dir, "learning")
	lock, err := app.Acquire(dir, locate.Holder{PID: os.Getpid(), Listen: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release() //nolint:errcheck // the folder goes with the test
	if _, err := app.RedactFolder(t.Context(), dir, false, nil); errs.CodeOf(err) != errs.Conflict {
		t.Errorf("got %v", err)
	}
}
