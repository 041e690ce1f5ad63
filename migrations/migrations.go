// Package migrations holds the schemas of both databases as numbered SQL
// steps, a folder for each database and dialect. It owns no connection and
// runs nothing: cmd/app applies them.
package migrations

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
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

// Step is one change of a schema. Steps are numbered without a gap, those of SQLite from 1. PostgreSQL was given version 29 of learning and
// 16 of operational whole, and has a step for each version since.
type Step struct {
	Version    int64
	Up, Down   string // SQL, of any number of statements
	Compatible bool   // a program that knows the version before may go on writing
}

// The lines that begin the two parts of a file, as goose writes them.
const (
	upMark   = "-- +goose Up\n"
	downMark = "-- +goose Down\n"
)

// compatibleMark begins the first part of a compatible step of PostgreSQL's, where two versions of the program run beside each other.
const compatibleMark = "-- compatible\n"

// Steps returns the steps of a database ("learning" or "operational") in a
// dialect ("sqlite" or "postgres"), the oldest first. It fails if a file is not NUMBER_name.sql with both parts.
func Steps(database, dialect string) ([]Step, error) {
	names, err := fs.Glob(files, database+"/"+dialect+"/*.sql")
	if err != nil {
		return nil, err
	}
	steps := make([]Step, 0, len(names))
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if wanted := Given(database, dialect) + int64(len(steps)) + 1; err != nil || version != wanted {
			return nil, fmt.Errorf("%s is not step %d", name, wanted)
		}
		begin, down, whole := strings.Cut(string(text), downMark)
		_, up, marked := strings.Cut(begin, upMark)
		if !whole || !marked {
			return nil, fmt.Errorf("%s has no part that begins with %q, or none with %q", name, upMark, downMark)
		}
		steps = append(steps, Step{Version: version, Up: up, Down: down, Compatible: strings.HasPrefix(up, compatibleMark)})
	}
	return steps, nil
}

// Given is the version of the schema that the first step of a dialect finds: all before it were never in use there.
func Given(database, dialect string) int64 {
	switch {
	case dialect != "postgres":
		return 0
	case database == "learning":
		return 29
	}
	return 16
}

// Since is the oldest version that a program may know which writes into a PostgreSQL schema after all steps.
func Since(database string, steps []Step) int64 {
	since := Given(database, "postgres")
	for _, step := range steps {
		if !step.Compatible {
			since = step.Version
		}
	}
	return since
}
