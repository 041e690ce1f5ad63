//go:build !linux

package process

// PortHolder is empty: this system tells nobody who listens on a port.
func PortHolder(int) string { return "" }

// Caller says that nothing is known of the process at the other end of a connection here.
func Caller(string) []Ancestor { return nil }
