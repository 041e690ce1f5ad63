package process

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// look reads a process from sysctl(3): kern.proc.pid has its parent and its beginning,
// kern.procargs2 its arguments after their number and the program's path.
func look(pid int) (one Ancestor, above int, ok bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return one, 0, false
	}
	began := info.Proc.P_starttime
	one = Ancestor{PID: pid, Started: strconv.FormatInt(began.Sec, 10) + "." + strconv.FormatInt(int64(began.Usec), 10)}
	if text, err := unix.SysctlRaw("kern.procargs2", pid); err == nil && len(text) > 4 {
		_, rest, _ := bytes.Cut(text[4:], []byte{0})
		rest = bytes.TrimLeft(rest[:min(len(rest), maxArgsText)], "\x00")
		args := strings.Split(string(rest), "\x00")
		one.Args = args[:min(len(args), maxArgs)]
	}
	return one, int(info.Eproc.Ppid), true
}
