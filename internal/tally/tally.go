// Package tally counts what a memory has.
package tally

// Tally counts what a memory has of one persona in one category.
type Tally struct {
	Persona  string // empty: it is the whole team's
	Category string
	Count    int64
	Expired  int64 // not in Count: what has expired and is still kept
	Bytes    int64 // of the texts and values of all, expired ones too
}
