package learning

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"skillrouter/tfidf"
)

// Shelf is a collection that is found: the rows of one kind of memory, the
// index that finds them by their words, the vectors that find them by their
// meaning, and what is tried where neither finds any. A kind embeds the Shelf
// of its rows and tells it the few things that are its own.
type Shelf[Row any] struct {
	log     KeptStore
	of      shelved[Row]
	kept    *tfidf.Keeper
	vectors atomic.Pointer[Vectors] // nil: there are none
	repairs repairs
	gaps    MissObserver // is told of searches that found nothing; may be nil
}

// shelved is what a kind of memory tells of its rows.
type shelved[Row any] struct {
	kind KeptKind
	// form is how documents are made of rows. It grows whenever the same row makes another
	// document than before: the snapshots of earlier versions are built anew then.
	form     int
	events   []string      // how the types of the events begin that tell of rows
	told     toldIDs       // nil: every event is about its subject
	embedded EmbeddingKind // empty: the rows have no vectors

	id       func(*Row) string
	size     func(*Row) int // about how many bytes the row takes in an answer
	document func(*Row) tfidf.Document
	findable func(*Row) bool // nil: every row can be found

	rows func(ctx context.Context, ids []string) ([]Row, error) // those of the rows that there are, in no order
	scan func(ctx context.Context, visit func(chunk []Row) error) error
	find func(ctx context.Context, search KeptSearch, visit func(found []Row) (more bool)) error
}

// newShelf makes a Shelf with an empty index. Load and RunIndex fill it.
func newShelf[Row any](log KeptStore, of shelved[Row], options Options) *Shelf[Row] {
	s := &Shelf[Row]{log: log, of: of}
	o := tfidf.KeeperOptions{Form: fmt.Sprintf("%s %d", of.kind, of.form), Now: options.Now, Log: options.Log}
	if options.Indexes != "" {
		o.Path = filepath.Join(options.Indexes, string(of.kind)+".index")
	}
	s.kept = tfidf.NewKeeper(shelfSource[Row]{s}, o)
	return s
}

// inParts reads rows by a few of their ids at a time.
func inParts[Row any](most int, read func(context.Context, []string) ([]Row, error)) func(context.Context, []string) ([]Row, error) {
	return func(ctx context.Context, ids []string) (rows []Row, err error) {
		for part := range slices.Chunk(ids, most) {
			found, err := read(ctx, part)
			if err != nil {
				return nil, err
			}
			rows = append(rows, found...)
		}
		return rows, nil
	}
}

// Len returns how many rows can be found.
func (s *Shelf[Row]) Len() int { return s.kept.Len() }

// IndexState tells how the search index is doing.
func (s *Shelf[Row]) IndexState() tfidf.KeeperState { return s.kept.State() }

// Load opens the index, and leaves to RunIndex what takes long. It is called once,
// before the first search. Rows may be written before, and are found.
func (s *Shelf[Row]) Load(ctx context.Context) error { return s.kept.Load(ctx) }

// RunIndex keeps the index until ctx ends, and returns nil.
func (s *Shelf[Row]) RunIndex(ctx context.Context) error { return s.kept.Run(ctx) }

// Rebuild builds the index anew from the database. Rows may be written and
// searched meanwhile.
func (s *Shelf[Row]) Rebuild(ctx context.Context) error { return s.kept.Rebuild(ctx) }

// Frequencies returns in how many rows each stem occurs, and how many rows there are.
func (s *Shelf[Row]) Frequencies(stems []string) (frequencies []int, rows int) {
	return s.kept.Index().Frequencies(stems)
}

// Relax returns words that may be meant in the place of those that nothing has; see tfidf.Index.
func (s *Shelf[Row]) Relax(text string) map[string]string { return s.kept.Index().Relax(text) }

// TellElsewhere has a search that finds nothing say what other kinds have; kind is
// what they call this one. It is called before the first search is made.
func (s *Shelf[Row]) TellElsewhere(kind string, other Elsewhere) { s.repairs.Tell(kind, other) }

// missed tells of a search that found nothing.
func (s *Shelf[Row]) missed(ctx context.Context, miss Miss) {
	if s.gaps != nil {
		s.gaps.Missed(ctx, miss)
	}
}

// ReportMisses tells an observer of searches that found nothing. It is called before the first search is made.
func (s *Shelf[Row]) ReportMisses(o MissObserver) { s.gaps = o }

// UseVectors lets searches go by meaning too. It is called before Vectors.Run is.
func (s *Shelf[Row]) UseVectors(v *Vectors) {
	if v.configured() && s.of.embedded != "" {
		v.sources[s.of.embedded] = s
		s.vectors.Store(v)
	}
}

// put and remove keep the index and the vectors in step with commits; they run in commit order.
func (s *Shelf[Row]) put(rows ...Row) { s.putDocuments(s.documentsOf(rows)) }

func (s *Shelf[Row]) putDocuments(docs []tfidf.Document) {
	if len(docs) == 0 {
		return
	}
	s.kept.Put(docs...)
	if v := s.vectors.Load(); v != nil {
		ids := make([]string, len(docs))
		for i := range docs {
			ids[i] = docs[i].ID
		}
		v.touch(s.of.embedded, ids...)
	}
}

func (s *Shelf[Row]) remove(ids ...string) {
	s.kept.Delete(ids...)
	s.vectors.Load().touch(s.of.embedded, ids...)
}

// scanDocuments visits what is searched of every row, oldest first.
func (s *Shelf[Row]) scanDocuments(ctx context.Context, visit func(docs []tfidf.Document) error) error {
	return s.of.scan(ctx, func(chunk []Row) error { return visit(s.documentsOf(chunk)) })
}

// documents returns what is searched of rows.
func (s *Shelf[Row]) documents(ctx context.Context, ids []string) ([]tfidf.Document, error) {
	rows, err := s.of.rows(ctx, ids)
	return s.documentsOf(rows), err
}

func (s *Shelf[Row]) documentsOf(rows []Row) []tfidf.Document {
	docs := make([]tfidf.Document, 0, len(rows))
	for i := range rows {
		if s.of.findable == nil || s.of.findable(&rows[i]) {
			docs = append(docs, s.of.document(&rows[i]))
		}
	}
	return docs
}
