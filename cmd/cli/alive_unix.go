//go:build unix && !linux

package cli

// alive is true: elsewhere a group that exists is taken to have living members.
func alive(int) bool { return true }
