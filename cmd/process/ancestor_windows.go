package process

import (
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

func parent() int { return os.Getppid() }

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
