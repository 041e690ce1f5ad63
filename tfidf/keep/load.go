package keep

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/tfidf"
)

// Bounds of reading.
const (
	// readAtOnce is how many documents Load reads before it returns: so few take
	// some milliseconds, and then no search need go to the database.
	readAtOnce = 1024
	// lookChunk is how many are read by their ids at a time.
	lookChunk = 2048
	// readAgain is how long a failed reading waits before it is tried again.
	readAgain = time.Second
)

// Load reads a small index; what takes longer it leaves to Run.
func (k *Keeper) Load(ctx context.Context) error {
	if err := k.begin(ctx); err != nil || k.total.Load() > readAtOnce {
		return err
	}
	return k.rebuild(ctx)
}

// begin makes everything be read again into an empty index.
func (k *Keeper) begin(ctx context.Context) error {
	k.mu.Lock()
	k.changed = map[string]bool{}
	if k.Complete() {
		k.completed = make(chan struct{})
	}
	if k.Len() > 0 {
		k.index.Store(tfidf.New(k.opts.Index))
	}
	k.read.Store(0)
	k.stage.Store(int32(Rebuilding))
	k.mu.Unlock()

	total, err := k.source.Count(ctx) // of what was committed before; what is later is put
	if err != nil {
		return err
	}
	k.total.Store(int64(total))
	if total == 0 {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.end()
	}
	return nil
}

// end says that the index is whole; the caller holds k.mu.
func (k *Keeper) end() {
	k.changed, k.failed = nil, ""
	if !k.Complete() {
		k.stage.Store(int32(Complete))
		close(k.completed)
	}
}

// Rebuild reads everything again into an empty index, and returns when it is whole.
func (k *Keeper) Rebuild(ctx context.Context) error {
	if err := k.begin(ctx); err != nil {
		return err
	}
	return k.rebuild(ctx)
}

// mend brings the index to a whole. What fails is tried again until ctx ends.
func (k *Keeper) mend(ctx context.Context) {
	for Stage(k.stage.Load()) != Unread && !k.Complete() && ctx.Err() == nil {
		begin := k.opts.Now()
		err := k.rebuild(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			k.opts.Log.InfoContext(ctx, "search index is whole", "index", k.opts.Name, "documents", k.Len(), "took_ms", k.opts.Now().Sub(begin).Milliseconds())
			return
		}
		k.mu.Lock()
		first := k.failed == ""
		k.failed = err.Error()
		k.mu.Unlock()
		if first {
			k.opts.Log.ErrorContext(ctx, "the search index cannot be read from the database; trying again", "index", k.opts.Name, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(readAgain):
		}
	}
}

// rebuild reads documents and puts them at the same time.
func (k *Keeper) rebuild(ctx context.Context) error {
	if k.Complete() {
		return nil
	}
	k.read.Store(0)
	group, of := errgroup.WithContext(ctx)
	chunks := make(chan []tfidf.Document, 1)
	group.Go(func() error {
		defer close(chunks)
		return k.source.Scan(of, func(docs []tfidf.Document) error {
			select {
			case chunks <- docs:
				return nil
			case <-of.Done():
				return of.Err()
			}
		})
	})
	group.Go(func() error {
		for docs := range chunks {
			n := len(docs) // take may leave some out
			k.take(docs)
			k.read.Add(int64(n))
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.end()
	return nil
}

// look reads documents by their ids, in parts, and tells which are not there.
func (k *Keeper) look(ctx context.Context, ids []string, take func(docs []tfidf.Document, gone []string)) error {
	for part := range slices.Chunk(ids, lookChunk) {
		docs, err := k.source.Documents(ctx, part)
		if err != nil {
			return err
		}
		there := make(map[string]bool, len(docs))
		for i := range docs {
			there[docs[i].ID] = true
		}
		gone := make([]string, 0, len(part)-len(docs))
		for _, id := range part {
			if !there[id] {
				gone = append(gone, id)
			}
		}
		take(docs, gone)
	}
	return nil
}

// Follow brings the index in step with what another process wrote: changed are the ids of the documents that the log tells of, deleted
// ones among them, each once. It is called with one part of the log after the other.
func (k *Keeper) Follow(ctx context.Context, changed []string) error {
	k.following.Lock()
	defer k.following.Unlock()
	return k.look(ctx, changed, func(docs []tfidf.Document, gone []string) {
		k.Put(docs...)
		k.Delete(gone...)
	})
}

// take puts what was read, except where a later commit has done so, or deleted it.
func (k *Keeper) take(docs []tfidf.Document) {
	k.mu.Lock()
	defer k.mu.Unlock()
	docs = slices.DeleteFunc(docs, func(d tfidf.Document) bool { return k.changed[d.ID] })
	if len(docs) > 0 {
		k.Index().Put(docs...)
	}
}
