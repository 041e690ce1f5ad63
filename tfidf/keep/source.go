package keep

import (
	"context"

	"github.com/skillrouter/skillrouter/tfidf"
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
}
