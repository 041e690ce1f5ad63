// Package tfidf is the search engine of the sidecar: it finds the documents
// that answer a query, in process memory, by words alone.
//
// It owns the inverted index, scoring, and the explanation of
// a score. How a text becomes words is package text's, and how an index follows
// what is stored is package keep's. It must not know any database, any
// transport, or what a document stands for: callers give it ids and texts, and
// read the rows behind the ids themselves.
//
// A search runs in two passes. The first collects the best candidates by BM25
// over an inverted index, skipping what cannot reach them; the second scores
// those again from a compact copy of their words, by what is too dear to ask
// of every document: how near the words of the query lie to one another, and
// how many of the query's letter groups occur.
package tfidf

// Bounds. What is over them is cut, never refused: a search engine that has to
// answer every caller cannot fail on a long text.
const (
	// MaxQueryTerms is how many distinct terms of a query are searched, the rarest
	// first: the cost of a search grows with them, its quality no longer does.
	MaxQueryTerms = 64
	// DefaultLimit is how many hits a query without a limit is given.
	DefaultLimit = 10
	// MaxLimit is the most hits of one search.
	MaxLimit = 1000
	// MaxTags is how many tags of a document are indexed.
	MaxTags = 256
)

// Document is what is searched. ID is its name among all documents of an
// index; Category, Project and Tags are compared exactly.
type Document struct {
	ID, Title, Body, Category, Project string
	Tags                               []string
	// Order is the document's place in the order of writing, such as a sequence
	// number, or 0. What was written in one go is often about one thing, so a good
	// hit lends some of its score to those next to it.
	Order int64
	// At is a number that a search can be bounded by, such as a time in milliseconds.
	At int64
}

// Query asks for documents. Text is plain language, an error message, code or
// any mix: every word is optional, none is an operator. An empty Category or
// Project means any; of Tags all must be present. From and To bound Document.At,
// From included, To not; 0 leaves that end open.
type Query struct {
	Text              string
	Category, Project string
	Tags              []string
	From, To          int64
	Limit             int  // DefaultLimit if not positive, MaxLimit at most
	Explain           bool // fill Hit.Why
	// Corpus, if not nil, has each Hit tell its Evidence.
	Corpus *Corpus
	// Exact looks for the words of the query as they are: no other stands in for one. A
	// caller who may see a part of the documents alone learns nothing then of what the others hold.
	Exact bool
}

// Reason is one part of a hit's score.
type Reason struct {
	// Lane names the kind of evidence; see the Lane constants.
	Lane string `json:"lane"`
	// Term is the word of the query, or the vocabulary's word that stood in for it.
	Term string `json:"term,omitempty"`
	// Weight is what it adds to the score.
	Weight float64 `json:"weight"`
}

// The lanes of a Reason.
const (
	// LaneWord is a word of the query, by its stem.
	LaneWord = "word"
	// LaneCompound is an identifier or compound matched as a whole beside its parts, or by its parts.
	LaneCompound = "compound"
	// LaneTypo is a known word that stood in for an unknown one.
	LaneTypo = "typo"
	// LaneRelated is what people write for a word of the query: one that developers or
	// others use for it, a command that does what is asked for, a member of the kind asked for.
	LaneRelated = "related"
	// LaneNear is a gain for words of the query that stand near one another.
	LaneNear = "near"
	// LaneTitle is a gain for a title that the query names, the more of it the better.
	LaneTitle = "title"
	// LaneTime is a gain for telling a time, where the query asks for one.
	LaneTime = "time"
	// LaneLetters is a gain for groups of four letters in common, which
	// bridges spellings and word forms that stemming does not.
	LaneLetters = "letters"
	// LaneNeighbour is a gain for having been written next to another good hit.
	LaneNeighbour = "neighbour"
	// LaneAlike is a gain for being like one of the best hits.
	LaneAlike = "alike"
)

// Hit is a document that was found. Score is positive and comparable within
// one Result only. Why, if asked for, holds the parts whose sum, added from
// first to last, is exactly Score.
type Hit struct {
	ID    string
	Score float64
	Why   []Reason
	// Evidence is filled for a Query with a Corpus.
	Evidence Evidence
}

// Result is the answer to a Query, best hit first; equal scores are ordered by ID.
type Result struct {
	Hits []Hit
	// Corrected holds, for each word of the query that no document has, the word
	// of the vocabulary that was searched instead. It is nil if there is none.
	Corrected map[string]string
	// Unknown lists the words of the query that no document has and nothing stood in for.
	Unknown []string
	// Terms lists the terms that were searched.
	Terms []string
}

// Options changes how an Index works; the zero value is what is measured and recommended.
type Options struct {
	// Weights replaces DefaultWeights if it is not nil.
	Weights *Weights
}
