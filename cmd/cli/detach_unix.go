//go:build unix

package cli

import "syscall"

// detached gives a process a session of its own, so that neither the
// terminal's signals nor its end reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
