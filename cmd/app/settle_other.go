//go:build !linux

package app

import (
	"errors"
	"os"
	"runtime/debug"
)

// settle gives back memory that is not needed by now.
func settle() { debug.FreeOSMemory() }

// allocate says errors.ErrUnsupported: a file's room is taken by writing it.
func allocate(*os.File, int64) error { return errors.ErrUnsupported }
