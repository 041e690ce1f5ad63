// Package migrations holds the schemas of both databases as numbered SQL
// steps, a folder for each database and dialect. It owns no connection and
// runs nothing: cmd/app applies them.
package migrations

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed learning/*/*.sql operational/*/*.sql *.sql
var files embed.FS

// Databases lists the databases that have migrations.
func Databases() []string { return []string{"learning", "operational"} }

// FS returns the steps of a database ("learning" or "operational") in a
// dialect ("sqlite"). It fails if there is no such folder.
func FS(database, dialect string) (fs.FS, error) {
	sub, err := fs.Sub(files, database+"/"+dialect)
	if err != nil {
		return nil, err
	}
	if _, err := fs.ReadDir(sub, "."); err != nil {
		return nil, err
	}
	return sub, nil
}

// Schema returns the statements that make an empty database what all its steps make of it, the steps'
// own table too. It fails if there are none. cmd/app's tests generate them, and compare.
func Schema(database, dialect string) (string, error) {
	text, err := fs.ReadFile(files, database+"_"+dialect+".sql")
	return string(text), err
}

// Step is one change of a schema. Steps are numbered from 1, without a gap.
type Step struct {
	Version  int64
	Up, Down string // SQL, of any number of statements
}

// The lines that begin the two parts of a file, as goose writes them.
const (
	upMark   = "-- +goose Up\n"
	downMark = "-- +goose Down\n"
)

// Steps returns the steps of a database ("learning" or "operational") in a
// dialect ("sqlite"), the oldest first. It fails if there are none, or a file
// is not NUMBER_name.sql with both parts.
func Steps(database, dialect string) ([]Step, error) {
	folder, err := FS(database, dialect)
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(folder, "*.sql")
	if err != nil {
		return nil, err
	}
	steps := make([]Step, 0, len(names))
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil || version != int64(len(steps))+1 {
			return nil, fmt.Errorf("%s of %s is not step %d", name, database, len(steps)+1)
		}
		begin, down, whole := strings.Cut(string(text), downMark)
		_, up, marked := strings.Cut(begin, upMark)
		if !whole || !marked {
			return nil, fmt.Errorf("%s of %s has no part that begins with %q, or none with %q", name, database, upMark, downMark)
		}
		steps = append(steps, Step{Version: version, Up: up, Down: down})
	}
	return steps, nil
}
