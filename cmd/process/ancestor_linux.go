package process

import (
	"strconv"
	"strings"

	"github.com/skillrouter/skillrouter/internal/file"
)

// look reads a process from proc(5): in its stat, after the name in parentheses, the
// second word is the parent and the twentieth when it began, in ticks since the machine did.
// One that has ended and was not waited for yet is no more.
func look(pid int) (one Ancestor, above int, ok bool) {
	folder := "/proc/" + strconv.Itoa(pid)
	stat := readSome(folder + "/stat")
	end := strings.LastIndexByte(stat, ')')
	if end < 0 {
		return one, 0, false
	}
	words := strings.Fields(stat[end+1:])
	if len(words) < 20 || words[0] == "Z" || words[0] == "X" {
		return one, 0, false
	}
	above, err := strconv.Atoi(words[1])
	if err != nil {
		return one, 0, false
	}
	args := strings.Split(strings.TrimRight(readSome(folder+"/cmdline"), "\x00"), "\x00")
	return Ancestor{PID: pid, Started: words[19], Args: args[:min(len(args), maxArgs)]}, above, true
}

func readSome(name string) string {
	text, err := file.ReadHead(name, maxArgsText)
	if err != nil {
		return ""
	}
	return string(text)
}
