// Package migrations holds the schemas of both databases as numbered SQL
// steps, a folder for each database and dialect. It owns no connection and
// runs nothing: cmd/app applies them.
package migrations

import (
	"embed"
	"io/fs"
)

//go:embed learning/*/*.sql operational/*/*.sql
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
