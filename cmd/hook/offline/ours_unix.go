//go:build unix

package offline

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ours refuses a file of another user, and one that others may read or write.
func ours(info os.FileInfo) error {
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		return errors.New("belongs to another user")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("may be read or written by others (%v)", info.Mode().Perm())
	}
	return nil
}
