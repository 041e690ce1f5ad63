package database

// Writable tells whether this user may make files in a folder. Windows says so only when one is made.
func Writable(string) error { return nil }
