//go:build !linux

package app

import "runtime/debug"

// settle gives back memory that only the start needed.
func settle() { debug.FreeOSMemory() }
