//go:build unix

package history

import (
	"io/fs"
	"os"
	"syscall"
)

// own tells whether a file is this user's. Another's says what another did, or was put there for us to read.
func own(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Getuid()
}
