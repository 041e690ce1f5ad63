package process

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"iter"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxTable bounds what is read of the kernel's table of sockets, in lines: a machine has some hundreds that listen.
const maxTable = 100_000

// peerLooks is how often the tables are read for one peer: a row can be missed while others come and go.
const peerLooks = 3

// The states of a socket in the kernel's tables.
const (
	connected = "01"
	listening = "0A"
)

// PortHolder names the process that listens on a TCP port of this machine, such as "mailpit (process 4711)". It is empty
// if nobody does, or if the process is another user's, whose sockets nobody else may see.
func PortHolder(port int) string {
	end, inode := fmt.Sprintf(":%04X", port), ""
	for _, s := range sockets(tableIPv4, tableIPv6) {
		if s.state == listening && strings.HasSuffix(s.local, end) {
			inode = s.inode
			break
		}
	}
	if inode == "" || inode == "0" {
		return ""
	}
	open, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is well formed
	for _, name := range open {
		if to, err := os.Readlink(name); err == nil && to == "socket:["+inode+"]" {
			dir := filepath.Dir(filepath.Dir(name))
			command, _ := os.ReadFile(filepath.Join(dir, "comm")) // it may have just ended
			return fmt.Sprintf("%s (process %s)", strings.TrimSpace(string(command)), filepath.Base(dir))
		}
	}
	return ""
}

// PeerUID is the user whose socket is at the other end of a connection over this machine's loopback, by the
// addresses of this end and of the other. A socket that is closed already, or that nobody has open, is not found.
func PeerUID(here, there netip.AddrPort) (uid int, found bool) {
	if uid, found := ask(there, here); found {
		return uid, true
	}
	for range peerLooks {
		for table, s := range sockets(tableIPv4, tableIPv6) {
			if s.state == connected && s.inode != "0" && s.local == inTable(table, there) && s.remote == inTable(table, here) {
				uid, err := strconv.Atoi(s.uid)
				return uid, err == nil
			}
		}
	}
	return 0, false
}

// KnowsPeers tells whether this system shows whose sockets there are: it must show this process's own, which listens at an address.
func KnowsPeers(listener netip.AddrPort) bool {
	for table, s := range sockets(tableIPv4, tableIPv6) {
		if s.state == listening && s.local == inTable(table, listener) {
			return s.uid == strconv.Itoa(os.Geteuid())
		}
	}
	return false
}

// The kernel's tables of TCP sockets.
const (
	tableIPv4 = "/proc/self/net/tcp"
	tableIPv6 = "/proc/self/net/tcp6"
)

// inTable writes an address and its port as a table does: four bytes are one number, and the table of IPv6 has an
// address of IPv4 as one of IPv6.
func inTable(table string, address netip.AddrPort) string {
	raw := address.Addr().Unmap().AsSlice()
	if table != tableIPv4 {
		all := address.Addr().As16()
		raw = all[:]
	}
	var b strings.Builder
	for ; len(raw) >= 4; raw = raw[4:] {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(raw))
	}
	return fmt.Sprintf("%s:%04X", b.String(), address.Port())
}

// socket is a row of a table.
type socket struct{ local, remote, state, uid, inode string }

// sockets are the rows of the kernel's tables, each with its table.
func sockets(tables ...string) iter.Seq2[string, socket] {
	return func(yield func(table string, s socket) bool) {
		for _, table := range tables {
			file, err := os.Open(table)
			if err != nil {
				continue
			}
			defer file.Close()
			lines := bufio.NewScanner(file)
			for n := 0; n < maxTable && lines.Scan(); n++ {
				if fields := strings.Fields(lines.Text()); len(fields) >= 10 && !yield(table, socket{fields[1], fields[2], fields[3], fields[7], fields[9]}) {
					return
				}
			}
		}
	}
}

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

// Sizes and places in the messages of sock_diag(7): a header of netlink, and what it asks or answers of one socket.
const (
	diagHeader  = 16
	diagRequest = diagHeader + 56
	diagUID     = diagHeader + 64
	diagInode   = diagHeader + 68
	diagByID    = 20 // SOCK_DIAG_BY_FAMILY
	established = 1
	diagTime    = 100 * time.Millisecond
)

// ask asks the kernel for one socket by its addresses: that takes microseconds, where its tables take milliseconds to
// read. It finds nothing where a sandbox forbids netlink.
func ask(local, remote netip.AddrPort) (uid int, found bool) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, false
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was kept
	limit := unix.NsecToTimeval(int64(diagTime))
	if unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit) != nil {
		return 0, false
	}
	order, request := binary.NativeEndian, make([]byte, diagRequest)
	order.PutUint32(request[0:], diagRequest)
	order.PutUint16(request[4:], diagByID)
	order.PutUint16(request[6:], unix.NLM_F_REQUEST)
	of := request[diagHeader:]
	from, to := local.Addr().Unmap().AsSlice(), remote.Addr().Unmap().AsSlice()
	of[0], of[1] = unix.AF_INET, unix.IPPROTO_TCP
	if len(from) != 4 {
		of[0] = unix.AF_INET6
	}
	order.PutUint32(of[4:], 1<<established)
	binary.BigEndian.PutUint16(of[8:], local.Port())
	binary.BigEndian.PutUint16(of[10:], remote.Port())
	copy(of[12:28], from)
	copy(of[28:44], to)
	order.PutUint64(of[48:], ^uint64(0))                                    // any cookie
	if n, err := unix.Write(fd, request); err != nil || n != len(request) { // without an address it goes to the kernel
		return 0, false
	}
	answer := make([]byte, 1024)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil || n < diagInode+4 || order.Uint16(answer[4:]) != diagByID || answer[diagHeader+1] != established || order.Uint32(answer[diagInode:]) == 0 {
		return 0, false
	}
	return int(order.Uint32(answer[diagUID:])), true
}
