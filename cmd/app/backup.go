package app

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// The form of a backup: a gzipped tar archive that begins with its manifest, so
// that whoever reads it knows from the first entry on what must follow.
const (
	archiveFormat  = "skillrouter-backup"
	archiveVersion = 1
	manifestName   = "manifest.json"
	// maxManifest bounds a manifest, in bytes: two databases with a hundred tables
	// each take a tenth of it.
	maxManifest = 1 << 20
	// maxOwnerToken bounds the owner's token in an archive, in bytes.
	maxOwnerToken = 4 << 10
)

// Manifest says what an archive must hold.
type Manifest struct {
	Format        string         `json:"format"`
	FormatVersion int            `json:"format_version"`
	Version       string         `json:"version"`    // of the program that made it
	CreatedAt     time.Time      `json:"created_at"` // when it was begun: what was acknowledged before is in it
	Files         []ArchivedFile `json:"files"`
}

// ArchivedFile is a file of an archive.
type ArchivedFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // in hexadecimal digits
	// Contents is of a database.
	Contents *Contents `json:"contents,omitempty"`
}

// Contents is how far a database is.
type Contents struct {
	Schema    int64            `json:"schema"`
	LastEvent int64            `json:"last_event"` // seq of its newest event
	Cursors   map[string]int64 `json:"cursors,omitempty"`
}

// bytes is how much the files take when they are unpacked.
func (m Manifest) bytes() (sum int64) {
	for _, f := range m.Files {
		sum += f.Bytes
	}
	return sum
}

func (m Manifest) text() []byte {
	text, _ := json.MarshalIndent(m, "", "  ") // strings, numbers and times of this era cannot fail
	return append(text, '\n')
}

// backupPrefix begins the name of a folder, inside the data folder, that a
// backup is prepared in. One that a kill left behind is removed at the next start.
const backupPrefix = "backup.tmp-"

// spareDisk is how much must stay free, in bytes, while copies are being made:
// what is being written meanwhile goes to the same disk.
const spareDisk = 64 << 20

// BackupOptions are what a backup takes besides the folder. The zero value is the real thing.
type BackupOptions struct {
	Version    string      // of the program
	Now        clock.Clock // time.Now if nil
	OwnerToken bool        // put the owner's token in, which opens every door of the router
}

// Snapshot is a backup that is ready to be written: copies of both databases,
// of one state each, and the manifest of them.
type Snapshot struct {
	Manifest Manifest

	dir  string // that has the files
	done func() // is called when it is closed
}

// TakeSnapshot copies the databases of a data folder, which may be in use, into
// a folder beside them. Whatever was acknowledged before it began is in it. It
// must be closed.
func TakeSnapshot(ctx context.Context, data string, options BackupOptions) (_ *Snapshot, err error) {
	options.Now = options.Now.Given()
	s := &Snapshot{done: func() {}, Manifest: Manifest{
		Format: archiveFormat, FormatVersion: archiveVersion, Version: options.Version, CreatedAt: options.Now().UTC(),
	}}
	scratch := data
	if database.Writable(data) != nil {
		scratch = os.TempDir() // it lies on a medium that is only read
	}
	if err := roomForCopies(data, scratch); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp(scratch, backupPrefix); err != nil {
		return nil, fmt.Errorf("make a folder for the copies: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	for _, name := range database.Names() {
		from, to := filepath.Join(data, name+".db"), filepath.Join(s.dir, name+".db")
		if _, err := os.Stat(from); errors.Is(err, os.ErrNotExist) {
			return nil, errs.Errorf(errs.NotFound, "there is no %s.db in %s: this is no data folder", name, data)
		}
		if scratch == data { // nothing is left half done where a router runs
			if err := database.RollBack(ctx, from); err != nil {
				return nil, err
			}
		}
		if err := database.Backup(ctx, from, to); err != nil {
			return nil, fmt.Errorf("copy %s: %w", from, database.Translate(err))
		}
		contents, err := contentsOf(ctx, to)
		if err != nil {
			return nil, fmt.Errorf("read the copy of %s: %w", from, err)
		}
		if err := s.list(name+".db", &contents); err != nil {
			return nil, err
		}
	}
	if options.OwnerToken {
		secret, err := locate.ReadOwnerToken(data)
		if err != nil {
			return nil, fmt.Errorf("read the owner's token: %w", err)
		}
		if err := os.WriteFile(filepath.Join(s.dir, locate.OwnerTokenName), []byte(secret+"\n"), 0o600); err != nil {
			return nil, err
		}
		if err := s.list(locate.OwnerTokenName, nil); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// list enters a file of the snapshot into its manifest.
func (s *Snapshot) list(name string, contents *Contents) error {
	file, err := os.Open(filepath.Join(s.dir, name))
	if err != nil {
		return err
	}
	defer file.Close()
	hash := sha256.New()
	bytes, err := io.Copy(hash, file)
	s.Manifest.Files = append(s.Manifest.Files, ArchivedFile{Name: name, Bytes: bytes, SHA256: hex.EncodeToString(hash.Sum(nil)), Contents: contents})
	return err
}

// Write writes the archive.
func (s *Snapshot) Write(w io.Writer) error {
	zipped, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	manifest := s.Manifest.text()
	if err := s.entry(archive, manifestName, int64(len(manifest)), strings.NewReader(string(manifest))); err != nil {
		return err
	}
	for _, f := range s.Manifest.Files {
		file, err := os.Open(filepath.Join(s.dir, f.Name))
		if err == nil {
			err = errors.Join(s.entry(archive, f.Name, f.Bytes, file), file.Close())
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

func (s *Snapshot) entry(archive *tar.Writer, name string, size int64, from io.Reader) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: s.Manifest.CreatedAt, Format: tar.FormatPAX}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(archive, from)
	return err
}

// Close removes the copies.
func (s *Snapshot) Close() error {
	defer s.done()
	return os.RemoveAll(s.dir)
}

// roomForCopies refuses to begin what would fill the disk.
func roomForCopies(data, scratch string) error {
	var need uint64 = spareDisk
	for _, name := range database.Names() {
		for _, suffix := range []string{"", "-wal"} {
			if info, err := os.Stat(filepath.Join(data, name+".db"+suffix)); err == nil {
				need += uint64(info.Size())
			}
		}
	}
	return roomFor(scratch, need)
}

func roomFor(dir string, need uint64) error {
	free, err := freeDisk(dir)
	if err != nil {
		return fmt.Errorf("look how much room there is in %s: %w", dir, err)
	}
	if free < need {
		return errs.Errorf(errs.StorageFull, "%d MiB are needed in %s for the copies, and %d MiB are free", need>>20, dir, free>>20)
	}
	return nil
}

// sweepBackups removes what copies left behind that were killed: backups, restores, upgrades. The folder must be held.
func sweepBackups(data string) error {
	entries, err := os.ReadDir(data)
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, backupPrefix) || strings.HasPrefix(name, stagingPrefix) || strings.HasSuffix(name, database.PartialSuffix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(data, entry.Name())))
		}
	}
	return err
}

// takeFolder takes a data folder that no router holds, and ends a restore of it that was cut off: what that replaced is nobody's any more.
func takeFolder(data string) (*Lock, error) {
	lock, err := Acquire(data, locate.Holder{PID: os.Getpid(), Started: time.Now()})
	if err != nil {
		return nil, err
	}
	if err := finishRestore(data); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return lock, nil
}

// takes takes a data folder, as takeFolder does, for as long as the life lasts.
func (l *life) takes(data string) error {
	lock, err := takeFolder(data)
	if err == nil {
		l.defers("lock", lock.Release)
	}
	return err
}

// Hold takes a data folder that no router holds, for whoever reads or replaces
// it as a whole, and brings to its end what was left undone in it. A held one
// is a Conflict error that names who holds it.
func Hold(data string) (release func() error, err error) {
	if sealed := database.Writable(data); sealed != nil {
		lock, err := Acquire(data, locate.Holder{PID: os.Getpid(), Started: time.Now()})
		if errs.CodeOf(err) != errs.Conflict {
			return holdSealed(data, lock, err, sealed)
		}
		return nil, err
	}
	lock, err := takeFolder(data)
	if err != nil {
		return nil, err
	}
	if err := sweepBackups(data); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return lock.Release, nil
}

// holdSealed takes a data folder that cannot be written to, where nothing can
// be brought to its end. Without a lock file nobody has it; on a medium that is
// only read nobody writes.
func holdSealed(data string, lock *Lock, failed, sealed error) (release func() error, err error) {
	release = func() error { return nil }
	if failed == nil {
		release = lock.Release
	} else if _, err := os.Stat(filepath.Join(data, locate.LockName)); err == nil && !errors.Is(sealed, syscall.EROFS) {
		return nil, failed
	}
	if _, err := os.Stat(filepath.Join(data, readyName)); err == nil {
		return nil, errors.Join(errs.Errorf(errs.Unavailable, "%s holds a restore that was cut off, and cannot be written to so that it could be finished: copy it to where it can", data), release())
	}
	return release, nil
}

// Holds tells whether a folder has a router's databases.
func Holds(data string) bool {
	lacks := func(name string) bool { return !fileThere(filepath.Join(data, name+".db")) }
	return fileThere(filepath.Join(data, readyName)) || !slices.ContainsFunc(database.Names(), lacks)
}

// archiveFault is what is wrong with an archive, for whoever holds it.
func archiveFault(format string, args ...any) error {
	return errs.Errorf(errs.Invalid, "the archive %s. Nothing was changed.", fmt.Sprintf(format, args...))
}

// unpack reads an archive from its first byte to its last, and hands each
// file's content to keep, which may be nil. The manifest comes first, and
// nothing is accepted that it does not name: no other file, no folder, no
// link, no name twice, no more bytes than it says. begin, which may be nil,
// is told the manifest before anything is kept.
func unpack(from io.Reader, begin func(Manifest) error, keep func(f ArchivedFile, content io.Reader) error) (m Manifest, err error) {
	in := bufio.NewReader(from) // gzip then takes no more of it than is its own
	zipped, err := gzip.NewReader(in)
	if err != nil {
		return m, archiveFault("is no backup: it does not begin as gzip does")
	}
	zipped.Multistream(false)
	archive := tar.NewReader(zipped)
	if m, err = readManifest(archive); err != nil {
		return m, err
	}
	if begin != nil {
		if err := begin(m); err != nil {
			return m, err
		}
	}
	wanted := slices.Clone(m.Files)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return m, brokenOff(err)
		}
		at := slices.IndexFunc(wanted, func(f ArchivedFile) bool { return f.Name == header.Name })
		if at < 0 || header.Typeflag != tar.TypeReg {
			return m, archiveFault("holds %q, which its manifest does not name or names already", header.Name)
		}
		f := wanted[at]
		wanted = slices.Delete(wanted, at, at+1)
		if header.Size != f.Bytes {
			return m, archiveFault("holds %d bytes of %s and should hold %d", header.Size, f.Name, f.Bytes)
		}
		if err := unpackFile(archive, f, keep); err != nil {
			return m, err
		}
	}
	if len(wanted) > 0 {
		return m, archiveFault("lacks %s", wanted[0].Name)
	}
	// What follows the tar's end is padding; reading it makes gzip check its own sum.
	if _, err := io.CopyN(io.Discard, zipped, maxPadding); !errors.Is(err, io.EOF) {
		if err == nil {
			return m, archiveFault("goes on after its end")
		}
		return m, brokenOff(err)
	}
	if _, err := in.ReadByte(); err == nil {
		return m, archiveFault("is followed by something else")
	}
	return m, nil
}

// maxDatabase bounds what a manifest may say of a file, in bytes: no disk that this runs on has more.
const maxDatabase = 1 << 46

// maxPadding bounds what may follow the last file, in bytes: tar fills its last record up.
const maxPadding = 64 << 10

func readManifest(archive *tar.Reader) (m Manifest, err error) {
	header, err := archive.Next()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return m, archiveFault("is empty")
		}
		return m, brokenOff(err)
	}
	if header.Name != manifestName || header.Typeflag != tar.TypeReg || header.Size > maxManifest {
		return m, archiveFault("is no backup of Skill Router: it does not begin with a %s", manifestName)
	}
	text, err := io.ReadAll(archive)
	if err != nil {
		return m, brokenOff(err)
	}
	// A later version may say more of a file: what this one does not know, it need not.
	if err := json.Unmarshal(text, &m); err != nil || m.Format != archiveFormat {
		return m, archiveFault("is no backup of Skill Router: its manifest cannot be read")
	}
	if m.FormatVersion != archiveVersion {
		return m, archiveFault("has the form %d, and this program knows only the form %d: use the program that made it (%s)", m.FormatVersion, archiveVersion, m.Version)
	}
	named := map[string]bool{}
	for _, f := range m.Files {
		database := f.Name == "learning.db" || f.Name == "operational.db"
		if !database && (f.Name != locate.OwnerTokenName || f.Bytes > maxOwnerToken) || f.Bytes < 0 || f.Bytes > maxDatabase || database && f.Contents == nil {
			return m, archiveFault("has a manifest that names %q, which is no part of a backup", f.Name)
		}
		if named[f.Name] {
			return m, archiveFault("has a manifest that names a file twice")
		}
		named[f.Name] = true
	}
	for _, name := range database.Names() {
		if !named[name+".db"] {
			return m, archiveFault("lacks %s.db", name)
		}
	}
	return m, nil
}

// unpackFile hands on one file's content and checks its sum.
func unpackFile(content io.Reader, f ArchivedFile, keep func(f ArchivedFile, content io.Reader) error) error {
	hash := sha256.New()
	read := io.TeeReader(content, hash)
	if keep != nil {
		if err := keep(f, read); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, read); err != nil {
		return brokenOff(err)
	}
	if hex.EncodeToString(hash.Sum(nil)) != f.SHA256 {
		return archiveFault("is damaged: the checksum of %s is another", f.Name)
	}
	return nil
}

func brokenOff(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return archiveFault("is truncated")
	}
	return archiveFault("is damaged: %v", err)
}

// CheckArchive reads an archive from end to end, checks every sum and keeps nothing.
func CheckArchive(from io.Reader) (Manifest, error) { return unpack(from, nil, nil) }

// backup prepares a backup of the running router. There is one at a time:
// each needs the room of both databases.
func (a *App) backup(ctx context.Context, ownerToken bool) (httpapi.Archive, error) {
	if on := a.learning.Server(); on != nil {
		return nil, errs.Errorf(errs.Conflict, "the databases are on %s, and not in files: copy them with pg_dump --schema=%s --schema=%s",
			on, on.Schema(a.learning.Name), on.Schema(a.operational.Name))
	}
	if !a.copying.TryLock() {
		return nil, errs.Errorf(errs.Conflict, "another backup is being made: try again when it is done")
	}
	snapshot, err := TakeSnapshot(ctx, a.config.Data, BackupOptions{Version: a.options.Version, Now: a.now, OwnerToken: ownerToken})
	if err != nil {
		a.copying.Unlock()
		return nil, fmt.Errorf("make a backup: %w", err)
	}
	snapshot.done = a.copying.Unlock // the next one may begin
	return snapshot, nil
}
