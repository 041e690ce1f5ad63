package process

import "io/fs"

// Own is true: there, the folders of users are closed to each other.
func Own(fs.FileInfo) bool { return true }
