// Package keep keeps an index of package tfidf in step with documents that are stored elsewhere.
//
// A Source tells what is stored and what changed. The Keeper reads all of it when it starts, and takes in
// each change from then on. It must not know any database, nor what a document stands for.
package keep

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/tfidf"
)

// Keeper keeps an Index in step with a Source: it builds the index by reading all
// that is stored. Searches wait for that, for a while.
//
// Put and Delete are called after the commit of each change, in the order of
// the commits, from before Load on. Load is called once, before the first
// Search; Run does the rest.
type Keeper struct {
	source Source
	opts   Options

	index atomic.Pointer[tfidf.Index]
	stage atomic.Int32 // a Stage

	mu        sync.Mutex      // guards what follows, and the order of changes of the index
	changed   map[string]bool // ids that were put or deleted since reading began; nil when the index is complete
	failed    string          // why reading stopped; it is tried again
	completed chan struct{}   // closed when the index is complete

	read, total atomic.Int64 // documents, for the progress

	following sync.Mutex // held while the index is brought in step
}

// Options are the settings of a Keeper.
type Options struct {
	// Name is what the log calls the index.
	Name string
	// Index are the settings of the index.
	Index tfidf.Options
	// Now is time.Now if nil, Log discards if nil.
	Now func() time.Time
	Log *slog.Logger
}

// New makes a Keeper of an empty index.
func New(source Source, opts Options) *Keeper {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	k := &Keeper{source: source, opts: opts, completed: make(chan struct{})}
	k.index.Store(tfidf.New(opts.Index))
	return k
}

// Index returns the index as it is, which may not be whole.
func (k *Keeper) Index() *tfidf.Index { return k.index.Load() }

// Len returns how many documents are in the index.
func (k *Keeper) Len() int { return k.Index().Len() }

// Put puts documents that a commit wrote.
func (k *Keeper) Put(docs ...tfidf.Document) {
	k.change(len(docs), func(i int) string { return docs[i].ID }, func(index *tfidf.Index) { index.Put(docs...) })
}

// Delete removes documents that a commit deleted; ids that nothing has are ignored.
func (k *Keeper) Delete(ids ...string) {
	k.change(len(ids), func(i int) string { return ids[i] }, func(index *tfidf.Index) { index.Delete(ids...) })
}

// change has n documents changed, whose ids id tells, and notes which.
func (k *Keeper) change(n int, id func(i int) string, do func(*tfidf.Index)) {
	if n == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.changed != nil {
		for i := range n {
			k.changed[id(i)] = true
		}
	}
	do(k.Index())
}

// Run brings the index to a whole if Load left that to it. It returns nil when ctx
// ends. The Source must answer until it returns.
func (k *Keeper) Run(ctx context.Context) error {
	k.mend(ctx)
	<-ctx.Done()
	return nil
}

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

// patience is how long a search waits for an index that is still being read: a start
// with 100,000 entries reads for some seconds, and one with 20,000 for one.
const patience = 2 * time.Second

// Search searches the index. One that is still being read is waited for a while; if
// it is not whole then, the answer is of what has been read, and the notice says so.
func (k *Keeper) Search(ctx context.Context, q tfidf.Query) (found tfidf.Result, notice string) {
	k.mu.Lock()
	completed, failed := k.completed, k.failed != ""
	k.mu.Unlock()
	if Stage(k.stage.Load()) == Rebuilding && !failed {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		select {
		case <-completed:
		case <-ctx.Done():
		}
	}
	notice = k.Notice() // before the search: what comes between is in the answer
	return k.Index().Search(q), notice
}
