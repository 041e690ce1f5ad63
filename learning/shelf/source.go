package shelf

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/tfidf"
)

// IndexKind is a kind of what is stored and found by an index.
type IndexKind string

// IndexStore is the log of what was written, by which indexes are kept in step
// with the database. learning/store implements it on learning.db.
type IndexStore interface {
	// LastEvent returns the number of the newest event, 0 if there is none.
	LastEvent(ctx context.Context) (int64, error)
	// HasEvent tells whether the log has the event of a number still: old ones are removed.
	HasEvent(ctx context.Context, seq int64) (bool, error)
	// EventsOf visits the events behind a number whose types begin with one of the prefixes, in order.
	EventsOf(ctx context.Context, after int64, prefixes []string, visit func(kind, subject string, data []byte) error) error
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

// errGap says that an event does not tell which rows it is about.
var errGap = errors.New("the log does not tell everything that changed")

// changed visits the ids of the rows that the events behind a number tell of, any number of times.
func (s *Shelf[Row]) changed(ctx context.Context, after int64, visit func(ids []string) error) error {
	return s.log.EventsOf(ctx, after, s.of.Events, func(kind, subject string, data []byte) error { return s.told(kind, subject, data, visit) })
}

// told visits the ids of the rows that an event of the shelf tells of.
func (s *Shelf[Row]) told(kind, subject string, data []byte, visit func(ids []string) error) error {
	if s.of.Told != nil {
		if ids, special, ok := s.of.Told(kind, data); !ok {
			return fmt.Errorf("an event %s: %w", kind, errGap)
		} else if special {
			return visit(ids)
		}
	}
	return visit([]string{subject})
}

// Follow brings the index in step with events that another router wrote, all that there are up to a place of the log. An event that does not say what it is
// about has the index built anew.
func (s *Shelf[Row]) Follow(ctx context.Context, events []eventlog.Event) error {
	var ids []string
	for _, e := range events {
		if !slices.ContainsFunc(s.of.Events, func(prefix string) bool { return strings.HasPrefix(e.Type, prefix) }) {
			continue
		}
		err := s.told(e.Type, e.Subject, e.Data, func(told []string) error {
			ids = append(ids, told...)
			return nil
		})
		if errors.Is(err, errGap) {
			return s.Keeper.Rebuild(ctx)
		}
	}
	slices.Sort(ids)
	return s.Keeper.Follow(ctx, slices.Compact(ids))
}

// Documents implements keep.Source.
func (s shelfSource[Row]) Documents(ctx context.Context, ids []string) ([]tfidf.Document, error) {
	return s.DocumentsByID(ctx, ids)
}

// Scan implements keep.Source.
func (s shelfSource[Row]) Scan(ctx context.Context, visit func(docs []tfidf.Document) error) error {
	return s.scanDocuments(ctx, visit)
}

// Count implements keep.Source.
func (s shelfSource[Row]) Count(ctx context.Context) (int, error) {
	return s.log.Span(ctx, s.of.Kind)
}
