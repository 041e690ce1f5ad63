//go:build !linux

package app

import (
	"errors"
	"os"
)

// allocate says errors.ErrUnsupported: a file's room is taken by writing it.
func allocate(*os.File, int64) error { return errors.ErrUnsupported }
