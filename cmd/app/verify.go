package app

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/wal"
	"github.com/skillrouter/skillrouter/learning"
)

// Verification is what was found in a backup or a data folder.
type Verification struct {
	OK        bool           `json:"ok"`
	Archive   bool           `json:"archive"` // it is a backup, and not a data folder
	Version   string         `json:"version,omitempty"`
	CreatedAt *time.Time     `json:"created_at,omitempty"`
	Databases []VerifiedFile `json:"databases"`
	// OwnerToken tells whether the archive has it: whoever has the archive then has every right.
	OwnerToken bool     `json:"owner_token"`
	Problems   []string `json:"problems"`
	Notes      []string `json:"notes,omitempty"` // what may be missing though all is sound
	// Altered says which rows are not as they were stored, where all else is sound.
	Altered []string `json:"altered,omitempty"`
}

// unledgered is what a log that was not folded into its database may mean: no
// other answer than the guard's is given before it is on disk.
const unledgered = "learning.db was not closed, or is in use: if its router was killed, checks of the guard's last second may be missing from the ledger; whatever else was answered is here"

// VerifiedFile is a database that was looked through.
type VerifiedFile struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Contents
}

// VerifyArchive reads a backup from end to end and looks its databases
// through, in copies below scratch, which it removes again. A fault of the
// archive is an error; what is wrong with the databases is in the answer.
func VerifyArchive(ctx context.Context, archive io.Reader, scratch string) (v Verification, err error) {
	dir, err := os.MkdirTemp(scratch, "skillrouter-verify-")
	if err != nil {
		return v, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // copies in a scratch folder
	return verifyInto(ctx, archive, dir)
}

// UnpackArchive reads a backup from end to end into an empty folder, and looks
// its databases through there. If it fails, what was unpacked so far is left to the caller.
func UnpackArchive(ctx context.Context, archive io.Reader, dir string) (Verification, error) {
	v, err := verifyInto(ctx, archive, dir)
	if err != nil {
		return v, err
	}
	if len(v.Problems) > 0 { // rows that were altered are told of, and no reason to be left without the others
		return v, archiveFault("is not sound: %s", strings.Join(v.Problems, "; "))
	}
	return v, clean(dir)
}

// verifyInto unpacks an archive into an empty folder, and looks its databases through there.
func verifyInto(ctx context.Context, archive io.Reader, dir string) (v Verification, err error) {
	m, err := unpack(archive, func(m Manifest) error {
		// The sizes are the archive's own word: a small one could claim to be a huge one.
		return roomFor(dir, uint64(m.bytes())+spareDisk)
	}, func(f ArchivedFile, content io.Reader) error {
		file, err := os.OpenFile(filepath.Join(dir, f.Name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer context.AfterFunc(ctx, func() { _ = file.Close() })() // which ends the copying
		_, err = io.Copy(file, content)
		switch _, own := errors.AsType[*fs.PathError](err); {
		case ctx.Err() != nil:
			err = ctx.Err()
		case err == nil:
			err = file.Sync()
		case !own:
			err = brokenOff(err) // it could not be read; else it could not be written
		}
		return errors.Join(err, file.Close())
	})
	if err != nil {
		return v, err
	}
	v = Verification{Archive: true, Version: m.Version, CreatedAt: &m.CreatedAt, Databases: []VerifiedFile{}, Problems: []string{}}
	for _, f := range m.Files {
		v.OwnerToken = v.OwnerToken || f.Name == locate.OwnerTokenName
	}
	return v, v.look(ctx, dir)
}

// VerifyFolder looks a data folder through, which may be in use, and changes nothing of it.
func VerifyFolder(ctx context.Context, data string) (Verification, error) {
	v := Verification{Databases: []VerifiedFile{}, Problems: []string{}}
	if _, err := os.Stat(data); err != nil {
		return v, err
	}
	if log, err := os.Stat(filepath.Join(data, "learning.db-wal")); err == nil && log.Size() > 0 {
		v.Notes = append(v.Notes, unledgered)
	}
	was := readHighWater(data) // before the databases are read, which may go on meanwhile
	if err := v.look(ctx, data); err != nil || len(v.Problems) > 0 {
		return v, err
	}
	return v, v.compareLogs(ctx, data, was)
}

// compareLogs looks for what a crash and a damage cost: the logs' own marks of
// how far they had come, and write-ahead logs that go on behind a damage.
func (v *Verification) compareLogs(ctx context.Context, data string, was highWater) error {
	open := map[string]querier{}
	for _, name := range database.Names() {
		path := filepath.Join(data, name+".db")
		db, err := database.OpenForReading(path)
		if err != nil {
			return err
		}
		defer db.Close()
		open[name] = database.Spoken(db)
		torn, err := wal.Settled(path)
		if err != nil {
			return err
		}
		if torn.Sure {
			v.Problems = append(v.Problems, fmt.Sprintf("%s.db-wal is damaged: %s", name, torn))
		}
	}
	now, err := reached(ctx, open["learning"], open["operational"])
	if err != nil {
		return err
	}
	v.Problems = append(v.Problems, was.behind(now)...)
	v.OK = v.OK && len(v.Problems) == 0
	return nil
}

// look examines both databases, the one with the cursors first, and whether they fit each other.
func (v *Verification) look(ctx context.Context, dir string) error {
	found := map[string]Contents{}
	for _, name := range database.Names() {
		path := filepath.Join(dir, name+".db")
		info, err := os.Stat(path)
		if err != nil {
			v.Problems = append(v.Problems, name+".db cannot be read: "+err.Error())
			continue
		}
		contents, wrong, err := examine(ctx, name, path)
		if err != nil {
			return err
		}
		for _, what := range wrong {
			v.Problems = append(v.Problems, name+".db "+what)
		}
		found[name] = contents
		v.Databases = append(v.Databases, VerifiedFile{Name: name + ".db", Bytes: info.Size(), Contents: contents})
	}
	if len(v.Problems) == 0 {
		v.Problems = append(v.Problems, leading(found["operational"], found["learning"])...)
	}
	v.OK = len(v.Problems) == 0
	if !v.OK {
		return nil
	}
	db, err := database.OpenForReading(filepath.Join(dir, "learning.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	hashes, err := compareHashes(ctx, db)
	if err != nil {
		return err
	}
	if said := hashes.String(); said != "" {
		v.Altered, v.OK = append(v.Altered, "learning.db: "+said), false
	}
	return nil
}

// leading names the cursors that are ahead of the log that they follow: what
// lies between would never be delivered.
func leading(operational, learning Contents) (wrong []string) {
	logs := map[string]Contents{".learning": learning, ".operational": operational}
	for _, cursor := range slices.Sorted(maps.Keys(operational.Cursors)) {
		for suffix, log := range logs {
			if at := operational.Cursors[cursor]; strings.HasSuffix(cursor, suffix) && at > log.LastEvent {
				wrong = append(wrong, fmt.Sprintf("the cursor %s stands at %d, ahead of the last event %d: the two databases are not of one time", cursor, at, log.LastEvent))
			}
		}
	}
	return wrong
}

// visit goes over what a query answers, and closes it. The query's own error is returned as it is.
func visit(rows *sql.Rows, err error, each func() error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// number reads one number.
func number(ctx context.Context, db querier, query string, into *int64) error {
	return db.QueryRowContext(ctx, query).Scan(into)
}

// contentsOf says how far a database is, in one state of it.
func contentsOf(ctx context.Context, path string) (c Contents, err error) {
	db, err := database.OpenForReading(path)
	if err != nil {
		return c, err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return c, err
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	if c.Schema, err = database.Version(ctx, tx); err != nil {
		return c, err
	}
	if err := tx.QueryRowContext(ctx, "SELECT ifnull(max(seq), 0) FROM events").Scan(&c.LastEvent); err != nil {
		return c, err
	}
	if found, err := texts(ctx, tx, "SELECT name FROM sqlite_schema WHERE name = 'cursors'"); len(found) == 0 {
		return c, err
	}
	rows, err := tx.QueryContext(ctx, "SELECT name, seq FROM cursors")
	c.Cursors = map[string]int64{}
	return c, visit(rows, err, func() error {
		var name string
		var seq int64
		err := rows.Scan(&name, &seq)
		c.Cursors[name] = seq
		return err
	})
}

// hashBatch is how many rows are compared with their hashes in one read, so that
// a router that writes meanwhile need not keep an old state for long.
const hashBatch = 500

// maxAltered bounds how many rows are named that are not as they were stored.
const maxAltered = 20

// hashesCompared says how a comparison of rows with their hashes went.
type hashesCompared struct {
	rows    int64    // that were compared
	wrong   int64    // that are not as they were stored
	altered []string // the first of these, by id
}

// compareHashes holds every row of a database that has a hash of its content
// against it: knowledge, in learning.db. It goes through them in small reads.
func compareHashes(ctx context.Context, db querier) (c hashesCompared, err error) {
	for last := int64(-1 << 62); ; {
		rows, err := db.QueryContext(ctx, "SELECT num, id, project, title, content, content_hash FROM knowledge WHERE num > ? ORDER BY num LIMIT ?", last, hashBatch)
		n := 0
		if err := visit(rows, err, func() error {
			var id, project, title, content string
			var hash []byte
			if err := rows.Scan(&last, &id, &project, &title, &content, &hash); err != nil {
				return err
			}
			n++
			want := learning.FingerprintOf(project, title, content)
			if c.rows++; bytes.Equal(hash, want[:]) {
				return nil
			}
			if c.wrong++; len(c.altered) < maxAltered {
				c.altered = append(c.altered, id)
			}
			return nil
		}); err != nil || n < hashBatch {
			return c, err
		}
	}
}

// String names the rows that are not as they were stored; it is empty if all are.
func (c hashesCompared) String() string {
	if c.wrong == 0 {
		return ""
	}
	said := fmt.Sprintf("%d of %d entries of knowledge are not as they were stored (their content and their hash differ): %s", c.wrong, c.rows, strings.Join(c.altered, ", "))
	if more := c.wrong - int64(len(c.altered)); more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	return said
}

// examine looks a database file through from end to end, and changes nothing
// of it. It returns what is wrong with it, in words; err is of not being able to look.
func examine(ctx context.Context, name, path string) (c Contents, wrong []string, err error) {
	if err := database.Inspect(ctx, name, path); err != nil {
		return c, []string{strings.TrimSuffix(strings.TrimPrefix(err.Error(), path+" "), " It was not changed.")}, nil
	}
	db, err := database.OpenForReading(path)
	if err != nil {
		return c, nil, err
	}
	defer db.Close()
	for _, check := range []struct{ name, query, well string }{{"integrity_check(1)", "PRAGMA integrity_check(1)", "ok"}, {"foreign_key_check", `SELECT "table" FROM pragma_foreign_key_check`, ""}} {
		found, err := texts(ctx, db, check.query)
		if ctx.Err() != nil {
			return c, nil, ctx.Err()
		}
		verdict := strings.Join(found[:min(len(found), 1)], "")
		if err != nil || verdict != check.well {
			wrong = append(wrong, check.name+" says "+database.Fault(err, verdict))
		}
	}
	if len(wrong) > 0 {
		return c, wrong, nil
	}
	if c, err = contentsOf(ctx, path); err != nil {
		return c, []string{err.Error()}, ctx.Err()
	}
	foreign, err := foreignSchema(ctx, name, db, c.Schema)
	if err != nil {
		return c, nil, err
	}
	if foreign != "" {
		wrong = append(wrong, foreign)
	}
	return c, wrong, nil
}

// foreignSchema compares a database's tables, indexes, triggers and views with
// those that its migrations make, and names the first that differs: a file
// that somebody else made could bring triggers of its own.
func foreignSchema(ctx context.Context, name string, db *sql.DB, version int64) (string, error) {
	const list = "SELECT type || ' ' || name || char(10) || ifnull(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name"
	there, err := texts(ctx, db, list)
	if err != nil {
		return "", err
	}
	model, err := database.Model(ctx, name, ":memory:", version)
	if err != nil {
		return "", err
	}
	defer model.Close()
	want, err := texts(ctx, model, list)
	if err != nil {
		return "", err
	}
	for _, side := range []struct {
		has, other []string
		what       string
	}{{there, want, "is not as schema version %d has it"}, {want, there, "of schema version %d is missing or another"}} {
		for _, object := range side.has {
			if !slices.Contains(side.other, object) {
				title, _, _ := strings.Cut(object, "\n")
				return title + " " + fmt.Sprintf(side.what, version), nil
			}
		}
	}
	return "", nil
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// texts reads the one column of what a query answers.
func texts(ctx context.Context, db querier, query string) (found []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	err = visit(rows, err, func() error {
		var text sql.NullString
		err := rows.Scan(&text)
		found = append(found, text.String)
		return err
	})
	return found, err
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
