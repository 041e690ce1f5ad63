package cli

import (
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

// filled is a value of a type in which nothing is empty. Of texts, one commands a terminal.
func filled(value reflect.Value, depth int) {
	switch value.Kind() {
	case reflect.String:
		value.SetString("x\x1b[31m\ny")
	case reflect.Int, reflect.Int64:
		value.SetInt(3)
	case reflect.Float64:
		value.SetFloat(0.5)
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Pointer:
		if depth < 4 {
			value.Set(reflect.New(value.Type().Elem()))
			filled(value.Elem(), depth+1)
		}
	case reflect.Slice:
		if depth < 4 && value.Type().Elem().Kind() != reflect.Uint8 {
			value.Set(reflect.MakeSlice(value.Type(), 2, 2))
			filled(value.Index(0), depth+1)
			filled(value.Index(1), depth+1)
		}
	case reflect.Map:
		if depth >= 4 {
			return
		}
		key, one := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		filled(key, depth+1)
		filled(one, depth+1)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(key, one)
	case reflect.Struct:
		if value.Type() == reflect.TypeFor[time.Time]() {
			value.Set(reflect.ValueOf(time.Unix(1e9, 0)))
			return
		}
		for i := range value.NumField() {
			if value.Type().Field(i).IsExported() {
				filled(value.Field(i), depth)
			}
		}
	}
}

// TestPages has each page say an answer in which everything is empty, and one in which nothing is.
func TestPages(t *testing.T) {
	s := &shell{in: strings.NewReader(""), out: io.Discard, err: io.Discard, lookupEnv: func(string) (string, bool) { return "", false }}
	s.root()
	if len(allPages) < 30 {
		t.Fatalf("%d pages", len(allPages))
	}
	for _, page := range allPages {
		empty, full := reflect.New(page.of).Elem(), reflect.New(page.of).Elem()
		filled(full, 0)
		for _, answer := range []reflect.Value{empty, full} {
			var said strings.Builder
			render(&said, page.text, answer.Interface())
			if strings.Contains(said.String(), "\x1b") || strings.Contains(said.String(), "<no value>") || strings.Contains(said.String(), "\n\n\n") {
				t.Errorf("%s of %s says\n%q", page.text, page.of, said.String())
			}
			t.Logf("%s:\n%s", page.of, said.String())
		}
	}
}
