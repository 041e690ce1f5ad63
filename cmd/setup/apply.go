package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
)

// Apply makes the changes: all of them, or none. What is needed to undo them is
// kept before the first is made, so that a process that is killed in between
// leaves nothing that PlanRemoval cannot take back. now names the backups.
func (p Plan) Apply(now time.Time) error {
	pending := p.Pending()
	for _, c := range pending {
		if err := unchanged(c); err != nil {
			return err
		}
	}
	done := &record{Agent: p.target.Agent, Dir: p.target.Dir, Home: p.target.Home, Personal: p.target.personal(), Content: p.content, At: now}
	if p.record != nil {
		done.Folders = p.record.Folders
	}
	forget := func() {}
	if !p.remove {
		var err error
		if forget, err = p.keep(done, now); err != nil {
			return err
		}
	}
	var undo []func() error
	back := func(err error) error {
		for _, f := range slices.Backward(undo) {
			err = errors.Join(err, f())
		}
		forget()
		return errors.Join(err, p.store.save(p.target, p.record))
	}
	for _, c := range pending {
		undo = append(undo, func() error { return restore(c) })
		var err error
		if c.after == nil {
			err = os.Remove(c.real)
		} else {
			err = file.Replace(c.real, c.after, c.mode)
		}
		if err != nil {
			return back(errs.Wrap(errs.Unavailable, err, "%s cannot be written: %v; nothing was changed", c.Path, err))
		}
	}
	if !p.remove {
		for _, c := range p.Changes {
			if kept := p.record.file(c.Path); c.out && kept != nil && kept.Backup != "" {
				_ = os.Remove(kept.Backup)
			}
		}
		return nil
	}
	p.clear(done.Folders)
	return p.store.save(p.target, nil)
}

// keep makes the folders and the backups, and stores what is to be undone.
// forget removes the folders and the backups again.
func (p Plan) keep(done *record, now time.Time) (forget func(), err error) {
	var made, backups []string
	forget = func() {
		for _, name := range backups {
			_ = os.Remove(name)
		}
		for _, dir := range slices.Backward(made) {
			_ = os.Remove(dir)
		}
	}
	fail := func(err error) (func(), error) {
		forget()
		return nil, err
	}
	for _, c := range p.Changes {
		if c.out {
			continue
		}
		k := savedFile{Path: c.Path, Real: c.real, After: digest(c.after), Before: c.former, Was: c.former != nil}
		if former := p.record.file(c.Path); former != nil {
			k.Backup = former.Backup
		}
		if c.Action == Create {
			folders, err := makeFolders(filepath.Dir(c.real))
			made = append(made, folders...)
			if err != nil {
				return fail(errs.Wrap(errs.Unavailable, err, "the folder of %s cannot be made: %v; nothing was changed", c.Path, err))
			}
		}
		if c.Action == Modify && k.Backup == "" {
			k.Backup = p.store.backup(p.target, c.real, now)
			if err := exclusive(k.Backup, c.before); err != nil {
				return fail(errs.Wrap(errs.Unavailable, err, "%s cannot be backed up: %v; nothing was changed", c.Path, err))
			}
			backups = append(backups, k.Backup)
		}
		done.Files = append(done.Files, k)
	}
	done.Folders = append(slices.Clone(done.Folders), made...)
	if err := p.store.save(p.target, done); err != nil {
		return fail(err)
	}
	return forget, nil
}

// clear removes the backups of a setup that is taken back, and the folders that
// it made, unless somebody keeps something there.
func (p Plan) clear(folders []string) {
	if p.record != nil {
		for _, k := range p.record.Files {
			if k.Backup != "" {
				_ = os.Remove(k.Backup)
			}
		}
	}
	for _, dir := range slices.Backward(folders) {
		_ = os.Remove(dir) // fails if it is not empty
	}
}

// unchanged sees that a file still is what the plan was made of.
func unchanged(c Change) error {
	text, err := os.ReadFile(c.real)
	if errors.Is(err, fs.ErrNotExist) && c.before == nil || err == nil && c.before != nil && bytes.Equal(text, c.before) {
		return nil
	}
	return errs.Errorf(errs.Conflict, "%s was changed by somebody else meanwhile; nothing was changed: do it again", c.Path)
}

// restore makes a file what it was.
func restore(c Change) error {
	if c.before == nil {
		if err := os.Remove(c.real); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return file.Replace(c.real, c.before, c.mode)
}

// makeFolders makes a folder and those above it, and lists what it made, the outermost first.
func makeFolders(dir string) (made []string, err error) {
	if _, err := os.Stat(dir); err == nil {
		return nil, nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if made, err = makeFolders(parent); err != nil {
			return made, err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return made, err
	}
	return append(made, dir), nil
}

// exclusive writes a file that must not be there yet, for its owner's eyes alone.
func exclusive(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already", path)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
