package table

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"time"
)

// Columns that database/sql cannot read by itself into a field, or write from it. Each is both an sql.Scanner and a driver.Valuer.
// Texts of a type of their own, such as a status, it reads and writes as they are.

// Millis is a time as a column has it.
func Millis(t time.Time) int64 { return t.UnixMilli() }

// FromMillis is the time of a column.
func FromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// MillisOrNil is Millis of a time that there may be.
func MillisOrNil(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	return new(t.UnixMilli())
}

// FromMillisOrNil is FromMillis of a column that may be NULL.
func FromMillisOrNil(ms *int64) *time.Time {
	if ms == nil {
		return nil
	}
	return new(FromMillis(*ms))
}

// timeColumn is a column of Unix milliseconds; NULL leaves the field as it is.
type timeColumn struct{ into *time.Time }

// At is the column of a time.
func At(into *time.Time) any { return timeColumn{into} }

func (c timeColumn) Scan(value any) error {
	ms, err := optional[int64](value)
	if err == nil && ms != nil {
		*c.into = FromMillis(*ms)
	}
	return err
}

func (c timeColumn) Value() (driver.Value, error) { return Millis(*c.into), nil }

// momentColumn is a timeColumn of a pointer, which is nil for NULL.
type momentColumn struct{ into **time.Time }

// AtOrNil is the column of a time that there may be.
func AtOrNil(into **time.Time) any { return momentColumn{into} }

func (c momentColumn) Scan(value any) error {
	ms, err := optional[int64](value)
	*c.into = FromMillisOrNil(ms)
	return err
}

func (c momentColumn) Value() (driver.Value, error) {
	if *c.into == nil {
		return nil, nil
	}
	return Millis(**c.into), nil
}

// jsonColumn is a column of JSON. NULL leaves the field as it is, and a nil pointer is NULL; a nil list is an empty one.
type jsonColumn struct{ into any }

// JSON is the column of what is kept as JSON.
func JSON[T any](into *T) any {
	if raw, ok := any(into).(*json.RawMessage); ok {
		return rawColumn{raw}
	}
	return jsonColumn{into}
}

func (c jsonColumn) Scan(value any) error {
	text, err := optional[string](value)
	if err != nil || text == nil {
		return err
	}
	if list, ok := c.into.(*[]string); ok && *text == "[]" { // most lists are: nothing is parsed for them
		*list = []string{}
		return nil
	}
	return json.Unmarshal([]byte(*text), c.into)
}

func (c jsonColumn) Value() (driver.Value, error) {
	if list, ok := c.into.(*[]string); ok && len(*list) == 0 {
		return "[]", nil
	}
	switch v := reflect.ValueOf(c.into).Elem(); {
	case v.Kind() == reflect.Pointer && v.IsNil():
		return nil, nil
	case v.Kind() == reflect.Slice && v.Len() == 0:
		return "[]", nil
	}
	text, err := json.Marshal(c.into)
	return string(text), err
}

// rawColumn is a column of JSON that is handed on as it is; NULL if there is none.
type rawColumn struct{ into *json.RawMessage }

// Raw is the column of JSON that is handed on as it is.
func Raw(into *json.RawMessage) any { return rawColumn{into} }

func (c rawColumn) Scan(value any) error {
	text, err := optional[string](value)
	if err == nil && text != nil {
		*c.into = json.RawMessage(*text)
	}
	return err
}

func (c rawColumn) Value() (driver.Value, error) {
	if *c.into == nil {
		return nil, nil
	}
	return string(*c.into), nil
}

// countColumn is a column of numbers, of which the field has whole ones.
type countColumn struct{ into *int }

func (c countColumn) Scan(value any) error {
	if fraction, ok := value.(float64); ok {
		*c.into = int(math.Round(fraction))
		return nil
	}
	n, err := optional[int64](value)
	if err == nil && n != nil {
		*c.into = int(*n)
	}
	return err
}

func (c countColumn) Value() (driver.Value, error) { return int64(*c.into), nil }

// emptyColumn is a column in which NULL stands for an empty text or zero.
type emptyColumn[T string | int64] struct{ into *T }

// OrNull is the column of a text or number that there may be.
func OrNull[T string | int64](into *T) any { return emptyColumn[T]{into} }

func (c emptyColumn[T]) Scan(value any) error {
	of, err := optional[T](value)
	if *c.into = *new(T); err == nil && of != nil {
		*c.into = *of
	}
	return err
}

func (c emptyColumn[T]) Value() (driver.Value, error) {
	if *c.into == *new(T) {
		return nil, nil
	}
	return *c.into, nil
}

// optional is what a driver hands out for a column, nil for NULL.
func optional[T any](value any) (*T, error) {
	if value == nil {
		return nil, nil
	}
	of, ok := value.(T)
	if !ok {
		return nil, fmt.Errorf("a column holds a %T and not a %T", value, of)
	}
	return &of, nil
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	momentType = reflect.TypeFor[*time.Time]()
	rawType    = reflect.TypeFor[json.RawMessage]()
)

// wrapperOf makes of a pointer to a field of a type what database/sql reads into and writes from.
func wrapperOf(of reflect.Type) func(pointer any) any {
	switch {
	case of == timeType:
		return func(p any) any { return timeColumn{p.(*time.Time)} }
	case of == momentType:
		return func(p any) any { return momentColumn{p.(**time.Time)} }
	case of == rawType:
		return func(p any) any { return rawColumn{p.(*json.RawMessage)} }
	case of.Kind() == reflect.Int:
		return func(p any) any { return countColumn{p.(*int)} }
	}
	switch kind := of.Kind(); {
	case kind == reflect.Slice && of.Elem().Kind() != reflect.Uint8, kind == reflect.Struct, kind == reflect.Map, kind == reflect.Pointer && of.Elem().Kind() == reflect.Struct:
		return func(p any) any { return jsonColumn{p} }
	}
	return func(p any) any { return p }
}

// castOf is what a parameter is in PostgreSQL where nothing around it says so.
func castOf(of reflect.Type) string {
	switch of.Kind() {
	case reflect.Int, reflect.Int64:
		return "BIGINT"
	case reflect.Bool:
		return "BOOLEAN"
	case reflect.Float64:
		return "DOUBLE PRECISION"
	}
	if of == timeType || of == momentType {
		return "BIGINT"
	}
	return "TEXT"
}
