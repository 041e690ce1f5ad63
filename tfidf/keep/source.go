package keep

import (
	"context"

	"skillrouter/tfidf"
)

// Source is what a Keeper reads into an index: documents that are stored
// elsewhere. All methods may be called concurrently.
type Source interface {
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
