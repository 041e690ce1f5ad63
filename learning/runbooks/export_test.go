package runbooks

// Synced is closed when the next Sync has ended.
func (f *Folder) Synced() <-chan struct{} { return f.synced.Wait() }
