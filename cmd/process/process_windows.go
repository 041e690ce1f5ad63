package process

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Own is true: there, the folders of users are closed to each other.
func Own(fs.FileInfo) bool { return true }

// Close lets this user, administrators and the system into a folder, and nobody else.
func Close(dir string) error {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	list, err := windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + user.User.Sid.String() + ")")
	if err != nil {
		return err
	}
	rights, _, err := list.DACL()
	if err != nil {
		return err
	}
	_ = windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, rights, nil)
	return nil // some volumes keep no such lists: Closed then says whose the folder is
}

// Closed says why a folder may be another user's, or nil: its owner is this user, the administrators or the system.
func Closed(dir string) error {
	info, err := windows.GetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	owner, _, err := info.Owner()
	if err != nil {
		return err
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	if !owner.Equals(user.User.Sid) && !owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) && !owner.IsWellKnown(windows.WinLocalSystemSid) {
		return fmt.Errorf("the folder %s belongs to another user (%s)", dir, owner)
	}
	return nil
}

// Vouch says why a connection to a socket in a folder may lead to another user's program, or nil: Windows does not tell whose that
// is, and the folder must be this user's.
func Vouch(_ *net.UnixConn, dir string) error { return Closed(dir) }

// Detached gives a process no console and a group of its own, so that neither
// the console's signals nor its end reach it.
func Detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

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

// look reads a process from a snapshot of all: its parent and the name of its program,
// which is all that is told of its arguments. Its beginning it says itself.
func look(pid int) (one Ancestor, above int, ok bool) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return one, 0, false
	}
	defer windows.CloseHandle(snapshot) //nolint:errcheck // nothing was written
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		if int(entry.ProcessID) != pid {
			continue
		}
		process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, entry.ProcessID)
		if err != nil {
			return one, 0, false
		}
		defer windows.CloseHandle(process) //nolint:errcheck // nothing was written
		var began, ended, kernel, user windows.Filetime
		if windows.GetProcessTimes(process, &began, &ended, &kernel, &user) != nil {
			return one, 0, false
		}
		return Ancestor{
			PID: pid, Started: strconv.FormatInt(began.Nanoseconds(), 10), Args: []string{windows.UTF16ToString(entry.ExeFile[:])},
		}, int(entry.ParentProcessID), true
	}
	return one, 0, false
}
