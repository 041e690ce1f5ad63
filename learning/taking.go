package learning

// Taking is how records are taken in.
type Taking struct {
	DryRun bool // only say what would become of them
}

// Taken is what became of one record.
type Taken struct {
	ID        string
	Ref       string // what it is known by here, where that is not ID
	Duplicate bool   // it was there already, and nothing of it was changed
	Err       error  // it was refused
}
