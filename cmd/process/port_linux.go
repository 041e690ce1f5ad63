package process

import (
	"bufio"
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
	dir := holder(port, true)
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
	pid, err := strconv.Atoi(filepath.Base(holder(int(from.Port()), false)))
	if err != nil {
		return nil
	}
	return chain(pid)
}

// holder is the folder in /proc of the process that has the socket of a port, one that listens or one that is connected.
func holder(port int, listens bool) string {
	socket := socketOf("/proc/net/tcp", port, listens)
	if socket == "" {
		socket = socketOf("/proc/net/tcp6", port, listens)
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

// socketOf is the inode of the socket that listens on a port, or that is connected from it, by one of the kernel's tables.
func socketOf(table string, port int, listens bool) string {
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
		_, hex, _ := strings.Cut(fields[local], ":")
		if got, err := strconv.ParseUint(hex, 16, 16); err == nil && int(got) == port {
			return fields[inode]
		}
	}
	return ""
}
