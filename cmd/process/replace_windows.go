package process

import (
	"errors"
	"os"
	"os/exec"
)

// Replace runs another program with this process's input, output and
// environment, because Windows lets none take a process's place, and returns its
// exit code. args begin with the name that the program is told of itself.
func Replace(program string, args []string) (code int, err error) {
	cmd := exec.Command(program)
	cmd.Args = args
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode(), nil
	}
	return 0, err
}
