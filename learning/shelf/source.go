package shelf

import (
	"context"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/tfidf"
)

// IndexKind is a kind of what is stored and found by an index.
type IndexKind string

// IndexStore is what is asked of the rows of each kind. learning/store implements it on learning.db.
type IndexStore interface {
	// Span returns about how many rows there are of a kind, 0 only if there is none.
	Span(ctx context.Context, kind IndexKind) (int, error)
	// IDs visits the id of every row of a kind that can be found.
	IDs(ctx context.Context, kind IndexKind, visit func(id string)) error
}

// toldIDs returns the ids that an event is about, if that is not its subject; ok is
// false for an event that does not say.
type toldIDs func(kind string, data []byte) (ids []string, special, ok bool)

// shelfSource is a Shelf as the keep.Source of its index.
type shelfSource[Row any] struct{ *Shelf[Row] }

// Follow brings the index in step with events that another router wrote, all that there are up to a place of the log. An event that does not say what it is
// about has the index built anew.
func (s *Shelf[Row]) Follow(ctx context.Context, events []eventlog.Event) error {
	var ids []string
	for _, e := range events {
		if !slices.ContainsFunc(s.of.Events, func(prefix string) bool { return strings.HasPrefix(e.Type, prefix) }) {
			continue
		}
		about, special, ok := []string(nil), false, true
		if s.of.Told != nil {
			about, special, ok = s.of.Told(e.Type, e.Data)
		}
		switch {
		case !ok:
			return s.Rebuild(ctx)
		case special:
			ids = append(ids, about...)
		default:
			ids = append(ids, e.Subject)
		}
	}
	slices.Sort(ids)
	return s.Keeper.Follow(ctx, slices.Compact(ids))
}

// Documents implements keep.Source. The Keeper asks for what changed elsewhere, and the walls take it in too.
func (s shelfSource[Row]) Documents(ctx context.Context, ids []string) ([]tfidf.Document, error) {
	docs, err := s.DocumentsByID(ctx, ids)
	if err == nil {
		s.walls.take(ids, docs)
	}
	return docs, err
}

// Scan implements keep.Source.
func (s shelfSource[Row]) Scan(ctx context.Context, visit func(docs []tfidf.Document) error) error {
	return s.scanDocuments(ctx, visit)
}

// Count implements keep.Source.
func (s shelfSource[Row]) Count(ctx context.Context) (int, error) {
	return s.log.Span(ctx, s.of.Kind)
}

// MaxListed bounds how many ids an IndexCheck lists of each kind.
const MaxListed = 20

// IndexCheck compares a search index with its database.
type IndexCheck struct {
	Stored  int      `json:"stored"`            // rows in the database
	Indexed int      `json:"indexed"`           // documents in the index
	Missing []string `json:"missing,omitempty"` // stored and not indexed, the first MaxListed
	Surplus []string `json:"surplus,omitempty"` // indexed and not stored, the first MaxListed
}

// OK tells whether both hold the same.
func (c IndexCheck) OK() bool { return c.Stored == c.Indexed && len(c.Missing)+len(c.Surplus) == 0 }

// Check compares the index with the database. Rows that are written meanwhile
// may show as missing or surplus.
func (s *Shelf[Row]) Check(ctx context.Context) (IndexCheck, error) {
	indexed := s.Keeper.Index().IDs()
	check := IndexCheck{Indexed: len(indexed)}
	left := make(map[string]bool, len(indexed))
	for _, id := range indexed {
		left[id] = true
	}
	err := s.log.IDs(ctx, s.of.Kind, func(id string) {
		check.Stored++
		if !left[id] && len(check.Missing) < MaxListed {
			check.Missing = append(check.Missing, id)
		}
		delete(left, id)
	})
	for id := range left {
		if len(check.Surplus) == MaxListed {
			break
		}
		check.Surplus = append(check.Surplus, id)
	}
	return check, err
}
