// Package file reads a file within a bound, and replaces one whole.
package file

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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

// ReadHead reads the beginning of a file, at most so many bytes. To tell a file that is too long
// from one that just fits, ask for one byte more.
func ReadHead(name string, most int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// ReadSmall reads a file that somebody else named. It refuses a file of more than most bytes. Before it opens anything, it
// refuses all but regular files, because opening could wait for ever, as at a pipe.
func ReadSmall(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	text, err := ReadHead(name, most+1)
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return text, err
}

// Replace puts a text in the place of a file at once: whoever reads it sees the old text or the new one, also after a power cut.
func Replace(path string, text []byte, mode fs.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.new")
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
