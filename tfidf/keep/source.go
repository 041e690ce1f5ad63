package keep

import (
	"context"
	"errors"

	"skillrouter/tfidf"
)

// ErrGap is what a Source's Changed wraps if the log cannot tell what changed:
// then the index is built anew.
var ErrGap = errors.New("the log does not tell everything that changed")

// Position is a place in a log: behind the record with number Seq, which Print
// tells from the record that another log has under the same number. The zero
// value is before the first record.
type Position struct {
	Seq   int64  `json:"seq"`
	Print string `json:"print,omitempty"`
}

// Source is what a Keeper keeps an index in step with: documents that are
// stored elsewhere, and a log with an ever-growing number in which each change
// of a document is told. All methods may be called concurrently.
type Source interface {
	// Position returns the place behind the newest record.
	Position(ctx context.Context) (Position, error)
	// Holds tells whether the log has that very record: if it does not, this is
	// another log, or an older state of the same one.
	Holds(ctx context.Context, at Position) (bool, error)
	// Changed visits the ids of the documents that the records behind a position tell
	// of, in any order and any number of times, those of deleted documents too. It
	// wraps ErrGap if a record does not say which documents it is about.
	Changed(ctx context.Context, after Position, visit func(ids []string) error) error
	// Documents returns the documents with those ids that there are, in no order.
	Documents(ctx context.Context, ids []string) ([]tfidf.Document, error)
	// Scan visits every document, in chunks, those with a lesser Order first, as
	// they are stored at one moment. visit may keep the chunk.
	Scan(ctx context.Context, visit func(docs []tfidf.Document) error) error
	// Count returns about how many documents Scan visits.
	Count(ctx context.Context) (int, error)
	// Containing visits documents whose text holds at least one of some words, in any
	// case and also within longer words, newest first, until visit returns false or ctx
	// ends, which is no error. Only documents with a greater Order than after are
	// visited. It may pass over what the filters of q exclude.
	Containing(ctx context.Context, words []string, after int64, q tfidf.Query, visit func(docs []tfidf.Document) (more bool)) error
}
