package process

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
)

// TestSocketOfItsAddress: of several connections from one port that is found whose address is asked for.
func TestSocketOfItsAddress(t *testing.T) {
	table := filepath.Join(t.TempDir(), "tcp")
	line := func(address, inode string) string {
		return "   0: " + inTable(netip.MustParseAddr(address)) + ":AFC8 00000000:01BB 01 00000000:00000000 00:00000000 00000000  1000        0 " + inode + " 1\n"
	}
	text := "  sl  local_address rem_address   st\n" + line("192.168.1.5", "11") + line("127.0.0.1", "22") + line("::1", "33") + line("::ffff:127.0.0.3", "44")
	if err := os.WriteFile(table, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{"192.168.1.5": "11", "127.0.0.1": "22", "::1": "33", "127.0.0.3": "44", "127.0.0.9": ""} {
		if got := socketOf(table, inTable(netip.MustParseAddr(address))+":AFC8", false); got != want {
			t.Errorf("%s: socket %q, want %q", address, got, want)
		}
	}
	if got := socketOf(table, ":AFC8", true); got != "" {
		t.Errorf("a connection listens: %q", got)
	}
}
