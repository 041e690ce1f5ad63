package process

// Led is true: Windows has no sessions of that kind.
func Led([]Ancestor) bool { return true }
