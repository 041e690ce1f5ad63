package shelf

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"skillrouter"
	"skillrouter/tfidf"
)

// Bounds of the filling.
const (
	// touchedMost is how many items may wait to be looked at; beyond, all are looked at.
	touchedMost = 1 << 14
	// waitingMost is how many items may wait for their vectors. Of more, the newest wait,
	// and the others are looked for again when these are done.
	waitingMost = 8192
	// fillTexts and fillBytes bound a batch: what a model on a processor makes in seconds.
	fillTexts = 32
	fillBytes = 32 << 10
	// fillTime bounds a batch's call: such a model may be a slow one.
	fillTime = 2 * time.Minute
	// fillRetryMost is how long at most a model is left alone after a failure, and
	// fillStoreRetry how long the database is.
	fillRetryMost  = time.Minute
	fillStoreRetry = 5 * time.Second
	// dropStep is how many vectors one transaction drops: a few milliseconds, for which
	// other writers wait.
	dropStep = 500
	// refusedMost is how many refused items are remembered; more are tried again at the next sweep.
	refusedMost = 10_000
	// shortest is the length, in bytes, below which a text that a model calls too long is given up.
	shortest = 512
	// probeText is what every model takes: if one does not, no text is to blame.
	probeText = "text"
)

// Run reads the stored vectors, makes those that are missing, and keeps them in
// step with the items until ctx ends. Then it returns nil. What was made is
// stored at once: a restart goes on from there.
func (v *Vectors) Run(ctx context.Context) error {
	if !v.configured() {
		<-ctx.Done()
		return nil
	}
	var calls sync.WaitGroup
	defer calls.Wait()
	for range queryCalls {
		calls.Go(func() { v.queries.run(ctx) })
	}
	f := filling{v: v, waits: map[EmbeddingKey]bool{}}
	for ctx.Err() == nil {
		idle, err := f.step(ctx)
		if err != nil && ctx.Err() == nil {
			v.log.WarnContext(ctx, "vectors could not be kept and wait", "error", err)
			idle = fillStoreRetry
		}
		if idle == 0 {
			continue
		}
		_ = skillrouter.PauseUntil(ctx, idle, v.wake)
	}
	return nil
}

// filling is what Run is at.
type filling struct {
	v       *Vectors
	changed []EmbeddingKey // wait for their vectors, and come first
	backlog []EmbeddingKey // likewise; the newest at the end
	waits   map[EmbeddingKey]bool
	sweeps  uint32
	again   bool // the backlog did not hold all
	retryAt time.Time
	pause   time.Duration
}

// step does one bounded piece of work, and returns how long there is nothing to do if there was none.
func (f *filling) step(ctx context.Context) (idle time.Duration, err error) {
	v := f.v
	v.mu.Lock()
	loaded, moved, touched, sweep := v.loaded, v.moved, len(v.touched) > 0, v.sweepDue
	waiting := len(f.changed) + len(f.backlog)
	v.filling = waiting > 0 || sweep || touched || !loaded
	v.mu.Unlock()
	switch {
	case !loaded:
		return 0, f.load(ctx)
	case moved != 0:
		return 0, f.remake(ctx, moved)
	case touched:
		return 0, f.sort(ctx)
	case sweep:
		return 0, f.sweep(ctx)
	case waiting > 0:
		if wait := f.retryAt.Sub(v.now()); wait > 0 {
			return wait, nil
		}
		return 0, f.embed(ctx)
	case f.again:
		v.mu.Lock()
		v.sweepDue, f.again = true, false
		v.mu.Unlock()
		return 0, nil
	}
	return time.Hour, nil // until something changes
}

// load reads the vectors of the model, and drops those of others.
func (f *filling) load(ctx context.Context) error {
	v := f.v
	v.matrix.reset(0)
	surplus := 0
	others, err := v.store.ScanEmbeddings(ctx, v.embedder.Model(), func(e Embedding) error {
		dimension := len(e.Code)
		if v.matrix.dimension == 0 {
			v.matrix.reset(dimension)
		}
		if dimension != v.matrix.dimension || v.matrix.count("") >= v.room(dimension) {
			surplus++ // these are made anew, as far as there is room
			return nil
		}
		v.matrix.put(e, tfidf.Document{})
		return nil
	})
	if err != nil {
		return err
	}
	if others+surplus > 0 {
		v.log.InfoContext(ctx, "vectors of another model are dropped", "count", others+surplus, "model", v.embedder.Model())
		if err := f.drop(ctx, v.matrix.dimension); err != nil {
			return err
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.loaded = true
	return nil
}

// drop drops the stored vectors that are of another model or dimension.
func (f *filling) drop(ctx context.Context, dimension int) error {
	for {
		n, err := f.v.store.DropEmbeddings(ctx, f.v.embedder.Model(), dimension, dropStep)
		if err != nil || n < dropStep {
			return err
		}
	}
}

// remake begins anew with vectors of another dimension.
func (f *filling) remake(ctx context.Context, dimension int) error {
	v := f.v
	had := v.matrix.count("")
	v.matrix.reset(dimension)
	v.queries.forget()
	if had > 0 {
		v.log.InfoContext(ctx, "the embedding model's vectors have another size: all are made anew", "dimension", dimension, "dropped", had)
	}
	if err := f.drop(ctx, dimension); err != nil {
		return err
	}
	f.changed, f.backlog, f.waits, f.retryAt = nil, nil, map[EmbeddingKey]bool{}, time.Time{}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.moved, v.confirmed, v.sweepDue, v.refused = 0, true, true, map[EmbeddingKey]int64{}
	return nil
}

// sort looks at items that may have changed: what is gone loses its vector,
// what says something else waits for a new one.
func (f *filling) sort(ctx context.Context) error {
	v := f.v
	v.mu.Lock()
	var keys []EmbeddingKey
	var kind EmbeddingKind
	for key := range v.touched {
		kind = cmp.Or(kind, key.Kind)
		if key.Kind == kind {
			keys = append(keys, key)
			delete(v.touched, key)
		}
		if len(keys) == fetchRows*fetchRows {
			break
		}
	}
	v.mu.Unlock()
	docs, gone, err := f.read(ctx, keys)
	if err != nil {
		v.touch(kind, idsOf(keys)...)
		return err
	}
	if err := f.forget(ctx, gone); err != nil {
		v.touch(kind, idsOf(gone)...)
		return err
	}
	for _, doc := range docs {
		f.weigh(EmbeddingKey{kind, doc.ID}, doc, &f.changed)
	}
	f.changed = f.bounded(f.changed)
	return nil
}

// read returns the items that keys of one kind stand for, and the keys of those that are gone.
func (f *filling) read(ctx context.Context, keys []EmbeddingKey) (docs []tfidf.Document, gone []EmbeddingKey, err error) {
	if len(keys) == 0 {
		return nil, nil, nil
	}
	docs, err = f.v.sources[keys[0].Kind].DocumentsByID(ctx, idsOf(keys))
	if err != nil {
		return nil, nil, err
	}
	found := make(map[string]bool, len(docs))
	for _, doc := range docs {
		found[doc.ID] = true
	}
	for _, key := range keys {
		if !found[key.ID] {
			gone = append(gone, key)
		}
	}
	return docs, gone, nil
}

// forget drops the vectors of items that are gone.
func (f *filling) forget(ctx context.Context, gone []EmbeddingKey) error {
	if len(gone) == 0 {
		return nil
	}
	f.v.matrix.remove(gone...)
	f.v.mu.Lock()
	for _, key := range gone {
		delete(f.v.refused, key)
	}
	f.v.mu.Unlock()
	return f.v.store.PutEmbeddings(ctx, f.v.embedder.Model(), nil, gone)
}

// weigh lets an item wait for a vector, unless it has one of what it says, or
// there is no room and it is older than what is there.
func (f *filling) weigh(key EmbeddingKey, doc tfidf.Document, queue *[]EmbeddingKey) {
	v := f.v
	hash := hashOf(v.textOf(doc))
	if v.matrix.fresh(key, doc, hash, f.sweeps) || f.waits[key] {
		return
	}
	v.mu.Lock()
	was, refused := v.refused[key]
	v.mu.Unlock()
	if refused && was == hash {
		return
	}
	if v.full(1) && !f.outlives(key.Kind, doc.Order) {
		return
	}
	*queue = append(*queue, key)
	f.waits[key] = true
}

// full tells whether there is no room for more vectors.
func (v *Vectors) full(more int) bool {
	v.matrix.mu.RLock()
	defer v.matrix.mu.RUnlock()
	return v.matrix.dimension > 0 && len(v.matrix.at)+more > v.room(v.matrix.dimension)
}

// outlives tells whether an item takes the place of another where there is no room.
func (f *filling) outlives(kind EmbeddingKind, order int64) bool {
	oldest, of := f.v.matrix.largest()
	return f.v.matrix.count(kind)+1 < f.v.matrix.count(oldest.Kind) || kind == oldest.Kind && order > of
}

// sweep looks at every item. What waits afterwards is the newest; if that are
// not all, it sweeps again when these have their vectors.
func (f *filling) sweep(ctx context.Context) error {
	v := f.v
	v.mu.Lock()
	v.sweepDue = false
	v.mu.Unlock()
	f.sweeps++
	f.again = false
	for _, kind := range EmbeddingKinds() {
		source, ok := v.sources[kind]
		if !ok {
			continue
		}
		err := source.scanDocuments(ctx, func(docs []tfidf.Document) error {
			for _, doc := range docs {
				f.weigh(EmbeddingKey{kind, doc.ID}, doc, &f.backlog)
			}
			f.backlog = f.bounded(f.backlog)
			return ctx.Err()
		})
		if err != nil {
			v.mu.Lock()
			v.sweepDue = true
			v.mu.Unlock()
			return err
		}
	}
	for _, key := range v.matrix.unseen(f.sweeps) {
		v.touch(key.Kind, key.ID) // gone, or written while we looked
	}
	return nil
}

// bounded lets the first of a queue that is too long wait for another sweep.
func (f *filling) bounded(queue []EmbeddingKey) []EmbeddingKey {
	over := len(queue) - waitingMost
	if over <= 0 {
		return queue
	}
	for _, key := range queue[:over] {
		delete(f.waits, key)
	}
	f.again = true
	return slices.Clone(queue[over:])
}

func idsOf(keys []EmbeddingKey) []string {
	ids := make([]string, len(keys))
	for i, key := range keys {
		ids[i] = key.ID
	}
	return ids
}
