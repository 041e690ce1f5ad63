package process

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
)

// TestSocketOfItsAddress: of several connections from one port that is found whose address is asked for, and only one that is
// connected and that somebody has open.
func TestSocketOfItsAddress(t *testing.T) {
	table := filepath.Join(t.TempDir(), "tcp6")
	line := func(address, state, uid, inode string) string {
		return "   0: " + inTable(table, netip.MustParseAddrPort(address)) + " 0100007F:01BB " + state + " 00000000:00000000 00:00000000 00000000  " + uid + "        0 " + inode + " 1\n"
	}
	text := "  sl  local_address rem_address   st\n" + line("192.168.1.5:45000", "01", "1", "11") + line("127.0.0.1:45000", "06", "0", "0") +
		line("127.0.0.1:45000", "01", "1000", "22") + line("[::1]:45000", "01", "2", "33") + line("[::ffff:127.0.0.3]:45000", "01", "3", "44")
	if err := os.WriteFile(table, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{"192.168.1.5:45000": "11", "127.0.0.1:45000": "22", "[::1]:45000": "33", "127.0.0.3:45000": "44", "127.0.0.9:45000": "", "127.0.0.1:45001": ""} {
		got, _ := findIn(table, func(table string, s socket) bool {
			return s.state == connected && s.local == inTable(table, netip.MustParseAddrPort(address))
		})
		if got.inode != want {
			t.Errorf("%s: socket %q, want %q", address, got.inode, want)
		}
	}
	if got, found := findIn(table, func(_ string, s socket) bool { return s.state == listening }); found {
		t.Errorf("a connection listens: %+v", got)
	}
}
