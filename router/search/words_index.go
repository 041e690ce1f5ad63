package search

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"skillrouter/internal/eventlog"
	"skillrouter/router/follow"
	"skillrouter/router/kind"
	"skillrouter/tfidf"
)

// wordIndex finds rows of operational.db by their words. It is filled in the
// background after the start, so that nobody waits for it, and then kept in
// step with a log of that database: a search first takes in what was committed
// before it, so that whoever wrote something finds it.
type wordIndex struct {
	kind  kind.Kind
	index *tfidf.Index
	log   follow.EventLog
	// read visits the documents of all rows, in pages.
	read func(ctx context.Context, visit func([]tfidf.Document) error) error
	// told returns the documents that a batch of the log changed, and the ids that it
	// changed: those among them without a document are gone.
	told func(ctx context.Context, events []eventlog.Event) (docs []tfidf.Document, changed []string, err error)

	filled atomic.Bool
	seen   atomic.Int64 // every event up to and including this is taken in
	mu     sync.Mutex   // held by who takes events in
}

const (
	// wordEvents is how many events are taken in at once.
	wordEvents = 500
	// wordsGather is how long the index waits for more to take in together, while nobody searches.
	wordsGather = 100 * time.Millisecond
)

func newWordIndex(of kind.Kind, log follow.EventLog) *wordIndex {
	return &wordIndex{kind: of, index: tfidf.New(tfidf.Options{}), log: log}
}

// run fills the index and keeps it in step until ctx ends.
func (x *wordIndex) run(ctx context.Context, logger *slog.Logger) {
	x.log.EventBell().Follow(ctx, wordsGather, follow.RetryAfter, func() error {
		if !x.filled.Load() {
			if err := x.fill(ctx); err != nil {
				return err
			}
		}
		return x.catchUp(ctx)
	}, func(err error) {
		logger.WarnContext(ctx, "what is searched by words is behind its log; trying again", "kind", x.kind.Name, "filled", x.filled.Load(), "error", err)
	})
}

// fill reads every row. What is committed meanwhile is taken in afterwards.
func (x *wordIndex) fill(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	seq, err := x.log.LastEvent(ctx)
	if err != nil {
		return err
	}
	err = x.read(ctx, func(docs []tfidf.Document) error {
		x.index.Put(docs...)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	x.seen.Store(seq)
	x.filled.Store(true)
	return nil
}

// catchUp takes in what is committed. While the index is being filled it does nothing.
func (x *wordIndex) catchUp(ctx context.Context) error {
	if !x.filled.Load() {
		return nil
	}
	last, err := x.log.LastEvent(ctx)
	if err != nil || last <= x.seen.Load() {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.seen.Load() < last {
		events, err := x.log.Events(ctx, x.seen.Load(), wordEvents)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			break
		}
		docs, changed, err := x.told(ctx, events)
		if err != nil {
			return err
		}
		x.take(docs, changed)
		x.seen.Store(events[len(events)-1].Seq)
	}
	return nil
}

// take puts documents in, and takes those of the changed ids out that have none.
func (x *wordIndex) take(docs []tfidf.Document, changed []string) {
	there := make(map[string]bool, len(docs))
	for _, d := range docs {
		there[d.ID] = true
	}
	var gone []string
	for _, id := range changed {
		if !there[id] {
			gone = append(gone, id)
		}
	}
	x.index.Put(docs...)
	x.index.Delete(gone...)
}

// keep takes out of the index what is not stored any more.
func (x *wordIndex) keep(ctx context.Context, stored func(ctx context.Context, visit func(id string)) error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	left := map[string]bool{}
	for _, id := range x.index.IDs() {
		left[id] = true
	}
	if err := stored(ctx, func(id string) { delete(left, id) }); err != nil {
		return err
	}
	x.index.Delete(slices.Collect(maps.Keys(left))...)
	return nil
}

// subjectsOf returns what events of some types tell of, each once.
func subjectsOf(events []eventlog.Event, ofType func(string) bool) []string {
	var ids []string
	seen := map[string]bool{}
	for _, e := range events {
		if ofType(e.Type) && e.Subject != "" && !seen[e.Subject] {
			seen[e.Subject] = true
			ids = append(ids, e.Subject)
		}
	}
	return ids
}
