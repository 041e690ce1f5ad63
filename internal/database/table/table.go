// Package table reads the rows of a table into values of a Go type, and writes them. A store declares each of its
// tables once, by the type whose fields are the columns; times are milliseconds there, lists are JSON, and what
// is not there is NULL. It knows no table by name.
package table

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"

	"gorm.io/gorm"
)

// Table is a table whose rows are values of a type.
type Table[T any] struct {
	name    string
	number  string // the column by which the database numbers rows; empty: it does not
	written []writtenColumn[T]
	// described is worked out when the table is first used: most starts of the program use few tables or none.
	described func() described[T]
}

// described is the columns of a table, and what of a row each of them is read into and written from.
type described[T any] struct {
	columns []column
	fields  func(row *T) []any
}

// column is one that a field stands for.
type column struct {
	name string // with a dot: of a table that is joined, and never written
	cast string // the type that PostgreSQL does not see in a parameter by itself
}

// joined tells whether the column is of another table.
func (c *column) joined() bool { return strings.IndexByte(c.name, '.') >= 0 }

// writtenColumn is one that is made of a row, and never read.
type writtenColumn[T any] struct {
	name string
	of   func(row *T) any
}

// Of describes a table by the exported fields of a type, those of embedded structs among them. A column has the name of
// its field in snake case, unless changes name another ("To to_agent") or none ("Redacted").
func Of[T any](name string, changes ...string) *Table[T] {
	return &Table[T]{name: name, described: sync.OnceValue(func() (d described[T]) {
		names := make(map[string]string, len(changes))
		for _, change := range changes {
			field, column, _ := strings.Cut(change, " ")
			names[field] = column
		}
		fields := derive(&d.columns, reflect.TypeFor[T](), nil, names)
		if len(names) > 0 {
			panic(fmt.Sprintf("table %s: %s has no fields %v", name, reflect.TypeFor[T](), names))
		}
		d.fields = func(row *T) []any {
			v, list := reflect.ValueOf(row).Elem(), make([]any, len(fields))
			for i, f := range fields {
				list[i] = f.of(v.FieldByIndex(f.index).Addr().Interface())
			}
			return list
		}
		return d
	})}
}

// field is where a column's field is in its struct, and what makes a pointer to it one for the database.
type field struct {
	index []int
	of    func(pointer any) any
}

// derive lists the fields of a struct, adds their columns, and takes the names that it uses out of names.
func derive(columns *[]column, of reflect.Type, at []int, names map[string]string) (fields []field) {
	for i := range of.NumField() {
		f := of.Field(i)
		index := append(slices.Clone(at), i)
		name, named := names[f.Name]
		delete(names, f.Name)
		switch {
		case !f.IsExported() || named && name == "":
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			fields = append(fields, derive(columns, f.Type, index, names)...)
		default:
			if !named {
				name = snake(f.Name)
			}
			*columns = append(*columns, column{name, castOf(f.Type)})
			fields = append(fields, field{index, wrapperOf(f.Type)})
		}
	}
	return fields
}

// snake is a field's name as a column's: AgentID is agent_id.
func snake(name string) string {
	var out strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// Listed describes a table whose rows are written by the thousand: fields lists what each of the columns is read
// into and written from, without reflection.
func Listed[T any](name string, columns []string, fields func(row *T) []any) *Table[T] {
	d := described[T]{make([]column, len(columns)), fields}
	for i, c := range columns {
		d.columns[i].name = c
	}
	return &Table[T]{name: name, described: func() described[T] { return d }}
}

// Numbered says which column the database numbers rows by.
func (t *Table[T]) Numbered(column string) *Table[T] {
	numbered := *t
	numbered.number = column
	return &numbered
}

// With adds a column that is made of a row, and never read.
func (t *Table[T]) With(column string, of func(row *T) any) *Table[T] {
	t.written = append(t.written, writtenColumn[T]{column, of})
	return t
}

// Field adds a column that is read into and written from what of gives.
func (t *Table[T]) Field(name string, of func(row *T) any) *Table[T] {
	before := t.described
	t.described = sync.OnceValue(func() described[T] {
		d := before()
		return described[T]{append(slices.Clip(d.columns), column{name: name}), func(row *T) []any { return append(d.fields(row), of(row)) }}
	})
	return t
}

// Select is the beginning of a statement that reads rows, up to the name of the table.
func (t *Table[T]) Select() string { return "SELECT " + t.Columns() + " FROM " + t.name + " " }

// Columns are those that are read, with the name of the table.
func (t *Table[T]) Columns() string {
	names := make([]string, len(t.described().columns))
	for i, c := range t.described().columns {
		if names[i] = c.name; !strings.ContainsAny(c.name, ".( ") {
			names[i] = t.name + "." + c.name
		}
	}
	return strings.Join(names, ", ")
}

// List reads the rows that a condition selects, with what orders and limits them.
func (t *Table[T]) List(db *gorm.DB, where string, args ...any) ([]T, error) {
	return List(db, t.described().fields, t.Select()+where, args...)
}

// One reads the first of the rows that a condition selects; false if there is none.
func (t *Table[T]) One(db *gorm.DB, where string, args ...any) (T, bool, error) {
	return First(t.List(db, where, args...))
}

// Fields are what the columns of Select are read into.
func (t *Table[T]) Fields(row *T) []any { return t.described().fields(row) }

// names are the columns that are written, but for one.
func (t *Table[T]) names(but string) (columns []column) {
	for _, c := range t.described().columns {
		if c.name != but && !c.joined() {
			columns = append(columns, c)
		}
	}
	for _, w := range t.written {
		columns = append(columns, column{name: w.name})
	}
	return columns
}

// values are what of a row is written, in the order of names.
func (t *Table[T]) values(row *T, but string) []any {
	values := t.described().fields(row)
	kept := values[:0]
	for i, value := range values {
		if c := &t.described().columns[i]; c.name != but && !c.joined() {
			kept = append(kept, plain(value))
		}
	}
	for _, w := range t.written {
		kept = append(kept, w.of(row))
	}
	return kept
}

// plain is what a pointer points to, for the types that are written most: database/sql finds out by reflection.
func plain(pointer any) any {
	switch p := pointer.(type) {
	case *string:
		return *p
	case *int64:
		return *p
	case *float64:
		return *p
	case *bool:
		return *p
	}
	return pointer
}

// Insert writes a row, and gives it its number if the database numbers rows. more are columns that the row does not
// have, each with its value.
func (t *Table[T]) Insert(db *gorm.DB, row *T, more ...any) error {
	return t.insert(db, row, "", more)
}

// Put is Insert of a row in whose place another may be: that of the same keys is overwritten.
func (t *Table[T]) Put(db *gorm.DB, row *T, keys ...string) error {
	return t.insert(db, row, OrReplace(namesOf(t.names(t.number)), keys...), nil)
}

func (t *Table[T]) insert(db *gorm.DB, row *T, conflict string, more []any) error {
	names, values := namesOf(t.names(t.number)), t.values(row, t.number)
	for i := 0; i+1 < len(more); i += 2 {
		names, values = append(names, more[i].(string)), append(values, more[i+1])
	}
	text := "INSERT INTO " + t.name + " (" + strings.Join(names, ", ") + ") VALUES (" + Marks(len(names)) + ")" + conflict
	at := slices.IndexFunc(t.described().columns, func(c column) bool { return t.number != "" && c.name == t.number })
	if at < 0 {
		_, err := Exec(db, text, values...)
		return err
	}
	_, err := One(db, t.described().fields(row)[at:at+1], text+" RETURNING "+t.number, values...)
	return err
}

// InsertAll writes rows in few statements, without giving them numbers, and counts those that were written. conflict is what becomes of one that
// is there already: OrKeep, OrReplace, or empty for a failure.
func (t *Table[T]) InsertAll(db *gorm.DB, rows []T, conflict string) (written int64, err error) {
	return insert(db, conflict, t.name, namesOf(t.names(t.number)), len(rows), func(i int, row []any) []any {
		return append(row, t.values(&rows[i], t.number)...)
	})
}

// manyRows is the most rows that one statement of InsertMany has.
const manyRows = 64

// InsertMany writes rows in few statements, and gives them their numbers.
func (t *Table[T]) InsertMany(db *gorm.DB, rows []*T) error {
	columns := t.names(t.number)
	place := "(" + Marks(len(columns)) + ")"
	head := "INSERT INTO " + t.name + " (" + strings.Join(namesOf(columns), ", ") + ") VALUES " + place
	at := slices.IndexFunc(t.described().columns, func(c column) bool { return c.name == t.number })
	for part := range slices.Chunk(rows, max(1, min(manyRows, InsertMost/len(columns)))) {
		args := make([]any, 0, len(part)*len(columns))
		for _, row := range part {
			args = append(args, t.values(row, t.number)...)
		}
		numbers, err := List(db, Value[int64], head+strings.Repeat(", "+place, len(part)-1)+" RETURNING "+t.number, args...)
		if err != nil {
			return err
		}
		if len(numbers) != len(part) {
			return fmt.Errorf("%d rows of %s were stored instead of %d", len(numbers), t.name, len(part))
		}
		slices.Sort(numbers) // rows are inserted as they are listed, and returned in no promised order
		for i, row := range part {
			*t.described().fields(row)[at].(*int64) = numbers[i]
		}
	}
	return nil
}

// PutAll is Put of many.
func (t *Table[T]) PutAll(db *gorm.DB, rows []T, keys ...string) error {
	_, err := t.InsertAll(db, rows, OrReplace(namesOf(t.names(t.number)), keys...))
	return err
}

func namesOf(columns []column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

// Update writes the columns of a row, those that are named or all, where the column by has the row's own value.
func (t *Table[T]) Update(db *gorm.DB, row *T, by string, only ...string) error {
	var set []string
	var args []any
	columns, values := t.names(""), t.values(row, "")
	for i, c := range columns {
		if c.name != by && c.name != t.number && (len(only) == 0 || slices.Contains(only, c.name)) {
			set, args = append(set, c.name+" = ?"), append(args, values[i])
		}
	}
	key := values[slices.IndexFunc(columns, func(c column) bool { return c.name == by })]
	_, err := Exec(db, "UPDATE "+t.name+" SET "+strings.Join(set, ", ")+" WHERE "+by+" = ?", append(args, key)...)
	return err
}

// updateRows is how many rows one statement of UpdateAll writes: binding costs grow faster than the number of parameters beyond that.
const updateRows = 40

// UpdateAll writes the named columns of many rows, each where the column by has its own value.
func (t *Table[T]) UpdateAll(db *gorm.DB, rows []T, by string, only ...string) error {
	columns := t.names("")
	for part := range slices.Chunk(rows, updateRows) {
		var names, places, set []string
		var args []any
		for i := range part {
			values := t.values(&part[i], "")
			for j, c := range columns {
				if c.name != by && !slices.Contains(only, c.name) {
					continue
				}
				if args = append(args, values[j]); i > 0 {
					continue
				}
				names, places = append(names, c.name), append(places, "CAST(? AS "+c.cast+")")
				if c.name != by {
					set = append(set, c.name+" = d."+c.name)
				}
			}
		}
		place := "(" + strings.Join(places, ", ") + ")"
		if _, err := Exec(db, "WITH d("+strings.Join(names, ", ")+") AS (VALUES "+place+strings.Repeat(", "+place, len(part)-1)+") UPDATE "+t.name+
			" SET "+strings.Join(set, ", ")+" FROM d WHERE "+t.name+"."+by+" = d."+by, args...); err != nil {
			return err
		}
	}
	return nil
}

// IDs finds ids of a table, or of what stands in one's place, by their beginning or end: at most so many, the newest first. The part has no wildcard.
func IDs(db *gorm.DB, table string) func(ctx context.Context, part string, most int) ([]string, error) {
	text := "SELECT id FROM " + table + " WHERE id {like} ? OR id {like} ? ORDER BY id DESC LIMIT ?"
	return func(ctx context.Context, part string, most int) ([]string, error) {
		return List(db.WithContext(ctx), Value[string], text, part+"%", "%"+part, most)
	}
}
