package process

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxTable bounds what is read of the kernel's table of sockets, in lines: a machine has some hundreds that listen.
const maxTable = 100_000

// PortHolder names the process that listens on a TCP port of this machine, such as "mailpit (process 4711)". It is empty
// if nobody does, or if the process is another user's, whose sockets nobody else may see.
func PortHolder(port int) string {
	dir := holder(fmt.Sprintf(":%04X", port), true)
	if dir == "" {
		return ""
	}
	command, _ := os.ReadFile(filepath.Join(dir, "comm")) // it may have just ended
	return fmt.Sprintf("%s (process %s)", strings.TrimSpace(string(command)), filepath.Base(dir))
}

// Caller is the process of this machine at the other end of a connection, and those above it, by the address that it
// calls from. It is empty if that is no loopback address, or the process cannot be seen.
func Caller(address string) []Ancestor {
	from, err := netip.ParseAddrPort(address)
	if err != nil || !from.Addr().Unmap().IsLoopback() {
		return nil
	}
	// Connections to other places may have the same port at this end: the address tells them apart.
	end := fmt.Sprintf("%s:%04X", inTable(from.Addr().Unmap()), from.Port())
	pid, err := strconv.Atoi(filepath.Base(holder(end, false)))
	if err != nil {
		return nil
	}
	return chain(pid)
}

// inTable writes an address as the kernel's tables do: four bytes are one number.
func inTable(address netip.Addr) string {
	var b strings.Builder
	for raw := address.AsSlice(); len(raw) >= 4; raw = raw[4:] {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(raw))
	}
	return b.String()
}

// holder is the folder in /proc of the process that has the socket whose own address and port end so, one that listens or one
// that is connected. In the table of IPv6 an address of IPv4 is the end of one.
func holder(end string, listens bool) string {
	socket := socketOf("/proc/net/tcp", end, listens)
	if socket == "" {
		socket = socketOf("/proc/net/tcp6", end, listens)
	}
	if socket == "" {
		return ""
	}
	open, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is well formed
	for _, name := range open {
		if to, err := os.Readlink(name); err == nil && to == "socket:["+socket+"]" {
			return filepath.Dir(filepath.Dir(name))
		}
	}
	return ""
}

// socketOf is the inode of the socket of an address and port that listens, or is connected, by one of the kernel's tables.
func socketOf(table, end string, listens bool) string {
	file, err := os.Open(table)
	if err != nil {
		return ""
	}
	defer file.Close()
	const local, state, inode, inListen, connected = 1, 3, 9, "0A", "01"
	want := connected
	if listens {
		want = inListen
	}
	lines := bufio.NewScanner(file)
	for range maxTable {
		if !lines.Scan() {
			break
		}
		fields := strings.Fields(lines.Text())
		if len(fields) <= inode || fields[state] != want {
			continue
		}
		if strings.HasSuffix(fields[local], end) {
			return fields[inode]
		}
	}
	return ""
}
