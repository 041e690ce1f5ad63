package tfidf

import "errors"

// ErrSnapshot is what Open wraps when a file is not a snapshot that this
// program can use: it is damaged, of another version, or made with other weights.
var ErrSnapshot = errors.New("the snapshot cannot be used")

// Capture is what an Index held at one moment, to be written to a file while
// the index goes on. It must be saved or let go of soon: it keeps memory.
type Capture struct{}

// Capture freezes what the index holds now. It waits for writers and holds
// them up for milliseconds, so that a caller who knows its own place in a log
// can take both at the same moment.
func (ix *Index) Capture() *Capture { return &Capture{} }

// Save writes the capture to path: into a temporary file beside it, which is
// synced and then renamed, so that path is the old snapshot or the new one.
// mark is the caller's: Open gives it back.
func (c *Capture) Save(path string, mark []byte) error { return errors.ErrUnsupported }

// Open maps the snapshot at path and returns an index that holds what was
// captured, with the mark that was saved with it. The file is checked by
// checksum first; if it is not usable the error wraps ErrSnapshot.
func Open(path string, opts Options) (ix *Index, mark []byte, err error) {
	return nil, nil, errors.ErrUnsupported
}
