package feed

// Seen is the number up to which Take has looked.
func (r *Reader) Seen() int64 { return r.cursor }
