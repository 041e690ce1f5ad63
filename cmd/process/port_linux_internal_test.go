//go:build linux

package process

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
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
		got := ""
		for table, s := range sockets(table) {
			if got == "" && s.state == connected && s.local == inTable(table, netip.MustParseAddrPort(address)) {
				got = s.inode
			}
			if s.state == listening {
				t.Errorf("a connection listens: %+v", s)
			}
		}
		if got != want {
			t.Errorf("%s: socket %q, want %q", address, got, want)
		}
	}
}

// TestAsk: the kernel is asked for one socket alone, by both families of addresses, and where one end speaks the other family's.
func TestAsk(t *testing.T) {
	for listen, dial := range map[string]string{"127.0.0.1:0": "127.0.0.1", "[::1]:0": "::1", "[::]:0": "127.0.0.1"} {
		listener, err := net.Listen("tcp", listen)
		if err != nil {
			t.Skip(err)
		}
		port := listener.Addr().(*net.TCPAddr).AddrPort().Port()
		conn, err := net.Dial("tcp", net.JoinHostPort(dial, strconv.Itoa(int(port))))
		if err != nil {
			t.Fatal(err)
		}
		mine, theirs := conn.LocalAddr().(*net.TCPAddr).AddrPort(), conn.RemoteAddr().(*net.TCPAddr).AddrPort()
		if uid, found := ask(mine, theirs); !found || uid != os.Geteuid() {
			t.Errorf("%s: %d, %v", listen, uid, found)
		}
		if uid, found := ask(theirs, mine); found { // nobody has accepted it
			t.Errorf("%s: the end that nobody has open is %d's", listen, uid)
		}
		if uid, found := ask(theirs, netip.AddrPortFrom(theirs.Addr(), 1)); found { // it listens
			t.Errorf("%s: a listener is connected: %d", listen, uid)
		}
		_ = conn.Close() // nothing was written
		if _, found := ask(mine, theirs); found {
			t.Errorf("%s: what was closed is connected", listen)
		}
		_ = listener.Close() // nothing was written
	}
}
