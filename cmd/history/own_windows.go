package history

import "io/fs"

// own tells whether a file is this user's: there, the folders of users are closed to each other.
func own(fs.FileInfo) bool { return true }
