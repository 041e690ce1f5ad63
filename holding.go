package skillrouter

// Holding counts what a memory has of one persona in one category.
type Holding struct {
	Persona  string // empty: it is the whole team's
	Category string
	Count    int64
	Expired  int64 // not in Count: what has expired and is still kept
	Bytes    int64 // of the texts and values of all, expired ones too
}
