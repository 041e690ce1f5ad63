//go:build unix

package cli

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup lets a command be ended with all that it started.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
}
