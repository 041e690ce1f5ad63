package learning

import "time"

// Line is an entry of any kind as an index of a project's memory shows it.
type Line struct {
	Kind    string // knowledge, episode, fact or procedure
	Number  int64
	ID      string
	Title   string
	Text    string // its first LineText characters
	Length  int64  // of all of it, in characters
	Subject string // its category
	Author  string
	Trust   Trust
	Uses    int64
	At      time.Time
	Project string
	Place
	Worth float64 // of an import below 0, else from 0 to about 3
}

// LineText is how many characters of an entry's text a Line has.
const LineText = 600

// LinesQuery asks for the entries of some projects, and of a persona, that are worth the most: by use, freshness and
// trust, those of the place first and imported ones last.
type LinesQuery struct {
	Projects []string // "": of none
	Persona  string   // empty: facts and procedures, which belong to a persona, are not asked for
	Place    Place
	At       time.Time
	Limit    int
}

// Lines answers a LinesQuery.
type Lines struct {
	Lines    []Line           // what is worth the most first
	Subjects map[string]int64 // how many entries there are of each subject, over all of them
}

// Named is a row of a kind by the id that its kind reads it by.
type Named struct{ Kind, ID string }
