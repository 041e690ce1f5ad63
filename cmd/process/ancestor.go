package process

import (
	"os"
	"sync"
)

// MaxAncestors bounds how far up Ancestors looks: an agent's own program stands
// some few places above the shell that it runs a command in.
const MaxAncestors = 32

// Ancestor is a process that this one descends from.
type Ancestor struct {
	PID int
	// Started says when the process began, as this platform counts it: two processes
	// that had the same PID one after the other differ in it.
	Started string
	// Args are the program's name and its first arguments, as far as they can be read.
	Args []string
}

// maxArgs bounds the arguments of an Ancestor, and maxArgsText their length in bytes.
const (
	maxArgs     = 12
	maxArgsText = 4 << 10
)

// Ancestors are the processes that this one descended from when it first asked, its parent first. It ends
// where the platform says no more; where it says nothing, none are known.
var Ancestors = sync.OnceValue(func() []Ancestor { return chain(os.Getppid()) })

// chain is a process and those above it.
func chain(from int) (chain []Ancestor) {
	seen := map[int]bool{}
	for pid := from; pid > 0 && !seen[pid] && len(chain) < MaxAncestors; {
		seen[pid] = true
		one, above, ok := look(pid)
		if !ok {
			break
		}
		chain = append(chain, one)
		pid = above
	}
	return chain
}

// Alive tells whether the process runs that had this PID and began then.
func Alive(pid int, started string) bool {
	if pid <= 0 {
		return false
	}
	one, _, ok := look(pid)
	return ok && one.Started == started
}
