package process_test

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"skillrouter/cmd/process"
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

// TestCaller finds the process at the other end of a connection, and those above it.
func TestCaller(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Skip(err)
		}
		defer listener.Close() //nolint:errcheck // nothing was written
		mine, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		chain := process.Caller(mine.LocalAddr().String())
		if len(chain) < 2 || chain[0].PID != os.Getpid() || chain[1].PID != os.Getppid() {
			t.Errorf("%s: called by %+v", address, chain)
		}
		if err := mine.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, address := range []string{"", "@", "192.0.2.1:80", "127.0.0.1:1", "nonsense"} {
		if chain := process.Caller(address); chain != nil {
			t.Errorf("%q: called by %+v", address, chain)
		}
	}
}
