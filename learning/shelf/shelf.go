// Package shelf finds rows of any kind of memory. It keeps an index in step with the event log, uses
// vectors if there are any, counts uses, tries a query in other ways if nothing was found, and
// explains scores. A kind gives it its rows and a few functions. It knows no kind.
package shelf

import (
	"context"
	"sync/atomic"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/tfidf"
	"github.com/skillrouter/skillrouter/tfidf/keep"
)

// Shelf is a collection that is found: the rows of one kind of memory, the
// index that finds them by their words, the vectors that find them by their
// meaning, and what is tried where neither finds any. A kind embeds the Shelf
// of its rows and tells it the few things that are its own.
type Shelf[Row any] struct {
	log     IndexStore
	of      Shelved[Row]
	Keeper  *keep.Keeper
	vectors atomic.Pointer[Vectors] // nil: there are none
	repairs repairs
	walls   walls
	gaps    learning.MissObserver // is told of searches that found nothing; may be nil
}

// Shelved is what a kind of memory tells of its rows.
type Shelved[Row any] struct {
	Kind     IndexKind
	Events   []string      // how the types of the events begin that tell of rows
	Told     toldIDs       // nil: every event is about its subject
	Embedded EmbeddingKind // empty: the rows have no vectors

	ID       func(*Row) string
	Size     func(*Row) int // about how many bytes the row takes in an answer
	Document func(*Row) tfidf.Document
	Findable func(*Row) bool           // nil: every row can be found
	Trust    func(*Row) learning.Trust // nil: of its rows nobody asks where they came from

	Rows func(ctx context.Context, ids []string) ([]Row, error) // those of the rows that there are, in no order
	Scan func(ctx context.Context, visit func(chunk []Row) error) error
}

// NewShelf makes a Shelf with an empty index. Load and RunIndex fill it.
func NewShelf[Row any](log IndexStore, of Shelved[Row], options learning.Options) *Shelf[Row] {
	s := &Shelf[Row]{log: log, of: of}
	s.Keeper = keep.New(shelfSource[Row]{s}, keep.Options{Name: string(of.Kind), Now: options.Now, Log: options.Log})
	return s
}

// Len returns how many rows can be found.
func (s *Shelf[Row]) Len() int { return s.Keeper.Len() }

// IndexState tells how the search index is doing.
func (s *Shelf[Row]) IndexState() keep.State { return s.Keeper.State() }

// Load reads a small index, and leaves to RunIndex what takes long. It is called once,
// before the first search. Rows may be written before, and are found.
func (s *Shelf[Row]) Load(ctx context.Context) error { return s.Keeper.Load(ctx) }

// RunIndex keeps the index until ctx ends, and returns nil.
func (s *Shelf[Row]) RunIndex(ctx context.Context) error { return s.Keeper.Run(ctx) }

// Rebuild builds the index anew from the database. Rows may be written and
// searched meanwhile.
func (s *Shelf[Row]) Rebuild(ctx context.Context) error {
	s.walls.forget()
	return s.Keeper.Rebuild(ctx)
}

// Frequencies returns in how many rows each stem occurs, and how many rows there are.
func (s *Shelf[Row]) Frequencies(stems []string) (frequencies []int, rows int) {
	return s.Keeper.Index().Frequencies(stems)
}

// Relax returns words that may be meant in the place of those that nothing has; see tfidf.Index.
func (s *Shelf[Row]) Relax(text string) map[string]string { return s.Keeper.Index().Relax(text) }

// TellElsewhere has a search that finds nothing say what other kinds have; kind is
// what they call this one. It is called before the first search is made.
func (s *Shelf[Row]) TellElsewhere(kind string, other Elsewhere) { s.repairs.Tell(kind, other) }

// Missed tells of a search that found nothing.
func (s *Shelf[Row]) Missed(ctx context.Context, miss learning.Miss) {
	if s.gaps != nil {
		s.gaps.Missed(ctx, miss)
	}
}

// ReportMisses tells an observer of searches that found nothing. It is called before the first search is made.
func (s *Shelf[Row]) ReportMisses(o learning.MissObserver) { s.gaps = o }

// UseVectors lets searches go by meaning too. It is called before Vectors.Run is.
func (s *Shelf[Row]) UseVectors(v *Vectors) {
	if v.configured() && s.of.Embedded != "" {
		v.sources[s.of.Embedded] = s
		s.vectors.Store(v)
	}
}

// Put and remove keep the index and the vectors in step with commits; they run in commit order.
func (s *Shelf[Row]) Put(rows ...Row) { s.PutDocuments(s.documentsOf(rows)) }

// PutDocuments puts what is searched of rows into the index, and has their vectors made anew.
func (s *Shelf[Row]) PutDocuments(docs []tfidf.Document) {
	if len(docs) == 0 {
		return
	}
	ids := make([]string, len(docs))
	for i := range docs {
		ids[i] = docs[i].ID
	}
	s.Keeper.Put(docs...)
	s.walls.take(ids, docs)
	s.vectors.Load().touch(s.of.Embedded, ids...)
}

// Remove takes rows out of the index.
func (s *Shelf[Row]) Remove(ids ...string) {
	s.Keeper.Delete(ids...)
	s.walls.take(ids, nil)
	s.vectors.Load().touch(s.of.Embedded, ids...)
}

// scanDocuments visits what is searched of every row, oldest first.
func (s *Shelf[Row]) scanDocuments(ctx context.Context, visit func(docs []tfidf.Document) error) error {
	return s.of.Scan(ctx, func(chunk []Row) error { return visit(s.documentsOf(chunk)) })
}

// DocumentsByID returns what is searched of rows.
func (s *Shelf[Row]) DocumentsByID(ctx context.Context, ids []string) ([]tfidf.Document, error) {
	rows, err := s.of.Rows(ctx, ids)
	return s.documentsOf(rows), err
}

func (s *Shelf[Row]) documentsOf(rows []Row) []tfidf.Document {
	docs := make([]tfidf.Document, 0, len(rows))
	for i := range rows {
		if s.of.Findable == nil || s.of.Findable(&rows[i]) {
			docs = append(docs, s.of.Document(&rows[i]))
		}
	}
	return docs
}
