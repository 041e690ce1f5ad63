package app

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Swept says what a sweep for secrets found in a data folder. It never holds a secret.
type Swept struct {
	Data    string       `json:"data"`
	Applied bool         `json:"applied"` // false: nothing was changed
	Tables  []SweptTable `json:"tables"`  // those with rows that held secrets
	Rows    int64        `json:"rows"`    // of all tables
}

// SweptTable is what a sweep found in one table.
type SweptTable struct {
	Database string   `json:"database"`
	Table    string   `json:"table"`
	Rows     int64    `json:"rows"`    // that held a secret
	Columns  []string `json:"columns"` // where it stood
	Kinds    []string `json:"kinds"`
}

// RedactFolder looks for secrets in every text of both databases of a data
// folder that no router holds, and cuts them out if apply is true: as they would
// be if the texts were stored today. A name that holds one is replaced, everywhere by
// the same. It may be ended at any moment and run again. Afterwards no page of the
// databases and of their logs holds what was cut out. Applying it takes the passphrase, if one is set. Backups and files of
// procedures are left as they are.
func RedactFolder(ctx context.Context, data string, apply bool, passphrase func(ctx context.Context) (string, error)) (s Swept, err error) {
	s = Swept{Data: data, Applied: apply, Tables: []SweptTable{}}
	if there := present(ctx, data); len(there) == 0 && !restoring(data) {
		return s, errs.Errorf(errs.NotFound, "%s holds no databases", data)
	}
	lock, err := takeFolder(data)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if apply {
		if err := provePerson(ctx, data, passphrase); err != nil {
			return s, err
		}
	}
	for _, name := range database.Names() {
		path := filepath.Join(data, name+".db")
		if err := database.Inspect(ctx, name, path); err != nil {
			return s, err
		}
		if err := s.database(ctx, name, path); err != nil {
			return s, fmt.Errorf("%s: %w", name, err)
		}
	}
	if apply { // what an earlier version kept of the texts beside them
		return s, os.RemoveAll(filepath.Join(data, indexesFolder))
	}
	return s, nil
}

func (s *Swept) database(ctx context.Context, name, path string) (err error) {
	db, err := database.OpenForReading(path)
	if s.Applied {
		// Names are replaced in one table after the other, and fit again at the end.
		err = errors.Join(err, db.Close())
		db, err = database.OpenForWriting(path, database.Pragma{Name: "foreign_keys", Set: "0"}, database.Pragma{Name: "secure_delete", Set: "1"})
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tables, err := textTables(ctx, db)
	if err != nil {
		return err
	}
	for _, table := range tables {
		found := SweptTable{Database: name, Table: table.name, Columns: []string{}, Kinds: []string{}}
		if err := table.sweep(ctx, db, s.Applied, &found); err != nil {
			return fmt.Errorf("table %s: %w", table.name, err)
		}
		if found.Rows > 0 {
			slices.Sort(found.Columns)
			slices.Sort(found.Kinds)
			s.Tables = append(s.Tables, found)
			s.Rows += found.Rows
		}
	}
	if !s.Applied {
		return nil
	}
	// Also where nothing was found now: a sweep before may have been cut off here.
	for _, statement := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// textTable is a table with its columns of text.
type textTable struct {
	name    string
	key     []string // what names a row, as SQL has it: rowid, or the primary key
	columns []string
}

func textTables(ctx context.Context, db *sql.DB) ([]textTable, error) {
	rows, err := db.QueryContext(ctx, `SELECT t.name, t.sql, c.name, c.type, c.pk FROM sqlite_schema t, pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> 'goose_db_version' ORDER BY t.name, c.cid`)
	var tables []textTable
	err = visit(rows, err, func() error {
		var table, made, column, kind string
		var primary int
		if err := rows.Scan(&table, &made, &column, &kind, &primary); err != nil {
			return err
		}
		if len(tables) == 0 || tables[len(tables)-1].name != table {
			tables = append(tables, textTable{name: table})
		}
		t := &tables[len(tables)-1]
		if !strings.Contains(strings.ToUpper(made), "WITHOUT ROWID") {
			t.key = []string{"rowid"}
		} else if primary > 0 {
			t.key = append(t.key, quoteName(column))
		}
		if kind == "TEXT" {
			t.columns = append(t.columns, column)
		}
		return nil
	})
	return slices.DeleteFunc(tables, func(t textTable) bool { return len(t.columns) == 0 }), err
}

// sweptRow is a row as it is to be.
type sweptRow struct {
	key    []any
	names  []string // of the columns that change
	values []any    // that they are to have
}

// sweep goes through a table, and writes what changes in one transaction: few rows hold secrets. A kill loses its work, which is done again.
func (t textTable) sweep(ctx context.Context, db *sql.DB, apply bool, found *SweptTable) error {
	changes, err := t.read(ctx, db, found)
	found.Rows = int64(len(changes))
	if err == nil && apply && len(changes) > 0 {
		err = t.write(ctx, db, changes)
	}
	return err
}

// read returns the rows that are to change.
func (t textTable) read(ctx context.Context, db *sql.DB, found *SweptTable) (changes []sweptRow, err error) {
	list := slices.Clone(t.key)
	for _, column := range t.columns {
		list = append(list, quoteName(column))
	}
	rows, err := db.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s", strings.Join(list, ", "), t.name))
	return changes, visit(rows, err, func() error {
		key, texts := make([]any, len(t.key)), make([]sql.NullString, len(t.columns))
		into := make([]any, 0, len(key)+len(texts))
		for i := range key {
			into = append(into, &key[i])
		}
		for i := range texts {
			into = append(into, &texts[i])
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if row := t.clean(key, texts, found); row.names != nil {
			changes = append(changes, row)
		}
		return nil
	})
}

// clean cuts the secrets out of a row, in which nothing changes if there are none.
func (t textTable) clean(key []any, texts []sql.NullString, found *SweptTable) sweptRow {
	var redaction redact.Redaction
	clean := map[string]string{}
	for i, column := range t.columns {
		clean[column] = redactColumn(&redaction, column, texts[i].String)
	}
	kinds := redaction.Kinds()
	row := sweptRow{key: key}
	if len(kinds) == 0 {
		return row
	}
	for i, column := range t.columns { // what was found in a later column is cut out of the earlier ones too
		if clean[column] = redactColumn(&redaction, column, clean[column]); clean[column] != texts[i].String {
			row.set(column, clean[column])
			add(&found.Columns, column)
		}
	}
	if row.names == nil {
		return row
	}
	for _, kind := range redaction.Kinds() {
		add(&found.Kinds, kind)
	}
	switch t.name { // what is computed of a row's texts is kept in step with them
	case "knowledge":
		print := learning.FingerprintOf(clean["project"], clean["title"], clean["content"])
		row.set("content_hash", print[:])
	case "lessons":
		print := lesson.FingerprintOf(learning.LessonType(clean["lesson_type"]), clean["domain"], clean["title"])
		row.set("fingerprint", print[:])
	}
	return row
}

func (r *sweptRow) set(column string, value any) {
	r.names, r.values = append(r.names, column), append(r.values, value)
}

// add adds a text to a list that does not have it.
func add(list *[]string, text string) {
	if !slices.Contains(*list, text) {
		*list = append(*list, text)
	}
}

// redactColumn cuts the secrets out of one text: JSON stays JSON, and a name a name.
func redactColumn(redaction *redact.Redaction, column, text string) string {
	switch {
	case text == "":
		return text
	case (text[0] == '{' || text[0] == '[' || text[0] == '"') && json.Valid([]byte(text)):
		return string(redaction.JSON([]byte(text)))
	case nameColumn(column):
		if check.NoSecret(column, text) == nil {
			return text
		}
		var own redact.Redaction
		_ = own.Cut(text)
		_ = redaction.Cut(text) // it is cut out of the texts beside it too
		return "redacted-" + strings.Join(own.Kinds(), "-")
	}
	return redaction.Cut(text)
}

// nameColumn tells whether a column holds names, which other rows may refer to.
func nameColumn(column string) bool {
	switch column {
	case "id", "key", "name", "persona", "category", "domain", "project", "subject", "ref", "author", "previous", "step", "operation_type":
		return true
	}
	return slices.ContainsFunc([]string{"_id", "_key", "_by", "_to", "_agent"}, func(end string) bool { return strings.HasSuffix(column, end) })
}

// write stores a batch of changed rows.
func (t textTable) write(ctx context.Context, db *sql.DB, changes []sweptRow) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to take back
	for _, row := range changes {
		// Two names may become the same one: the second then gets a number.
		for try := 1; ; try++ {
			statement, values := t.update(row, try)
			_, err := tx.ExecContext(ctx, statement, values...)
			if err == nil {
				break
			}
			twin := strings.Contains(err.Error(), "UNIQUE constraint")
			if try == maxSameNames || !twin {
				return errors.New("a row could not be written: " + strings.ReplaceAll(err.Error(), "\n", " "))
			}
		}
	}
	return tx.Commit()
}

// maxSameNames is how many names of one table may hold secrets of one kind.
const maxSameNames = 1000

// update is the statement that changes a row, and its values. At a further try names have a number.
func (t textTable) update(row sweptRow, try int) (statement string, values []any) {
	set := make([]string, len(row.names))
	for i, column := range row.names {
		set[i] = quoteName(column) + " = ?"
		value := row.values[i]
		if text, is := value.(string); is && try > 1 && nameColumn(column) {
			value = fmt.Sprintf("%s-%d", text, try)
		}
		values = append(values, value)
	}
	return fmt.Sprintf("UPDATE %s SET %s WHERE %s = ?", t.name, strings.Join(set, ", "), strings.Join(t.key, " = ? AND ")), append(values, row.key...)
}
