package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillrouter/cmd/locate"
	"skillrouter/internal/database"
	"skillrouter/internal/database/wal"
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
		_, err = io.Copy(file, &cancelled{ctx, content})
		if err == nil {
			err = file.Sync()
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
	err = v.look(ctx, dir, func(name string, found Contents) string {
		said, _ := m.database(name)
		if same, how := said.same(found); !same {
			return "holds " + how + ", as its manifest says"
		}
		return ""
	})
	return v, err
}

// cancelled is a reader that ends with its context.
type cancelled struct {
	ctx  context.Context
	from io.Reader
}

// Read implements io.Reader.
func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.from.Read(p)
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
	if err := v.look(ctx, data, nil); err != nil || len(v.Problems) > 0 {
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
func (v *Verification) look(ctx context.Context, dir string, compare func(name string, found Contents) string) error {
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
		if compare != nil && len(wrong) == 0 {
			if how := compare(name, contents); how != "" {
				wrong = append(wrong, how)
			}
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
