//go:build unix

package process

import "syscall"

// Detached gives a process a session of its own, so that neither the
// terminal's signals nor its end reach it.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
