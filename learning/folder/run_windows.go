package folder

import (
	"os/exec"
	"strconv"
)

// shell runs one line.
func shell() Command { return Command{"cmd", "/C"} }

// group has the command and what it started ended when its time is up.
func group(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
		return cmd.Process.Kill()
	}
}

// killGroup does nothing: Windows keeps no account of what an ended process started.
func killGroup(*exec.Cmd) {}
