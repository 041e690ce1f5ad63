//go:build !ackearly

package skillrouter

// ackEarly acknowledges writes that are applied and not committed yet, and
// tells whether it has. It never does. The build tag ackearly puts the mistake
// in its place, to show that the crash test would notice it.
func ackEarly(func()) bool { return false }
