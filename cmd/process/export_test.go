package process

// StartedOf says when a process began.
func StartedOf(pid int) (string, bool) {
	one, _, ok := look(pid)
	return one.Started, ok
}
