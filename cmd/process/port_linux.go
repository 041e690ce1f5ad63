package process

import (
	"bufio"
	"fmt"
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
	socket := listening("/proc/net/tcp", port)
	if socket == "" {
		socket = listening("/proc/net/tcp6", port)
	}
	if socket == "" {
		return ""
	}
	open, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is well formed
	for _, name := range open {
		if to, err := os.Readlink(name); err == nil && to == "socket:["+socket+"]" {
			dir := filepath.Dir(filepath.Dir(name))
			command, _ := os.ReadFile(filepath.Join(dir, "comm")) // it may have just ended
			return fmt.Sprintf("%s (process %s)", strings.TrimSpace(string(command)), filepath.Base(dir))
		}
	}
	return ""
}

// listening is the inode of the socket that listens on a port, by one of the kernel's tables.
func listening(table string, port int) string {
	file, err := os.Open(table)
	if err != nil {
		return ""
	}
	defer file.Close()
	const local, state, inode, inListen = 1, 3, 9, "0A"
	lines := bufio.NewScanner(file)
	for range maxTable {
		if !lines.Scan() {
			break
		}
		fields := strings.Fields(lines.Text())
		if len(fields) <= inode || fields[state] != inListen {
			continue
		}
		_, hex, _ := strings.Cut(fields[local], ":")
		if got, err := strconv.ParseUint(hex, 16, 16); err == nil && int(got) == port {
			return fields[inode]
		}
	}
	return ""
}
