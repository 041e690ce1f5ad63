//go:build unix && !linux && !darwin && !freebsd

package process

import "net"

// peerUID knows nobody: the folder of a socket says enough.
func peerUID(*net.UnixConn) (uid int, known bool) { return 0, false }
