package file

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
)

// WriteIn puts a file into its place below root whole and durably: whoever reads it, also after a crash, finds what was there
// before or all of this. Folders above it are made. A regular file that is replaced keeps its permissions; what is no regular
// file stays, and ErrExist is returned. private keeps others of the machine from what is new.
func WriteIn(root *os.Root, name string, text []byte, private bool) error {
	dir, folders, mode := path.Dir(name), fs.FileMode(0o755), fs.FileMode(0o644)
	if private {
		folders, mode = 0o700, 0o600
	}
	if err := root.MkdirAll(dir, folders); err != nil {
		return err
	}
	if info, err := root.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return &fs.PathError{Op: "write", Path: name, Err: fs.ErrExist}
		}
		mode = info.Mode().Perm()
	}
	temporary := path.Join(dir, "."+path.Base(name)+".tmp-"+rand.Text())
	file, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	SettleIn(root, dir)
	return nil
}

// SettleIn makes a change of a folder below root durable, where the platform can.
func SettleIn(root *os.Root, dir string) {
	if held, err := root.Open(dir); err == nil {
		_ = held.Sync()
		_ = held.Close()
	}
}
