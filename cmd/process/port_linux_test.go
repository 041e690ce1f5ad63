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
