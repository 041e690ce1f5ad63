package app

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"skillrouter/internal/database"
	"skillrouter/learning"
)

// answered are the rows that a query answers, or why it answers none.
type answered struct {
	rows *sql.Rows
	err  error
}

// each is what a query answers, for visit.
func each(rows *sql.Rows, err error) answered { return answered{rows, err} }

// visit goes over the rows, and closes them.
func (a answered) visit(visit func() error) error {
	if a.err != nil {
		return a.err
	}
	defer a.rows.Close()
	for a.rows.Next() {
		if err := visit(); err != nil {
			return err
		}
	}
	return a.rows.Err()
}

// number reads one number.
func number(ctx context.Context, db querier, query string, into *int64) error {
	return db.QueryRowContext(ctx, query).Scan(into)
}

// contentsOf counts what a database holds, in one state of it.
func contentsOf(ctx context.Context, path string) (c Contents, err error) {
	db, err := database.OpenForReading(path)
	if err != nil {
		return c, err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return c, err
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	if c.Schema, err = database.Version(ctx, tx); err != nil {
		return c, err
	}
	if err := tx.QueryRowContext(ctx, "SELECT ifnull(max(seq), 0) FROM events").Scan(&c.LastEvent); err != nil {
		return c, err
	}
	tables, err := texts(ctx, tx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'goose_db_version' ORDER BY name")
	if err != nil {
		return c, err
	}
	c.Rows = map[string]int64{}
	for _, table := range tables {
		var n int64
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM "+quoteName(table)).Scan(&n); err != nil {
			return c, err
		}
		c.Rows[table] = n
	}
	if !slices.Contains(tables, "cursors") {
		return c, nil
	}
	rows, err := tx.QueryContext(ctx, "SELECT name, seq FROM cursors")
	c.Cursors = map[string]int64{}
	return c, each(rows, err).visit(func() error {
		var name string
		var seq int64
		err := rows.Scan(&name, &seq)
		c.Cursors[name] = seq
		return err
	})
}

// hashBatch is how many rows are compared with their hashes in one read, so that
// a router that writes meanwhile need not keep an old state for long.
const hashBatch = 500

// maxAltered bounds how many rows are named that are not as they were stored.
const maxAltered = 20

// hashesCompared says how a comparison of rows with their hashes went.
type hashesCompared struct {
	rows    int64    // that were compared
	wrong   int64    // that are not as they were stored
	altered []string // the first of these, by id
}

// compareHashes holds every row of a database that has a hash of its content
// against it: knowledge, in learning.db. It goes through them in small reads.
func compareHashes(ctx context.Context, db querier) (c hashesCompared, err error) {
	for last := int64(-1 << 62); ; {
		rows, err := db.QueryContext(ctx, "SELECT num, id, project, title, content, content_hash FROM knowledge WHERE num > ? ORDER BY num LIMIT ?", last, hashBatch)
		n := 0
		if err := each(rows, err).visit(func() error {
			var id, project, title, content string
			var hash []byte
			if err := rows.Scan(&last, &id, &project, &title, &content, &hash); err != nil {
				return err
			}
			n++
			want := learning.FingerprintOf(project, title, content)
			if c.rows++; bytes.Equal(hash, want[:]) {
				return nil
			}
			if c.wrong++; len(c.altered) < maxAltered {
				c.altered = append(c.altered, id)
			}
			return nil
		}); err != nil || n < hashBatch {
			return c, err
		}
	}
}

// String names the rows that are not as they were stored; it is empty if all are.
func (c hashesCompared) String() string {
	if c.wrong == 0 {
		return ""
	}
	said := fmt.Sprintf("%d of %d entries of knowledge are not as they were stored (their content and their hash differ): %s", c.wrong, c.rows, strings.Join(c.altered, ", "))
	if more := c.wrong - int64(len(c.altered)); more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	return said
}

// same tells whether two databases hold the same, and else what they differ in.
func (c Contents) same(other Contents) (bool, string) {
	switch {
	case c.Schema != other.Schema:
		return false, fmt.Sprintf("schema version %d and not %d", other.Schema, c.Schema)
	case c.LastEvent != other.LastEvent:
		return false, fmt.Sprintf("last event %d and not %d", other.LastEvent, c.LastEvent)
	}
	for _, table := range slices.Sorted(maps.Keys(c.Rows)) {
		if c.Rows[table] != other.Rows[table] {
			return false, fmt.Sprintf("%d rows in %s and not %d", other.Rows[table], table, c.Rows[table])
		}
	}
	if len(c.Rows) != len(other.Rows) {
		return false, fmt.Sprintf("%d tables and not %d", len(other.Rows), len(c.Rows))
	}
	return true, ""
}

// examine looks a database file through from end to end, and changes nothing
// of it. It returns what is wrong with it, in words; err is of not being able to look.
func examine(ctx context.Context, name, path string) (c Contents, wrong []string, err error) {
	if err := database.Inspect(ctx, name, path); err != nil {
		return c, []string{strings.TrimSuffix(strings.TrimPrefix(err.Error(), path+" "), " It was not changed.")}, nil
	}
	db, err := database.OpenForReading(path)
	if err != nil {
		return c, nil, err
	}
	defer db.Close()
	for _, check := range []struct{ pragma, well string }{{"integrity_check(1)", "ok"}, {"foreign_key_check", ""}} {
		found, err := texts(ctx, db, "PRAGMA "+check.pragma)
		if ctx.Err() != nil {
			return c, nil, ctx.Err()
		}
		verdict := strings.Join(found[:min(len(found), 1)], "")
		if err != nil || verdict != check.well {
			wrong = append(wrong, check.pragma+" says "+database.Fault(err, verdict))
		}
	}
	if len(wrong) > 0 {
		return c, wrong, nil
	}
	if c, err = contentsOf(ctx, path); err != nil {
		return c, []string{err.Error()}, ctx.Err()
	}
	foreign, err := foreignSchema(ctx, name, db, c.Schema)
	if err != nil {
		return c, nil, err
	}
	if foreign != "" {
		wrong = append(wrong, foreign)
	}
	return c, wrong, nil
}

// foreignSchema compares a database's tables, indexes, triggers and views with
// those that its migrations make, and names the first that differs: a file
// that somebody else made could bring triggers of its own.
func foreignSchema(ctx context.Context, name string, db *sql.DB, version int64) (string, error) {
	const list = "SELECT type || ' ' || name || char(10) || ifnull(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name"
	there, err := texts(ctx, db, list)
	if err != nil {
		return "", err
	}
	model, err := database.Model(ctx, name, ":memory:", version)
	if err != nil {
		return "", err
	}
	defer model.Close()
	want, err := texts(ctx, model, list)
	if err != nil {
		return "", err
	}
	for _, side := range []struct {
		has, other []string
		what       string
	}{{there, want, "is not as schema version %d has it"}, {want, there, "of schema version %d is missing or another"}} {
		for _, object := range side.has {
			if !slices.Contains(side.other, object) {
				title, _, _ := strings.Cut(object, "\n")
				return title + " " + fmt.Sprintf(side.what, version), nil
			}
		}
	}
	return "", nil
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// texts reads the first column of what a query answers.
func texts(ctx context.Context, db querier, query string) (found []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	err = each(rows, err).visit(func() error {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		var text sql.NullString
		row := make([]any, len(columns))
		row[0] = &text
		for i := 1; i < len(row); i++ {
			row[i] = new(any)
		}
		if err := rows.Scan(row...); err != nil {
			return err
		}
		found = append(found, text.String)
		return nil
	})
	return found, err
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
