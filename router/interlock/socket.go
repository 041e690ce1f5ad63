package interlock

import (
	"net"
	"net/netip"
	"time"
)

// socketBuffer is how much may wait in the kernel, in bytes, while a datagram is
// looked at; the kernel may give less.
const socketBuffer = 1 << 20

// socket is a bound UDP socket: a *net.UDPConn.
type socket interface {
	ReadFromUDPAddrPort(b []byte) (n int, from netip.AddrPort, err error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
	SetReadDeadline(t time.Time) error
	LocalAddr() net.Addr
}

// Listen binds the socket that a Mesh hears and speaks through. Whoever calls it closes it.
func Listen(address string) (*net.UDPConn, error) {
	packets, err := net.ListenPacket("udp", address)
	if err != nil {
		return nil, err
	}
	udp := packets.(*net.UDPConn) //nolint:forcetypeassert // what it returns for "udp"
	_ = udp.SetReadBuffer(socketBuffer)
	return udp, nil
}
