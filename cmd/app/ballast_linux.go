package app

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate takes room on the disk for a file without writing it, or says errors.ErrUnsupported.
func allocate(file *os.File, size int64) error {
	err := unix.Fallocate(int(file.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	return err
}
