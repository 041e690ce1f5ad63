//go:build unix

package folder

import (
	"os"
	"os/exec"
	"syscall"
)

// shell runs one line.
func shell() Command { return Command{"sh", "-c"} }

// group has a command lead a process group, and its group be asked to end when its time is up.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); err != nil {
			return os.ErrProcessDone
		}
		return nil
	}
}

// killGroup ends what is left of a command's group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
