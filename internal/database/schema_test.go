package database_test

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/migrations"
)

var update = flag.Bool("update", false, "write what is compared with")

// stepped makes a database by every step up to a version, 0: all, as an older one is brought up to date.
func stepped(t *testing.T, name, path string, version int64) error {
	t.Helper()
	db, err := database.Model(t.Context(), name, path, version)
	if err != nil {
		return err
	}
	return db.Close()
}

// TestSchema: an empty database that is made by the schema, in one transaction, is the one that the
// steps make one by one: the same tables, indexes and rows, and the same record of steps.
// With -update it writes the schema.
func TestSchema(t *testing.T) {
	for _, name := range migrations.Databases() {
		path := filepath.Join(t.TempDir(), name+".db")
		if err := stepped(t, name, path, 0); err != nil {
			t.Fatal(err)
		}
		file := "../../migrations/" + name + "_sqlite.sql"
		wanted := fmt.Sprintf("-- The schema of %s.db after all its steps. Generated: go test ./internal/database -run TestSchema -update\n%s", name, script(t, path))
		if *update {
			if err := os.WriteFile(file, []byte(wanted), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, string(text)); diff != "" {
			t.Errorf("%s is not what the steps make: run go test ./internal/database -run TestSchema -update\n%s", file, diff)
		}
		made := databasetest.Made(t, t.TempDir(), name)
		databasetest.Edit(t, made, "DELETE FROM events", "DELETE FROM sqlite_sequence WHERE name = 'events'") // what made wrote
		if diff := cmp.Diff(script(t, path), script(t, made)); diff != "" {
			t.Errorf("%s is made otherwise than by its steps (-steps +made):\n%s", name, diff)
		}
		for _, pragma := range []string{"application_id", "user_version", "page_size", "encoding", "auto_vacuum"} {
			if a, b := one(t, path, "PRAGMA "+pragma), one(t, made, "PRAGMA "+pragma); a != b && pragma != "application_id" {
				t.Errorf("%s: %s is %s, and %s after the steps", name, pragma, b, a)
			}
		}
		if fault := one(t, made, "PRAGMA integrity_check"); fault != "ok" {
			t.Error(name, fault)
		}
	}
}

// script writes a closed database as the statements that would make it. The times of steps are left out.
func script(t *testing.T, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var b strings.Builder
	tables := []string{}
	for _, row := range rowsOf(t, db, "SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid") {
		fmt.Fprintf(&b, "%s;\n", row[2])
		if row[0] == "table" {
			tables = append(tables, row[1])
		}
	}
	for _, table := range tables {
		var columns, values []string
		for _, column := range rowsOf(t, db, "SELECT name FROM pragma_table_info('"+table+"') WHERE name <> 'tstamp'") {
			columns, values = append(columns, column[0]), append(values, "quote("+column[0]+")")
		}
		for _, row := range rowsOf(t, db, "SELECT "+strings.Join(values, ", ")+" FROM "+table+" ORDER BY "+columns[0]) {
			fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES (%s);\n", table, strings.Join(columns, ", "), strings.Join(row, ", "))
		}
	}
	return b.String()
}

func rowsOf(t *testing.T, db *sql.DB, query string) (list [][]string) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row, into := make([]string, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(query, err)
		}
		list = append(list, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func one(t *testing.T, path, query string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return rowsOf(t, db, query)[0][0]
}
