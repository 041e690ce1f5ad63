package process_test

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/process"
)

// TestPortHolder finds this process by a port that it listens on, and nobody by one that it gave back.
func TestPortHolder(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Skip(err)
		}
		port := listener.Addr().(*net.TCPAddr).Port
		if got := process.PortHolder(port); !strings.HasSuffix(got, fmt.Sprintf("(process %d)", os.Getpid())) || strings.HasPrefix(got, " ") {
			t.Errorf("%s: held by %q", address, got)
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		if got := process.PortHolder(port); got != "" {
			t.Errorf("%s: held by %q after it was closed", address, got)
		}
	}
}

// TestPeerUID: whose the other end of a connection is, by both families of addresses, until that end is closed.
func TestPeerUID(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Skip(err)
		}
		defer listener.Close() //nolint:errcheck // nothing was written
		if !process.KnowsPeers(listener.Addr().(*net.TCPAddr).AddrPort()) {
			t.Errorf("%s: this process's own listener is not seen", address)
		}
		mine, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		here, there := listener.Addr().(*net.TCPAddr).AddrPort(), mine.LocalAddr().(*net.TCPAddr).AddrPort()
		if uid, found := process.PeerUID(here, there); !found || uid != os.Geteuid() {
			t.Errorf("%s: the peer is %d, %v", address, uid, found)
		}
		if uid, found := process.PeerUID(there, here); found { // nobody has accepted it: no process has this end
			t.Errorf("%s: the end that nobody has open is %d's", address, uid)
		}
		if err := mine.Close(); err != nil {
			t.Fatal(err)
		}
		if uid, found := process.PeerUID(here, there); found {
			t.Errorf("%s: the end that was closed is %d's", address, uid)
		}
		if process.KnowsPeers(there) {
			t.Errorf("%s: an address at which nobody listens is seen", address)
		}
	}
}

// BenchmarkPeerUID is what one look costs.
func BenchmarkPeerUID(b *testing.B) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // nothing was written
	mine, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer mine.Close() //nolint:errcheck // nothing was written
	here, there := listener.Addr().(*net.TCPAddr).AddrPort(), mine.LocalAddr().(*net.TCPAddr).AddrPort()
	for b.Loop() {
		if _, found := process.PeerUID(here, there); !found {
			b.Fatal("the peer is not found")
		}
	}
}
