package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// Moved is how many rows of a table were moved.
type Moved struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
}

// Move copies the rows of a SQLite database of the same schema into one on a server in which no router has written yet, in
// one transaction: all of it is there, or nothing. Numbers stay, and so do those that were given to rows that are gone.
func Move(ctx context.Context, writer, from *sql.DB) (moved []Moved, err error) {
	given := map[string]int64{}
	if err := each(ctx, from, "SELECT name, seq FROM sqlite_sequence", func(name string, seq int64) { given[name] = seq }); err != nil {
		return nil, err
	}
	conn, err := writer.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close() //nolint:errcheck // it goes back to the pool
	err = conn.Raw(func(raw any) error {
		return pgx.BeginFunc(ctx, raw.(*stdlib.Conn).Conn(), func(tx pgx.Tx) error {
			var commits int64
			if err := tx.QueryRow(ctx, "SELECT seq FROM heads WHERE log = 'commits'").Scan(&commits); err != nil {
				return err
			}
			if commits > 0 {
				return errs.Errorf(errs.Conflict, "the database on the server has a memory of its own already: take another schema_prefix")
			}
			tables, err := inOrder(ctx, tx)
			if err != nil {
				return err
			}
			for _, table := range slices.Backward(tables) { // of a move that was cut off between the two databases
				if _, err := tx.Exec(ctx, "DELETE FROM "+table); err != nil {
					return err
				}
			}
			for _, table := range tables {
				rows, err := moveTable(ctx, tx, from, table, given[table])
				if err != nil {
					return fmt.Errorf("move %s: %w", table, err)
				}
				moved = append(moved, Moved{table, rows})
			}
			for name, seq := range given {
				if _, err := tx.Exec(ctx, "UPDATE heads SET seq = $2 WHERE log = $1", name, seq); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return moved, err
}

func each(ctx context.Context, db *sql.DB, query string, visit func(name string, n int64)) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return err
		}
		visit(name, n)
	}
	return rows.Err()
}

// inOrder lists the tables of the schema, but for its own two, each after those that it refers to.
func inOrder(ctx context.Context, tx pgx.Tx) (ordered []string, err error) {
	rows, err := tx.Query(ctx, `SELECT c.relname, coalesce(string_agg(f.relname, ' '), '') FROM pg_class c
		LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'f' AND k.confrelid <> c.oid LEFT JOIN pg_class f ON f.oid = k.confrelid
		WHERE c.relkind = 'r' AND c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relname NOT IN ('goose_db_version', 'heads', 'nodes', 'writer') GROUP BY c.relname ORDER BY c.relname`)
	if err != nil {
		return nil, err
	}
	type of struct{ Table, Refers string }
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[of])
	if err != nil {
		return nil, err
	}
	for len(tables) > 0 {
		before := len(tables)
		tables = slices.DeleteFunc(tables, func(t of) bool {
			for _, other := range strings.Fields(t.Refers) {
				if !slices.Contains(ordered, other) {
					return false
				}
			}
			ordered = append(ordered, t.Table)
			return true
		})
		if len(tables) == before {
			return nil, fmt.Errorf("the tables %v refer to each other in a circle", tables)
		}
	}
	return ordered, nil
}

// column is one of a table, with its type as PostgreSQL calls it.
type column struct {
	Name, Type string
	Identity   bool
}

// columnsOf describes a table.
func columnsOf(ctx context.Context, tx pgx.Tx, table string) (columns []column, names []string, err error) {
	described, err := tx.Query(ctx, `SELECT column_name, data_type, is_identity = 'YES' FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`, table)
	if err != nil {
		return nil, nil, err
	}
	if columns, err = pgx.CollectRows(described, pgx.RowToStructByPos[column]); err != nil {
		return nil, nil, err
	}
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return columns, names, nil
}

// moveTable copies a table's rows; given is the greatest number that it has given.
func moveTable(ctx context.Context, tx pgx.Tx, from *sql.DB, table string, given int64) (int64, error) {
	columns, names, err := columnsOf(ctx, tx, table)
	if err != nil {
		return 0, err
	}
	rows, err := from.QueryContext(ctx, `SELECT "`+strings.Join(names, `", "`)+`" FROM `+table)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n, err := tx.CopyFrom(ctx, pgx.Identifier{table}, names, &moving{Rows: rows, columns: columns})
	if err != nil {
		return n, err
	}
	for _, c := range columns {
		if !c.Identity {
			continue
		}
		if err := tx.QueryRow(ctx, fmt.Sprintf("SELECT coalesce(max(%s), 0) FROM %s", c.Name, table)).Scan(&n); err != nil {
			return n, err
		}
		if last := max(n, given); last > 0 {
			if _, err := tx.Exec(ctx, "SELECT setval(pg_get_serial_sequence($1, $2), $3)", table, c.Name, last); err != nil {
				return n, err
			}
		}
	}
	var stored int64
	err = tx.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&stored)
	return stored, err
}

// moving turns SQLite's rows into those that PostgreSQL takes.
type moving struct {
	*sql.Rows
	columns []column
}

// Values implements pgx.CopyFromSource.
func (m *moving) Values() ([]any, error) {
	values, into := make([]any, len(m.columns)), make([]any, len(m.columns))
	for i := range into {
		into[i] = &values[i]
	}
	if err := m.Scan(into...); err != nil {
		return nil, err
	}
	for i, c := range m.columns {
		switch v := values[i].(type) {
		case int64:
			switch c.Type {
			case "boolean":
				values[i] = v != 0
			case "double precision":
				values[i] = float64(v)
			}
		case []byte:
			if c.Type == "text" {
				values[i] = string(v)
			}
		}
	}
	return values, nil
}
