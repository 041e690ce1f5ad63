//go:build !linux

package process

import "runtime/debug"

// settle gives back memory that is not needed by now.
func settle() { debug.FreeOSMemory() }
