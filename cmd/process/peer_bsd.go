//go:build darwin || freebsd

package process

import (
	"net"

	"golang.org/x/sys/unix"
)

// solLocal is SOL_LOCAL of sys/un.h, the level of a Unix socket's own options.
const solLocal = 0

// peerUID is the user of the program that made the other end of a socket.
func peerUID(conn *net.UnixConn) (uid int, known bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, false
	}
	var peer *unix.Xucred
	failed := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptXucred(int(fd), solLocal, unix.LOCAL_PEERCRED) })
	if failed != nil || err != nil {
		return 0, false
	}
	return int(peer.Uid), true
}
