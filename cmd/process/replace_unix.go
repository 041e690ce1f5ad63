//go:build unix

package process

import (
	"os"
	"syscall"
)

// Replace has another program take this process's place, with its input, output
// and environment. args begin with the name that the program is told of itself.
// It returns only if the program cannot be run.
func Replace(program string, args []string) (code int, err error) {
	return 0, syscall.Exec(program, args, os.Environ())
}
