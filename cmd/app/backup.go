package app

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"skillrouter/cmd/locate"
	"skillrouter/internal/clock"
	"skillrouter/internal/database"
	"skillrouter/internal/errs"
)

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

	dir   string
	token []byte // the owner's, if it was asked for
}

// TakeSnapshot copies the databases of a data folder, which may be in use, into
// a folder beside them. Whatever was acknowledged before it began is in it. It
// must be closed.
func TakeSnapshot(ctx context.Context, data string, options BackupOptions) (_ *Snapshot, err error) {
	options.Now = options.Now.Given()
	s := &Snapshot{Manifest: Manifest{
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
		bytes, sum, err := checksum(to)
		if err != nil {
			return nil, err
		}
		s.Manifest.Files = append(s.Manifest.Files, ArchivedFile{Name: name + ".db", Bytes: bytes, SHA256: sum, Contents: &contents})
	}
	if options.OwnerToken {
		secret, err := locate.ReadOwnerToken(data)
		if err != nil {
			return nil, fmt.Errorf("read the owner's token: %w", err)
		}
		s.token = []byte(secret + "\n")
		sum := sha256.Sum256(s.token)
		s.Manifest.Files = append(s.Manifest.Files, ArchivedFile{Name: locate.OwnerTokenName, Bytes: int64(len(s.token)), SHA256: hex.EncodeToString(sum[:])})
	}
	return s, nil
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
		if f.Name == locate.OwnerTokenName {
			if err := s.entry(archive, f.Name, f.Bytes, strings.NewReader(string(s.token))); err != nil {
				return err
			}
			continue
		}
		if err := s.file(archive, f); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

func (s *Snapshot) file(archive *tar.Writer, f ArchivedFile) error {
	file, err := os.Open(filepath.Join(s.dir, f.Name))
	if err != nil {
		return err
	}
	defer file.Close()
	return s.entry(archive, f.Name, f.Bytes, file)
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
func (s *Snapshot) Close() error { return os.RemoveAll(s.dir) }

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

// checksum reads a file from end to end.
func checksum(path string) (bytes int64, sum string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer file.Close()
	hash := sha256.New()
	bytes, err = io.Copy(hash, file)
	return bytes, hex.EncodeToString(hash.Sum(nil)), err
}

// Hold takes a data folder that no router holds, for whoever reads or replaces
// it as a whole, and brings to its end what was left undone in it. A held one
// is a Conflict error that names who holds it.
func Hold(data string) (release func() error, err error) {
	lock, err := Acquire(data, locate.Holder{PID: os.Getpid(), Started: time.Now()})
	if sealed := database.Writable(data); sealed != nil && errs.CodeOf(err) != errs.Conflict {
		return holdSealed(data, lock, err, sealed)
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(finishRestore(data), sweepBackups(data)); err != nil {
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
	if _, err := os.Stat(filepath.Join(data, readyName)); err == nil {
		return true
	}
	for _, name := range database.Names() {
		if _, err := os.Stat(filepath.Join(data, name+".db")); err != nil {
			return false
		}
	}
	return true
}
