package cli

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/skillrouter/skillrouter/cmd/records"
	"github.com/skillrouter/skillrouter/router/exchange"
)

// documentOf reads an SQLite database as the JSON document that its program exports: an object of lists by their names, or
// one list that has no name. A table that is not there gives no list. Whoever has read enough closes it.
func documentOf(path string, tables []exchange.Table) io.ReadCloser {
	from, to := io.Pipe()
	go func() { to.CloseWithError(writeTables(to, path, tables)) }() // it ends with the reader
	return from
}

func writeTables(w io.Writer, path string, tables []exchange.Table) (err error) {
	db, err := records.OpenDatabase(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	named := len(tables) == 0 || tables[0].Name != ""
	before := "{"
	for _, t := range tables {
		rows, err := db.Query(t.Query)
		if err != nil && named && strings.Contains(err.Error(), "no such table") {
			continue
		}
		if err != nil {
			return err
		}
		if named {
			_, err = fmt.Fprintf(w, "%s%q:", before, t.Name)
			before = ","
		}
		if err := errors.Join(err, writeRows(w, rows), rows.Close()); err != nil {
			return err
		}
	}
	if named {
		_, err = io.WriteString(w, strings.TrimPrefix(before, ",")+"}")
	}
	return err
}

// writeRows writes rows as a list of objects by the names of their columns.
func writeRows(w io.Writer, rows *sql.Rows) error {
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	before, encoder := "[", json.NewEncoder(w)
	for rows.Next() {
		values, row := make([]any, len(names)), map[string]any{}
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			return err
		}
		for i, name := range names {
			row[name] = *values[i].(*any)
			if text, is := row[name].([]byte); is {
				row[name] = string(text)
			}
		}
		_, err := io.WriteString(w, before)
		if err := errors.Join(err, encoder.Encode(row)); err != nil {
			return err
		}
		before = ","
	}
	_, err = io.WriteString(w, strings.TrimPrefix(before, ",")+"]")
	return errors.Join(rows.Err(), err)
}
