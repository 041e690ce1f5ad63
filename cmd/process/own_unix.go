//go:build unix

package process

import (
	"io/fs"
	"os"
	"syscall"
)

// Own tells whether a file is of the user that this process acts as. Another's says what another did, or was put there for us to read.
func Own(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}
