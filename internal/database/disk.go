package database

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// FreshName is title with an ending, and a number if that is there in dir.
func FreshName(dir, title, ending string) string {
	for n, fresh := 2, title+ending; ; n++ {
		if _, err := os.Lstat(filepath.Join(dir, fresh)); errors.Is(err, fs.ErrNotExist) {
			return fresh
		}
		fresh = fmt.Sprintf("%s-%d%s", title, n, ending)
	}
}

// WriteSynced writes a new file, and brings it to disk.
func WriteSynced(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}

// SyncFolder makes renames within a folder last through a power cut, where the system can.
func SyncFolder(dir string) error {
	folder, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil // a parent that this user may pass through and not read
	}
	if err != nil {
		return err
	}
	if err := folder.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrPermission) {
		return errors.Join(fmt.Errorf("sync %s: %w", dir, err), folder.Close())
	}
	return folder.Close()
}

// SyncFile brings a file to disk.
func SyncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// outOfRoom tells whether a write below dir fails for want of room, and for
// which: SQLite says of ENOSPC alone that the disk is full, and of a quota or a limit
// on the size of files that the disk failed. It tries what SQLite did.
func outOfRoom(dir string, size int64) error {
	file, err := os.CreateTemp(dir, "probe.tmp-*")
	if err == nil {
		const page = 4 << 10
		if _, err = file.WriteAt(make([]byte, page), size); err == nil { // past the largest file, which takes no room
			_, err = file.WriteAt(make([]byte, 16*page), 0)
		}
		_ = file.Close()
		_ = os.Remove(file.Name())
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) {
			return full
		}
	}
	return nil
}
