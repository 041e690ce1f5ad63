//go:build unix

package database

import "golang.org/x/sys/unix"

// Writable tells whether this user may make files in a folder.
func Writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
