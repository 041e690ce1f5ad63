//go:build unix

package process

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Led tells whether this process belongs to a terminal's session whose first process, such as a shell, is
// among those above it, or is this one. A process that outlived who started it has lost it.
func Led(above []Ancestor) bool {
	leader, err := unix.Getsid(0)
	if err != nil || leader != os.Getpid() && !slices.ContainsFunc(above, func(a Ancestor) bool { return a.PID == leader }) {
		return false
	}
	terminal, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	return err == nil && terminal.Close() == nil
}
