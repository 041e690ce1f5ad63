package process

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// Detached gives a process no console and a group of its own, so that neither
// the console's signals nor its end reach it.
func Detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}
