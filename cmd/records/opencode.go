package records

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"

	"skillrouter/learning/history"
)

// openCodeFile is the database that opencode keeps its sessions in since version 1.18.
const openCodeFile = "opencode.db"

// openDatabase opens opencode's database, to read only. While opencode is not running there is no log beside it, and none is made.
func openDatabase(path string) (*sql.DB, error) {
	address := "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(path)) + "?mode=ro&_pragma=busy_timeout(5000)"
	if _, err := os.Lstat(path + "-wal"); err != nil {
		address += "&immutable=1"
	}
	db, err := sql.Open("sqlite", address)
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// openCodeSessions lists the sessions in opencode's database.
func openCodeSessions(path string) (files []File, err error) {
	db, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.Query("SELECT s.id, s.time_updated, (SELECT count(*) FROM part p WHERE p.session_id = s.id) FROM session s LIMIT ?", maxFiles)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		f := File{parts: openCodeParts}
		var id string
		if err := rows.Scan(&id, &f.Modified, &f.Size); err != nil {
			return files, err
		}
		f.Path = filepath.Join(path, filepath.Base(id))
		files = append(files, f)
	}
	return files, rows.Err()
}

// openCodeParts reads a session in opencode's database, in the order of its messages and their parts.
func openCodeParts(path string, each func(history.Found) error) error {
	db, err := openDatabase(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.Query(`SELECT s.directory, p.data FROM part p JOIN message m ON m.id = p.message_id JOIN session s ON s.id = p.session_id
		WHERE p.session_id = ? AND length(p.data) <= ? ORDER BY m.time_created, m.id, p.id`, filepath.Base(path), maxPart)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var dir string
		var text []byte
		if err := rows.Scan(&dir, &text); err != nil {
			return err
		}
		if found, ok := history.ReadPart(text); ok {
			found.Session, found.Dir = filepath.Base(path), dir
			if err := each(found); err != nil {
				return err
			}
		}
	}
	return rows.Err()
}
