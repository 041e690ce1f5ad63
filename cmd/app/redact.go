package app

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillrouter/cmd/locate"
	"skillrouter/internal/check"
	"skillrouter/internal/database"
	"skillrouter/internal/errs"
	"skillrouter/internal/redact"
	"skillrouter/learning"
	"skillrouter/learning/lesson"
)

// redactBatch is how many rows one transaction of a sweep reads. A kill loses
// at most the work of one, which is done again.
const redactBatch = 500

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
	if there := present(data); len(there) == 0 && !restoring(data) {
		return s, errs.Errorf(errs.NotFound, "%s holds no databases", data)
	}
	lock, err := Acquire(data, locate.Holder{PID: os.Getpid(), Started: time.Now()})
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := finishRestore(data); err != nil { // what a restore replaced is nobody's any more
		return s, err
	}
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
	if apply { // what searches keep of the texts is made anew at the next start
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
	key     []string // what names a row: rowid, or the primary key
	columns []string
}

func textTables(ctx context.Context, db *sql.DB) ([]textTable, error) {
	rows, err := db.QueryContext(ctx, `SELECT t.name, t.sql, c.name, c.type, c.pk FROM sqlite_schema t, pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> 'goose_db_version' ORDER BY t.name, c.cid`)
	var tables []textTable
	err = each(rows, err).visit(func() error {
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
			t.key = append(t.key, column)
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
	key   []any
	set   map[string]any
	texts map[string]string // every text of the row, as it is to be
}

// sweep goes through a table, and writes each batch in a transaction of its own.
func (t textTable) sweep(ctx context.Context, db *sql.DB, apply bool, found *SweptTable) error {
	for after := int64(0); ; {
		changes, last, more, err := t.read(ctx, db, after, found)
		if err != nil {
			return err
		}
		found.Rows += int64(len(changes))
		if apply && len(changes) > 0 {
			if err := t.write(ctx, db, changes); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
		after = last
	}
}

// read returns the changes of the rows behind after. A table without row
// numbers is small, or holds names alone, and is read at once.
func (t textTable) read(ctx context.Context, db *sql.DB, after int64, found *SweptTable) (changes []sweptRow, last int64, more bool, err error) {
	query := fmt.Sprintf("SELECT %s FROM %s", strings.Join(slices.Concat(t.key, quotedNames(t.columns)), ", "), t.name)
	numbered := t.key[0] == "rowid"
	if numbered {
		query += fmt.Sprintf(" WHERE rowid > %d ORDER BY rowid LIMIT %d", after, redactBatch)
	}
	rows, err := db.QueryContext(ctx, query)
	count := 0
	err = each(rows, err).visit(func() error {
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
		count++
		if numbered {
			last, _ = key[0].(int64)
		}
		if row := t.clean(key, texts, found); row.set != nil {
			changes = append(changes, row)
		}
		return nil
	})
	return changes, last, numbered && count == redactBatch, err
}

// clean cuts the secrets out of a row; set stays nil if there are none.
func (t textTable) clean(key []any, texts []sql.NullString, found *SweptTable) sweptRow {
	row := sweptRow{key: key, texts: map[string]string{}}
	var redaction redact.Redaction
	clean := make([]string, len(texts))
	for round := range 2 { // what is found in a later column is cut out of the earlier ones too
		for i, text := range texts {
			if round == 0 {
				clean[i] = text.String
			}
			clean[i] = redactColumn(&redaction, t.columns[i], clean[i])
		}
		if len(redaction.Kinds()) == 0 {
			break
		}
	}
	for i, column := range t.columns {
		row.texts[column] = clean[i]
		if clean[i] == texts[i].String {
			continue
		}
		if row.set == nil {
			row.set = map[string]any{}
		}
		row.set[column] = clean[i]
		if !slices.Contains(found.Columns, column) {
			found.Columns = append(found.Columns, column)
		}
	}
	for _, kind := range redaction.Kinds() {
		if row.set != nil && !slices.Contains(found.Kinds, kind) {
			found.Kinds = append(found.Kinds, kind)
		}
	}
	t.fingerprint(&row)
	return row
}

// fingerprint keeps what is computed of a row's texts in step with them.
func (t textTable) fingerprint(row *sweptRow) {
	if row.set == nil {
		return
	}
	switch t.name {
	case "knowledge":
		print := learning.FingerprintOf(row.texts["project"], row.texts["title"], row.texts["content"])
		row.set["content_hash"] = print[:]
	case "lessons":
		print := lesson.FingerprintOf(learning.LessonType(row.texts["lesson_type"]), row.texts["domain"], row.texts["title"])
		row.set["fingerprint"] = print[:]
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
			_, err := tx.ExecContext(ctx, t.update(row), t.arguments(row, try)...)
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

func (t textTable) update(row sweptRow) string {
	var set, where []string
	for _, column := range slices.Sorted(maps.Keys(row.set)) {
		set = append(set, quotedName(column)+" = ?")
	}
	for _, column := range t.key {
		where = append(where, quotedName(column)+" = ?")
	}
	return fmt.Sprintf("UPDATE %s SET %s WHERE %s", t.name, strings.Join(set, ", "), strings.Join(where, " AND "))
}

func (t textTable) arguments(row sweptRow, try int) (list []any) {
	for _, column := range slices.Sorted(maps.Keys(row.set)) {
		value := row.set[column]
		if text, is := value.(string); is && try > 1 && nameColumn(column) {
			value = fmt.Sprintf("%s-%d", text, try)
		}
		list = append(list, value)
	}
	return append(list, row.key...)
}

func quotedName(name string) string {
	if name == "rowid" {
		return name
	}
	return `"` + name + `"`
}

func quotedNames(names []string) []string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quotedName(name)
	}
	return quoted
}
