// Package markup makes HTML pages of templates, in the syntax of html/template. What it puts into a
// page is escaped for its place: a text, an attribute's value or an address. A template that puts
// something anywhere else (a script, a style, a tag, a value without quotation marks) is refused when
// it is read.
//
// It stands in the place of html/template, which calls methods by names that are known only when it
// runs. For such a program the linker must keep every exported method of every type: 6 MB. Templates
// read members of structs and maps, and call functions that they are given, and no methods.
package markup

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"text/template/parse"
)

// Functions are what templates may call, by name: functions that return a value, or a value and an error.
type Functions map[string]any

// Templates are templates that were read. They may be executed by several at once.
type Templates struct {
	trees     map[string]*parse.Tree
	functions map[string]reflect.Value
	escapes   map[*parse.ActionNode]escape
}

// Read reads the templates of files, each by its file's name and those that it defines by theirs.
func Read(functions Functions, files fs.FS, names ...string) (*Templates, error) {
	t := &Templates{trees: map[string]*parse.Tree{}, functions: map[string]reflect.Value{}, escapes: map[*parse.ActionNode]escape{}}
	for name, function := range functions {
		t.functions[name] = reflect.ValueOf(function)
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		trees, err := parse.Parse(path.Base(name), string(text), "", "", functions, builtins)
		if err != nil {
			return nil, err
		}
		maps.Copy(t.trees, trees)
	}
	c := checker{templates: t, seen: map[visit]bool{}}
	for name := range t.trees {
		if err := c.template(name, place{}); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Execute adds what the template of this name makes of data. After an error the page is broken off.
func (t *Templates) Execute(page *bytes.Buffer, name string, data any) error {
	e := execution{templates: t, page: page}
	return e.template(name, reflect.ValueOf(data), 0)
}

// Must returns the templates of a program's own files, whose tests show every page: reading them cannot fail.
func Must(t *Templates, err error) *Templates {
	if err != nil {
		panic(err)
	}
	return t
}

// maxCalls is how deep templates may call each other; ours do so three times.
const maxCalls = 50

func wrong(node parse.Node, format string, args ...any) error {
	return fmt.Errorf("%s: %s", node, fmt.Sprintf(format, args...))
}
