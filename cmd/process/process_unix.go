//go:build unix

package process

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// Own tells whether a file is of the user that this process acts as. Another's says what another did, or was put there for us to read.
func Own(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}

// Close takes other users' rights on a folder away.
func Close(dir string) error { return os.Chmod(dir, 0o700) }

// Closed says why somebody else may have a hand in a folder, or nil if nobody can. The superuser may call the routers
// of all users: a folder is closed for it if it is closed for its owner.
func Closed(dir string) error {
	_, err := closed(dir)
	return err
}

// closed is Closed, and the folder's owner.
func closed(dir string) (owner int, err error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir() || !ok:
		return 0, fmt.Errorf("%s is no folder", dir)
	case int(stat.Uid) != os.Geteuid() && os.Geteuid() != 0:
		return 0, fmt.Errorf("the folder %s belongs to another user (uid %d)", dir, stat.Uid)
	case info.Mode().Perm()&0o077 != 0:
		return 0, fmt.Errorf("the folder %s is open to other users (%v): chmod 700 %[1]s", dir, info.Mode().Perm())
	}
	return int(stat.Uid), nil
}

// Vouch says why a connection to a socket in a folder may lead to another user's program, or nil: the folder is closed, and
// the program is its owner's, or the superuser's.
func Vouch(conn *net.UnixConn, dir string) error {
	owner, err := closed(dir)
	if err != nil {
		return err
	}
	if uid, known := peerUID(conn); known && uid != owner && uid != 0 {
		return fmt.Errorf("another user's program (uid %d) is at the socket in %s", uid, dir)
	}
	return nil
}

// Detached gives a process a session of its own, so that neither the
// terminal's signals nor its end reach it.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Replace has another program take this process's place, with its input, output
// and environment. args begin with the name that the program is told of itself.
// It returns only if the program cannot be run.
func Replace(program string, args []string) (code int, err error) {
	return 0, syscall.Exec(program, args, os.Environ())
}
