package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// A restore unpacks into stagingPrefix…, inside the data folder, and looks
// everything through. Then it renames that to readyName, and from there on it
// has happened: whoever takes the folder next, after whatever kill, moves what
// was there aside and the restored files into place before anything is opened.
const (
	stagingPrefix = "restore.tmp-"
	readyName     = "restore.ready"
	asideFile     = "aside" // in readyName: the name of the folder for what was there
	asidePrefix   = "before-restore-"
)

// RestoreOptions are what a restore takes besides the archive and the folder.
type RestoreOptions struct {
	Force bool        // also over databases that are there; these are kept aside
	Now   clock.Clock // time.Now if nil
	// Passphrase asks a person for the passphrase of the folder, if one is set; nil: nobody can be asked.
	Passphrase func(ctx context.Context) (string, error)
}

// Restored says what became of a restore.
type Restored struct {
	Data  string `json:"data"`
	Aside string `json:"aside,omitempty"` // the folder that has what was there before; empty: nothing was
	Verification
}

// Restore puts a backup's databases into a data folder that no router holds.
// Until the archive has been read and looked through from end to end, nothing
// of the folder changes; then all of it does.
func Restore(ctx context.Context, archive io.Reader, data string, options RestoreOptions) (r Restored, err error) {
	options.Now = options.Now.Given()
	_, existed := os.Stat(data)
	if err := prepareFolder(data); err != nil {
		return r, err
	}
	lock, err := takeFolder(data)
	if err != nil {
		return r, err
	}
	defer func() {
		err = errors.Join(err, lock.Release())
		if err != nil && errors.Is(existed, fs.ErrNotExist) {
			_ = os.Remove(filepath.Join(data, locate.LockName)) // a folder that was made for nothing goes again, if it is empty
			_ = os.Remove(data)
		}
	}()
	if err := provePerson(ctx, data, options.Passphrase); err != nil {
		return r, err
	}
	if err := sweepBackups(data); err != nil {
		return r, err
	}
	if there := present(ctx, data); len(there) > 0 && !options.Force {
		return r, errs.Errorf(errs.Conflict, "%s holds %s already: restore to another folder, or force it, which keeps what is there aside", data, strings.Join(there, ", "))
	}
	staging, err := os.MkdirTemp(data, stagingPrefix)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }() // it is not there any more if all went well
	if r.Verification, err = UnpackArchive(ctx, archive, staging); err != nil {
		return r, err
	}
	r.Data = data
	keep := database.FreshName(data, asidePrefix+options.Now().UTC().Format("20060102T150405Z"), "")
	for _, name := range database.Names() {
		if err := database.TurnToWAL(ctx, filepath.Join(staging, name+".db")); err != nil {
			return r, err
		}
	}
	if err := clean(staging); err != nil {
		return r, err
	}
	if err := database.WriteSynced(filepath.Join(staging, asideFile), []byte(keep)); err != nil {
		return r, err
	}
	if err := errors.Join(database.SyncFolder(staging), ctx.Err()); err != nil {
		return r, err
	}
	if err := os.Rename(staging, filepath.Join(data, readyName)); err != nil {
		return r, err
	}
	if err := errors.Join(database.SyncFolder(data), finishRestore(data)); err != nil {
		return r, err
	}
	if _, err := os.Stat(filepath.Join(data, keep)); err == nil {
		r.Aside = filepath.Join(data, keep)
	}
	return r, nil
}

// clean removes what looking databases through left beside them.
func clean(dir string) error {
	for _, name := range database.Names() {
		for _, suffix := range []string{"-journal", "-wal", "-shm"} {
			if err := os.Remove(filepath.Join(dir, name+".db"+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// restoring tells whether a restore of a folder was cut off where it has happened: see finishRestore.
func restoring(data string) bool { return fileThere(filepath.Join(data, readyName, asideFile)) }

// finishRestore does what is left of a restore that was decided. It may be
// killed at any step and begun again. The folder must be held, and no database open.
func finishRestore(data string) error {
	ready := filepath.Join(data, readyName)
	aside, err := os.ReadFile(filepath.Join(ready, asideFile))
	if errors.Is(err, fs.ErrNotExist) {
		// It is not there, or all that is left of it is the empty folder.
		if err := os.Remove(ready); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errs.Wrap(errs.Unavailable, err, "%s is no finished restore: move it away", ready)
		}
		return nil
	}
	if err != nil {
		return err
	}
	name := string(aside)
	if !strings.HasPrefix(name, asidePrefix) || name != filepath.Base(name) {
		return errs.Errorf(errs.Unavailable, "%s does not say where what is there goes: move it away", ready)
	}
	keep := filepath.Join(data, name)
	entries, err := os.ReadDir(ready)
	if err != nil {
		return err
	}
	var restored []string
	for _, entry := range entries {
		if entry.Name() != asideFile {
			restored = append(restored, entry.Name())
		}
	}
	// A database that has not been moved in yet stands before a file of that name that is
	// the old one; one that has, does not, and what is there is not touched again.
	if len(restored) > 0 { // else all that is of before went aside before the last file came in
		for _, name := range slices.Concat(restored, []string{proceduresFolder, highWaterName, lossesName}) {
			if err := moveAside(data, keep, name); err != nil {
				return err
			}
		}
	}
	if err := database.SyncFolder(keep); err != nil && !errors.Is(err, fs.ErrNotExist) { // nothing may have gone there
		return err
	}
	if err := database.SyncFolder(data); err != nil {
		return err
	}
	for _, name := range restored {
		if err := os.Rename(filepath.Join(ready, name), filepath.Join(data, name)); err != nil {
			return err
		}
	}
	// Each step is on disk before what tells that it is to do goes.
	if err := errors.Join(database.SyncFolder(data), database.SyncFolder(ready)); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(ready, asideFile)); err != nil {
		return err
	}
	if err := errors.Join(database.SyncFolder(ready), os.Remove(ready)); err != nil {
		return err
	}
	return database.SyncFolder(data)
}

// proceduresFolder is where procedures are files, unless the settings say
// otherwise. The databases have them too, and write the files again: those of
// before the restore would be taken for newer ones.
const proceduresFolder = "procedures"

// moveAside moves a file, or a database with its log, out of the way.
func moveAside(data, keep, name string) error {
	names := []string{name}
	if strings.HasSuffix(name, ".db") {
		// The log first: without its database it is refused, never applied to another one.
		names = []string{name + "-shm", name + "-wal", name + "-journal", name}
	}
	for _, one := range names {
		from := filepath.Join(data, one)
		if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := MakeFolder(keep); err != nil {
			return err
		}
		if err := os.Rename(from, filepath.Join(keep, one)); err != nil {
			return err
		}
	}
	return nil
}

// present names what of a router's a folder holds.
func present(ctx context.Context, data string) (there []string) {
	if missing, traces := Missing(ctx, data); len(missing) > 0 && len(traces) == 0 {
		return nil // a first start that was cut off: nobody was told of what is there; it goes aside all the same
	}
	for _, name := range database.Names() {
		if _, err := os.Lstat(filepath.Join(data, name+".db")); err == nil {
			there = append(there, name+".db")
		} else if log, err := os.Stat(filepath.Join(data, name+".db-wal")); err == nil && log.Size() > 0 {
			there = append(there, name+".db-wal")
		}
	}
	if entries, err := os.ReadDir(filepath.Join(data, proceduresFolder)); err == nil && len(entries) > 0 {
		there = append(there, proceduresFolder)
	}
	slices.Sort(there)
	return there
}
