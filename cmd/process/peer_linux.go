package process

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID is the user of the program that made the other end of a socket.
func peerUID(conn *net.UnixConn) (uid int, known bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, false
	}
	var peer *unix.Ucred
	failed := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if failed != nil || err != nil {
		return 0, false
	}
	return int(peer.Uid), true
}
