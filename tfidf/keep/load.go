package keep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"skillrouter/tfidf"
)

// Bounds of reading.
const (
	// catchUpAtOnce is how many documents Load reads before it returns: so few take
	// a few milliseconds, and then no search need go to the database.
	catchUpAtOnce = 512
	// catchUpChunk is how many are read at a time.
	catchUpChunk = 2048
	// readAgain is how long a failed reading waits before it is tried again.
	readAgain = time.Second
)

// mark is what a Keeper writes into its snapshot.
type mark struct {
	Form string   `json:"form"`
	At   Position `json:"at"`
	Time int64    `json:"time"` // Unix milliseconds
}

// Load opens the snapshot and catches up with the log if little is missing;
// what takes longer it leaves to Run. It never fails for want of a snapshot: only if
// the Source cannot be read at all.
func (k *Keeper) Load(ctx context.Context) error {
	if k.opts.Follows { // what comes behind this place is followed
		at, err := k.source.Position(ctx)
		if err != nil {
			return err
		}
		k.following.Lock()
		k.followed = at
		k.following.Unlock()
	}
	ix, m, err := k.open(ctx)
	if err != nil {
		return err
	}
	if ix == nil {
		return k.begin(ctx, nil)
	}
	k.mu.Lock()
	k.changed = map[string]bool{}
	k.replace(ix)
	k.opened = time.UnixMilli(m.Time)
	k.mu.Unlock()
	k.stage.Store(int32(CatchingUp))
	from := m.At
	m.At = k.furthest(ctx, from)
	k.saver.mu.Lock()
	k.saver.from, k.saver.at = from, m.At
	k.saver.mu.Unlock()

	// What was committed before this moment is in the log, and what is later is put.
	gap := map[string]bool{}
	err = k.source.Changed(ctx, m.At, func(ids []string) error {
		for _, id := range ids {
			gap[id] = true
		}
		return nil
	})
	if errors.Is(err, ErrGap) {
		return k.begin(ctx, err)
	}
	if err != nil {
		return err
	}
	ids := slices.AppendSeq(make([]string, 0, len(gap)), maps.Keys(gap))
	k.saver.count(len(ids), k.opts.Now())
	k.total.Store(int64(len(ids)))
	k.mu.Lock()
	k.gap = ids
	k.mu.Unlock()
	if len(ids) > catchUpAtOnce {
		return nil
	}
	return k.catchUp(ctx)
}

// open returns the index of the snapshot, nil if there is none that can be used.
func (k *Keeper) open(ctx context.Context) (*tfidf.Index, mark, error) {
	var m mark
	refuse := func(format string, args ...any) (*tfidf.Index, mark, error) {
		reason := fmt.Sprintf(format, args...)
		k.mu.Lock()
		k.refused = reason
		k.mu.Unlock()
		return nil, m, nil
	}
	if k.opts.Path == "" {
		return refuse("none is kept")
	}
	ix, text, err := tfidf.Open(k.opts.Path, k.opts.Index)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse("there is none yet")
	case err != nil:
		return refuse("%s", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return refuse("its mark cannot be read: %s", err)
	}
	if m.Form != k.opts.Form {
		return refuse("it is of another version: %q, not %q", m.Form, k.opts.Form)
	}
	holds, err := k.source.Holds(ctx, m.At)
	if err != nil {
		return nil, m, err
	}
	if !holds {
		return refuse("it is of another database, or of a later state of this one")
	}
	return ix, m, nil
}

// begin makes everything be read again into an empty index.
func (k *Keeper) begin(ctx context.Context, because error) error {
	k.mu.Lock()
	k.changed, k.gap = map[string]bool{}, nil
	if because != nil {
		k.refused, k.opened = because.Error(), time.Time{}
		k.saver.mu.Lock()
		k.saver.from, k.saver.at = Position{}, Position{}
		k.saver.mu.Unlock()
	}
	if k.Len() > 0 {
		k.replace(tfidf.New(k.opts.Index))
	}
	k.read.Store(0)
	k.highest.Store(0)
	if k.Complete() {
		k.complete = make(chan struct{})
	}
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
	k.changed, k.gap, k.failed = nil, nil, ""
	if !k.Complete() {
		close(k.complete)
	}
	k.stage.Store(int32(Complete))
}

// Rebuild reads everything again into an empty index, and returns when it is whole.
func (k *Keeper) Rebuild(ctx context.Context) error {
	if err := k.begin(ctx, nil); err != nil {
		return err
	}
	return k.rebuild(ctx)
}

// mend brings the index to a whole. What fails is tried again until ctx ends.
func (k *Keeper) mend(ctx context.Context) {
	for Stage(k.stage.Load()) != Unread && !k.Complete() && ctx.Err() == nil {
		read := k.rebuild
		k.mu.Lock()
		if k.gap != nil {
			read = k.catchUp
		}
		k.mu.Unlock()
		begin := k.opts.Now()
		stage := Stage(k.stage.Load())
		err := read(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			k.opts.Log.InfoContext(ctx, "search index is whole", "after", stage.String(), "index", k.opts.Form, "documents", k.Len(), "took_ms", k.opts.Now().Sub(begin).Milliseconds())
			k.saver.now()
			return
		}
		k.mu.Lock()
		first := k.failed == ""
		k.failed = err.Error()
		k.mu.Unlock()
		if first {
			k.opts.Log.ErrorContext(ctx, "the search index cannot be read from the database; trying again", "index", k.opts.Form, "error", err)
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
			n := len(docs)
			if n == 0 {
				continue
			}
			last := docs[n-1].Order
			k.take(docs, nil)
			k.read.Add(int64(n))
			k.highest.Store(max(k.highest.Load(), last))
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

// catchUp reads what changed since the snapshot.
func (k *Keeper) catchUp(ctx context.Context) error {
	k.mu.Lock()
	gap := k.gap
	k.mu.Unlock()
	k.read.Store(0)
	if err := k.look(ctx, gap, func(docs []tfidf.Document, gone []string) {
		k.take(docs, gone)
		k.read.Add(int64(len(docs) + len(gone)))
	}); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.end()
	return nil
}

// look reads documents by their ids, in parts, and tells which are not there.
func (k *Keeper) look(ctx context.Context, ids []string, take func(docs []tfidf.Document, gone []string)) error {
	for part := range slices.Chunk(ids, catchUpChunk) {
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

// Follow brings the index in step with what another process wrote: changed are the ids of the documents that the log tells of up to a
// place, deleted ones among them, each once. It is called with one place after the other, from that of Load on.
func (k *Keeper) Follow(ctx context.Context, changed []string, to Position) error {
	k.following.Lock()
	defer k.following.Unlock()
	err := k.look(ctx, changed, func(docs []tfidf.Document, gone []string) {
		k.Put(docs...)
		k.Delete(gone...)
	})
	if err == nil {
		k.followed = to
	}
	return err
}

// settled is the source's Settled, for one that follows too.
func (k *Keeper) settled(ctx context.Context, then func(at Position)) error {
	if !k.opts.Follows {
		return k.source.Settled(ctx, then)
	}
	k.following.Lock()
	defer k.following.Unlock()
	then(k.followed)
	return nil
}

// take puts what was read, and deletes what is not there any more, except
// where a later commit has done so.
func (k *Keeper) take(docs []tfidf.Document, gone []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.changed) > 0 {
		docs = slices.DeleteFunc(docs, func(d tfidf.Document) bool { return k.changed[d.ID] })
		gone = slices.DeleteFunc(gone, func(id string) bool { return k.changed[id] })
	}
	if len(docs) > 0 {
		k.Index().Put(docs...)
	}
	if len(gone) > 0 {
		k.Index().Delete(gone...)
	}
}
