package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// changed says which rows a memory of a kind is, so that any change of it can be kept and taken back without knowing what it says.
type changed struct {
	table                  string
	key                    []string // the columns that it is known by, which / joins
	number                 string   // the column by which people may call it too; empty: none
	title, project, author string   // columns; empty: none
	said                   []string // the columns that are kept of a change; none: all that it changed
	unique                 []string // besides the key: no other row of the table may have the same in all of them; none: it may
	own                    []string // columns that follow from files, and are never put back
	children               []child
	follows                func(values map[string]any) // sets what is computed of a row's texts, which redact may have changed since
}

// child is a table whose rows go with a memory.
type child struct {
	table, where string
	by           []string // the memory's columns that where takes
}

// changedKinds is the one place that says which tables belong to a kind.
var changedKinds = map[string]changed{
	"knowledge": {
		table: "knowledge", key: []string{"id"}, title: "title", project: "project", author: "agent_id", unique: []string{"content_hash"},
		said: []string{"title", "content", "category", "tags", "source", "project", "superseded_by"},
		children: []child{
			{"knowledge_versions", "id = ?", []string{"id"}},
			{"verdicts", "item = 'knowledge/' || ?", []string{"id"}},
		},
		follows: func(values map[string]any) {
			print := learning.FingerprintOf(text(values["project"]), text(values["title"]), text(values["content"]))
			values["content_hash"] = print[:]
		},
	},
	"episode": {
		table: "episodes", key: []string{"id"}, number: "num", title: "title", project: "project", author: "agent_id",
		said:     []string{"title", "content", "event_type", "learned", "project", "importance"},
		children: []child{{"pattern_evidence", "kind = 'episode' AND ref = CAST(CAST(? AS BIGINT) AS TEXT)", []string{"num"}}},
	},
	"fact": {
		table: "facts", key: []string{"persona", "key"}, title: "key", author: "agent_id",
		said:     []string{"value", "category", "ttl", "probe", "source"},
		children: []child{{"fact_versions", "persona = ? AND key = ?", []string{"persona", "key"}}},
	},
	"procedure": {
		table: "procedures", key: []string{"persona", "name"}, title: "name", author: "agent_id",
		own:      []string{"file", "file_mark", "file_version"},
		children: []child{{"procedure_steps", "procedure = ?", []string{"num"}}},
	},
	"lesson":   {table: "lessons", key: []string{"id"}, number: "num", title: "title", project: "project", author: "source_agent"},
	"pattern":  {table: "patterns", key: []string{"id"}, number: "num", title: "pattern_name"},
	"proposal": {table: "proposals", key: []string{"id"}, title: "content"},
	"incident": {table: "incidents", key: []string{"id"}, title: "id", project: "project", said: []string{"body"}},
	"shared":   {table: "shared", key: []string{"id", "project"}, title: "path", project: "project", author: "author"},
}

// find is the condition that finds the memory which a ref names.
func (k changed) find(ref string) (where string, args []any) {
	if number, err := strconv.ParseInt(ref, 10, 64); err == nil && k.number != "" {
		return k.number + " = ?", []any{number}
	}
	if k.table == "incidents" {
		number, _ := history.NumberOf(ref)
		return "id = ?", []any{number}
	}
	parts := strings.SplitN(ref, "/", len(k.key))
	return strings.Join(k.key, " = ? AND ") + " = ?", append(table.Anys(parts), make([]any, len(k.key)-len(parts))...)
}

// tableRow is a row of a table, by its columns.
type tableRow struct {
	table  string
	values map[string]any
}

// rowsOf reads the rows that a condition selects, as JSON holds them.
func rowsOf(db *gorm.DB, of, where string, args ...any) (found []tableRow, err error) {
	var columns []string
	err = table.Each(table.Query(db, "SELECT * FROM "+of+" WHERE "+where, args...)).Visit(func(rows *sql.Rows) (_ bool, err error) {
		if columns == nil {
			if columns, err = rows.Columns(); err != nil {
				return false, err
			}
		}
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return false, err
		}
		row := tableRow{of, make(map[string]any, len(columns))}
		for i, column := range columns {
			row.values[column] = values[i]
			if blob, is := values[i].([]byte); is {
				row.values[column] = map[string]any{"hex": hex.EncodeToString(blob)}
			}
		}
		found = append(found, row)
		return true, nil
	})
	return found, err
}

// rows reads the rows of a memory, its own first; none: there is no such memory.
func (k changed) rows(db *gorm.DB, ref string) ([]tableRow, error) {
	where, args := k.find(ref)
	rows, err := rowsOf(db, k.table, where, args...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	for _, c := range k.children {
		var args []any
		for _, column := range c.by {
			args = append(args, rows[0].values[column])
		}
		more, err := rowsOf(db, c.table, c.where, args...)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// text is a value as people write it, or as JSON has it.
func text(value any) string {
	if s, is := value.(string); is {
		return s
	}
	said, _ := json.Marshal(value) // it was read from a column
	return string(said)
}

// became says what a change made of a memory's rows; nothing if it changed nothing that is kept.
func (k changed) became(before, after []tableRow, deleted bool) (rows []learning.RowWas) {
	if len(before) == 0 {
		return []learning.RowWas{{Table: k.table, Became: after[0].values}}
	}
	if len(after) > 0 {
		was, now := map[string]any{}, map[string]any{}
		for column, value := range before[0].values {
			if text(value) != text(after[0].values[column]) && (len(k.said) == 0 || slices.Contains(k.said, column)) {
				was[column], now[column] = value, after[0].values[column]
			}
		}
		if len(was) > 0 {
			rows = append(rows, learning.RowWas{Table: k.table, Was: was, Became: now})
		}
		before = before[1:]
	}
	for _, row := range before {
		there := slices.ContainsFunc(after, func(a tableRow) bool { return a.table == row.table && text(a.values) == text(row.values) })
		if deleted && !there {
			rows = append(rows, learning.RowWas{Table: row.table, Was: row.values})
		}
	}
	return rows
}

// noted is a change that keeps what was before it, if its context says so.
func noted(ctx context.Context, apply func(tx *gorm.DB) error) func(tx *gorm.DB) error {
	note := learning.NoteOf(ctx)
	switch {
	case note == nil:
		return apply
	case note.TakesBack != nil:
		return func(tx *gorm.DB) error {
			for _, b := range note.TakesBack {
				if err := takeBack(tx, b); err != nil {
					return err
				}
			}
			return apply(tx)
		}
	}
	k := changedKinds[note.Kind]
	return func(tx *gorm.DB) error {
		var all []learning.Change
		before := make([][]tableRow, len(note.IDs))
		for i, id := range note.IDs {
			var err error
			if before[i], err = k.rows(tx, id); err != nil {
				return err
			}
		}
		if err := apply(tx); err != nil {
			return err
		}
		for i, id := range note.IDs {
			if len(before[i]) == 0 && note.Kind != "shared" { // what is new is deleted where it is; of what was shared a decision is
				continue
			}
			after, err := k.rows(tx, id)
			if err != nil {
				return err
			}
			either := slices.Concat(before[i], after)
			if len(either) == 0 {
				continue
			}
			if rows := k.became(before[i], after, note.Operation == learning.Deleted); len(rows) > 0 {
				all = append(all, k.change(note, id, either[0].values, rows))
			}
		}
		_, err := changes.InsertAll(tx, all, "")
		return err
	}
}

// forgetChange removes a change that is taken back.
func forgetChange(tx *gorm.DB, number int64) error {
	gone, err := table.Affected(table.Exec(tx, "DELETE FROM changes WHERE num = ?", number))
	if err == nil && gone == 0 {
		err = noChange()
	}
	return err
}

func noChange() error {
	return errs.Errorf(errs.NotFound, "there is no such change that can be taken back: it is taken back already, or older than %d days", int(learning.KeepChanges.Hours()/24))
}

// maxChangeTitle bounds the title of a change, in bytes.
const maxChangeTitle = 200

func (k changed) change(note *learning.Note, id string, was map[string]any, rows []learning.RowWas) learning.Change {
	column := func(name string) string {
		if name == "" {
			return ""
		}
		return text(was[name])
	}
	if k.table != "incidents" {
		parts := make([]string, len(k.key))
		for i, name := range k.key {
			parts[i] = text(was[name])
		}
		id = strings.Join(parts, "/") // and not its number
	}
	return learning.Change{
		Operation: note.Operation, Kind: note.Kind, ID: id, Title: check.Head(check.OneLine(column(k.title)), maxChangeTitle), Project: column(k.project),
		By: note.By, Author: column(k.author), Row: column(k.number), At: note.At, Call: note.Call, Rows: rows,
	}
}

var changes = table.Of[learning.Change]("changes", "Number num", "ID ref", "By by_agent", "Row row_number", "Call call_id", "Rows rows_before", "Until").Numbered("num")

// Changes returns the changes that can be taken back, the latest first.
func (s *Store) Changes(ctx context.Context, filter learning.ChangeFilter) ([]learning.Change, error) {
	var c table.Conditions
	c.Add("at > ?", table.Millis(filter.Since))
	c.Equal("operation", string(filter.Operation))
	c.Equal("kind", filter.Kind)
	if filter.ID != "" {
		c.Add(`(row_number = ? OR ref {like} ? ESCAPE '\' OR ref {like} ? ESCAPE '\')`, filter.ID, table.Literal(filter.ID)+"%", "%"+table.Literal(filter.ID))
	}
	if filter.By != nil {
		c.Add("by_agent = ?", *filter.By)
	}
	if filter.Projects != nil {
		table.Among(&c, "project", filter.Projects)
	}
	c.Below("num", filter.Before)
	found, err := changes.List(s.Read.WithContext(ctx), c.Text+" ORDER BY num DESC LIMIT ?", c.With(filter.Limit)...)
	for i := range found {
		found[i].Until = found[i].At.Add(learning.KeepChanges)
	}
	return found, err
}

// TakeBack puts back the rows that changes took away, made or changed, with their events, and forgets the changes: all of them, or none. It is a
// Conflict if a row was changed since, or if something else has what may be there once.
func (s *Store) TakeBack(ctx context.Context, back ...learning.Back) error {
	return s.queue(learning.TakingBack(ctx, back...), func(*gorm.DB) error { return nil }, nil)()
}

// takeBack takes one change back.
func takeBack(tx *gorm.DB, b learning.Back) error {
	if b.Event == nil {
		return forgetChange(tx, b.Number)
	}
	c, there, err := changes.One(tx, "WHERE num = ?", b.Number)
	if err != nil || !there {
		return cmp.Or(err, noChange())
	}
	k := changedKinds[c.Kind]
	for _, row := range c.Rows {
		if row.Became == nil {
			err = k.insert(tx, c, row)
		} else {
			err = k.putBack(tx, c, row, b.Event.At)
		}
		if err != nil {
			return err
		}
	}
	if c.Kind == "lesson" {
		if err := (&transaction{tx}).AddChange(lesson.Change{LessonID: c.ID, Kind: lesson.ChangeRestored, Agent: b.Event.Agent, Note: "taken back", At: b.Event.At}); err != nil {
			return err
		}
	}
	return cmp.Or(forgetChange(tx, b.Number), table.AppendEvents(tx, *b.Event))
}

// insert writes a row that went.
func (k changed) insert(tx *gorm.DB, c learning.Change, row learning.RowWas) error {
	values, err := valuesOf(tx, row.Table, row.Was)
	if err != nil {
		return err
	}
	if row.Table == k.table {
		if k.follows != nil {
			k.follows(values)
		}
		if err := k.free(tx, c, values); err != nil {
			return err
		}
	}
	names := slices.Sorted(maps.Keys(values))
	conflict := ""
	if row.Table != k.table { // what a child says may be known again since
		conflict = table.OrKeep
	}
	if err := table.InsertOr(tx, conflict, row.Table, names, 1, func(_ int, list []any) []any {
		for _, name := range names {
			list = append(list, values[name])
		}
		return list
	}); err != nil || row.Table != "episodes" {
		return err
	}
	return (&transaction{tx}).counted(c.ID)
}

// free refuses a row whose key, or what else there may be once, another row has.
func (k changed) free(tx *gorm.DB, c learning.Change, values map[string]any) error {
	for _, columns := range [][]string{k.key, k.unique} {
		if columns == nil {
			continue
		}
		args := make([]any, len(columns))
		for i, column := range columns {
			args[i] = values[column]
		}
		holders, err := rowsOf(tx, k.table, strings.Join(columns, " = ? AND ")+" = ?", args...)
		if err != nil {
			return err
		}
		if len(holders) > 0 {
			holder := k.change(&learning.Note{}, "", holders[0].values, nil)
			return errs.Errorf(errs.Conflict, "the %s %s is there, and has the place of what was deleted: %s", c.Kind, holder.ID, holder.Title)
		}
	}
	return nil
}

// putBack has a memory's columns say again what they said, unless they say something else by now.
func (k changed) putBack(tx *gorm.DB, c learning.Change, row learning.RowWas, at time.Time) error {
	where, args := k.find(c.ID)
	now, err := rowsOf(tx, k.table, where, args...)
	if err != nil {
		return err
	}
	if len(now) == 0 {
		return errs.Errorf(errs.Conflict, "the %s %s is deleted since", c.Kind, c.ID)
	}
	values, err := valuesOf(tx, row.Table, row.Was)
	if err != nil {
		return err
	}
	became, err := valuesOf(tx, row.Table, row.Became)
	if err != nil {
		return err
	}
	says, err := valuesOf(tx, row.Table, now[0].values)
	if err != nil {
		return err
	}
	for _, column := range k.own {
		delete(values, column)
		delete(became, column)
	}
	for column := range became {
		if text(says[column]) != text(became[column]) {
			return errs.Errorf(errs.Conflict, "the %s %s was changed since: see what it says now", c.Kind, c.ID)
		}
	}
	if row.Was == nil { // it was made
		_, err = table.Exec(tx, "DELETE FROM "+k.table+" WHERE "+where, args...)
		return err
	}
	if _, has := values["updated_at"]; has {
		values["updated_at"] = table.Millis(at)
	}
	names := slices.Sorted(maps.Keys(values))
	set := make([]any, len(names))
	for i, name := range names {
		set[i] = values[name]
	}
	_, err = table.Exec(tx, "UPDATE "+k.table+" SET "+strings.Join(names, " = ?, ")+" = ? WHERE "+where, append(set, args...)...)
	return err
}

// valuesOf are the values of a row for the columns that its table has today, as the database wants them. A column that came since gets its default.
func valuesOf(tx *gorm.DB, of string, row map[string]any) (map[string]any, error) {
	type column struct{ name, kind string }
	columns, err := table.List(tx, func(c *column) []any { return []any{&c.name, &c.kind} }, "SELECT name, type FROM {columns "+of+"} AS known")
	values := map[string]any{}
	for _, c := range columns {
		value, there := row[c.name]
		if !there {
			continue
		}
		switch v := value.(type) {
		case json.Number:
			value, err = numberOf(v, c.kind)
		case bool:
			if value = v; c.kind == "INTEGER" { // it was kept by a server
				value = int64(map[bool]int{true: 1}[v])
			}
		case map[string]any:
			said, _ := v["hex"].(string)
			value, err = hex.DecodeString(said)
		}
		if err != nil {
			return nil, err
		}
		values[c.name] = value
	}
	return values, err
}

func numberOf(n json.Number, kind string) (any, error) {
	switch kind {
	case "REAL":
		return n.Float64()
	case "BOOLEAN":
		return n != "0", nil
	}
	return n.Int64()
}

// counted counts an episode that is there again among those of its type.
func (tx *transaction) counted(episode string) error {
	found, err := readExperiences(tx.db, unbounded, "WHERE id = ? AND "+isExperience, episode)
	if err != nil || len(found) == 0 {
		return err
	}
	x := found[0]
	o, _, err := operations.One(tx.db, "WHERE operation_type = ?", x.OperationType)
	if err != nil {
		return err
	}
	o.Type = x.OperationType
	return tx.SetOperation(o.With(x.Outcome, x.Utility, x.At))
}

// ForgetChanges removes what is kept of a memory, and purges all that is from before a time. It says how many changes went.
func (s *Store) ForgetChanges(ctx context.Context, kind, id string, before time.Time) (int64, error) {
	if _, err := s.DeleteRows(ctx, "DELETE FROM procedures WHERE deleted_at IS NOT NULL AND file = '' AND (deleted_at < ? OR ? = 'procedure' AND persona || '/' || name = ?)", table.Millis(before), kind, id); err != nil {
		return 0, err
	}
	return s.DeleteRows(ctx, "DELETE FROM changes WHERE at < ? OR kind = ? AND ref = ?", table.Millis(before), kind, id)
}
