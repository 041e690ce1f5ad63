package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// alive tells whether a process group has a member that has not ended. In a
// container without an init process nobody reaps orphans: the group then
// exists for as long as the container does.
func alive(group int) bool {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return true // this cannot be seen; the caller gives up in time
	}
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has gone
		}
		// The name in parentheses may hold anything, see proc_pid_stat(5).
		_, rest, _ := bytes.Cut(text[bytes.LastIndexByte(text, ')')+1:], []byte(" "))
		var state byte
		var parent, of int
		if _, err := fmt.Sscanf(string(rest), "%c %d %d", &state, &parent, &of); err == nil && of == group && state != 'Z' && state != 'X' {
			return true
		}
	}
	return false
}
