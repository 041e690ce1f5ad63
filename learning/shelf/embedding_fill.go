package shelf

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/tfidf"
)

// Bounds of the filling.
const (
	// fillTexts bounds a batch: what a model on a processor makes in seconds.
	fillTexts = 16
	// fillTime bounds a batch's call: such a model may be a slow one.
	fillTime = 2 * time.Minute
	// pauseMost is how long at most a model or the database is left alone after a failure.
	pauseMost = time.Minute
	// shortest is the length, in bytes, below which a text that a model calls too long is given up.
	shortest = 512
	// probeText is a text that every model takes: if one does not, no text is to blame.
	probeText = "text"
)

// piece is an item of a batch.
type piece struct {
	Embedding
	doc  tfidf.Document
	text string
}

// Run reads the stored vectors, makes those that are missing, and keeps them in step with the
// items until ctx ends. Then it returns nil. Each batch is stored at once: a restart goes on from there.
func (v *Vectors) Run(ctx context.Context) error {
	if !v.configured() {
		<-ctx.Done()
		return nil
	}
	for ctx.Err() == nil {
		step := v.fill
		if !v.loaded {
			step = v.load
		}
		if err := step(ctx); err != nil && ctx.Err() == nil {
			v.rest(ctx, err)
		}
	}
	return nil
}

// rest leaves the model and the database alone for a while after a failure.
func (v *Vectors) rest(ctx context.Context, err error) {
	v.mu.Lock()
	if v.outage.since.IsZero() {
		v.log.WarnContext(ctx, "no vectors are made or stored; search is lexical until they are", "error", err)
	}
	v.outage.failed(err, v.now())
	pause := backoff(v.options.Retry, v.outage.failures-1)
	v.mu.Unlock()
	_ = committer.Pause(ctx, pause)
}

// load reads the vectors of the model, drops those of others, and looks for items that have none. The model is asked for the
// dimension of its vectors first: another model may have taken its place under the same name.
func (v *Vectors) load(ctx context.Context) error {
	probe, err := v.embed(ctx, fillTime, probeText)
	if err != nil {
		return err
	}
	dimension := len(probe[0])
	v.table.reset(dimension)
	others, err := v.store.ScanEmbeddings(ctx, v.embedder.Model(), func(e Embedding) error {
		if len(e.Vector) == dimension && !v.full(1) { // others are made anew, as far as there is room
			v.table.put(e, tfidf.Document{})
		}
		return nil
	})
	if others > 0 {
		v.log.InfoContext(ctx, "dropping vectors of another model", "count", others, "model", v.embedder.Model())
	}
	if err == nil {
		err = v.store.DropEmbeddings(ctx, v.embedder.Model(), dimension)
	}
	if err == nil {
		err = v.sweep(ctx)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.loaded = err == nil
	return err
}

// sweep looks at every item. Those without a vector of what they say wait for one, the newest
// first, and so do vectors whose items are gone.
func (v *Vectors) sweep(ctx context.Context) error {
	var waiting []EmbeddingKey
	seen := map[EmbeddingKey]bool{}
	for kind, source := range v.sources {
		err := source.scanDocuments(ctx, func(docs []tfidf.Document) error {
			for _, doc := range docs {
				key := EmbeddingKey{kind, doc.ID}
				seen[key] = true
				if !v.settled(key, doc, hashOf(v.textOf(doc))) {
					waiting = append(waiting, key)
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	v.wait(append(waiting, v.table.without(seen)...))
	return nil
}

// settled tells whether an item has the vector of what it says, or the model refused that. What the filters read of it is kept.
func (v *Vectors) settled(key EmbeddingKey, doc tfidf.Document, hash int64) bool {
	if e, there := v.table.of(key); there && e.Hash == hash {
		v.table.put(e, doc)
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	refused, there := v.refused[key]
	return there && refused == hash
}

// wait has items wait for Run to look at them, the last of them first.
func (v *Vectors) wait(keys []EmbeddingKey) {
	v.mu.Lock()
	for _, key := range keys {
		if !v.waits[key] {
			v.waits[key] = true
			v.waiting = append(v.waiting, key)
		}
	}
	v.mu.Unlock()
	committer.Nudge(v.wake)
}

// next takes items of one kind that wait.
func (v *Vectors) next() (keys []EmbeddingKey) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for len(keys) < fillTexts && len(v.waiting) > 0 {
		last := v.waiting[len(v.waiting)-1]
		if len(keys) > 0 && last.Kind != keys[0].Kind {
			break
		}
		v.waiting = v.waiting[:len(v.waiting)-1]
		delete(v.waits, last)
		keys = append(keys, last)
	}
	slices.Reverse(keys)
	v.busy = len(keys) > 0
	return keys
}

// fill brings the vectors of some items that wait in step with what they say, or waits for such items.
func (v *Vectors) fill(ctx context.Context) error {
	keys := v.next()
	if len(keys) == 0 {
		_ = committer.PauseUntil(ctx, time.Hour, v.wake)
		return nil
	}
	err := v.bring(ctx, keys)
	if err != nil {
		v.wait(keys)
	}
	return err
}

// bring makes the vectors of items of one kind and stores them, and then lets searches find them. Those of items that are
// gone are dropped and, without room, the oldest of the largest kind.
func (v *Vectors) bring(ctx context.Context, keys []EmbeddingKey) error {
	ids, gone := make([]string, len(keys)), map[EmbeddingKey]bool{}
	for i, key := range keys {
		ids[i], gone[key] = key.ID, true
	}
	docs, err := v.sources[keys[0].Kind].DocumentsByID(ctx, ids)
	if err != nil {
		return err
	}
	var batch []piece
	for _, doc := range docs {
		p := piece{doc: doc, text: v.textOf(doc)}
		p.EmbeddingKey, p.Hash = EmbeddingKey{keys[0].Kind, doc.ID}, hashOf(p.text)
		delete(gone, p.EmbeddingKey)
		if !v.settled(p.EmbeddingKey, doc, p.Hash) && v.hasRoom(p) {
			batch = append(batch, p)
		}
	}
	drop := slices.Collect(maps.Keys(gone))
	v.table.remove(drop...)
	begin := v.now()
	if len(batch) > 0 {
		if err := v.embedBatch(ctx, batch); err != nil {
			return err
		}
	}
	took := v.now().Sub(begin)
	batch = slices.DeleteFunc(batch, func(p piece) bool { return p.Vector == nil })
	put := make([]Embedding, len(batch))
	for i, p := range batch {
		put[i] = p.Embedding
	}
	if err := v.change(ctx, put, drop); err != nil || len(batch) == 0 {
		return err
	}
	var over []EmbeddingKey
	for _, p := range batch {
		v.table.put(p.Embedding, p.doc)
		for v.full(0) {
			oldest, _ := v.table.oldest()
			v.table.remove(oldest)
			over = append(over, oldest)
		}
	}
	v.mu.Lock()
	if !v.outage.since.IsZero() {
		v.log.InfoContext(ctx, "the embedding model makes vectors again")
	}
	v.outage.over()
	if took > 0 {
		v.perSecond = float64(len(batch)) / took.Seconds()
	}
	v.mu.Unlock()
	return v.change(ctx, nil, over)
}

// change changes the stored vectors, if there is something to change.
func (v *Vectors) change(ctx context.Context, put []Embedding, drop []EmbeddingKey) error {
	if len(put)+len(drop) == 0 {
		return nil
	}
	return v.store.PutEmbeddings(ctx, v.embedder.Model(), put, drop)
}

// embedBatch sets the vectors of a batch. If the model refuses one of the texts, each half is tried alone, and a single
// item with less and less of its text. One of which the model takes no text stays without a vector until it changes.
func (v *Vectors) embedBatch(ctx context.Context, batch []piece) error {
	texts := make([]string, len(batch))
	for i, p := range batch {
		texts[i] = p.text
	}
	vectors, err := v.embed(ctx, fillTime, texts...)
	for i := range vectors {
		batch[i].Vector = vectors[i]
	}
	first := &batch[0]
	switch {
	case !refusal(err):
		return err
	case len(batch) > 1:
		if err := v.embedBatch(ctx, batch[:len(batch)/2]); err != nil {
			return err
		}
		return v.embedBatch(ctx, batch[len(batch)/2:])
	case len(first.text) > shortest:
		first.text = check.Head(first.text, len(first.text)/2)
		return v.embedBatch(ctx, batch)
	}
	if _, probed := v.embed(ctx, fillTime, probeText); probed != nil {
		return probed // it is not this text
	}
	v.log.WarnContext(ctx, "the embedding model takes no text of this item, which is found by its words alone", "kind", first.Kind, "id", first.ID, "error", err)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.outage.last, v.refused[first.EmbeddingKey] = err, first.Hash
	return nil
}

// full tells whether there is no room for more vectors.
func (v *Vectors) full(more int) bool {
	dimension, _, n := v.table.size("")
	return n+more > min(v.options.Most, MaxVectors, MaxVectorBytes/(4*dimension+itemBytes))
}

// hasRoom tells whether an item gets a vector: there is room, or it takes the place of an older one.
func (v *Vectors) hasRoom(p piece) bool {
	if !v.full(1) {
		return true
	}
	oldest, order := v.table.oldest()
	_, mine, _ := v.table.size(p.Kind)
	_, most, _ := v.table.size(oldest.Kind)
	return mine+1 < most || p.Kind == oldest.Kind && p.doc.Order > order
}

// embed asks the model for vectors of length 1, checks them, and holds them to the dimension of the others.
func (v *Vectors) embed(ctx context.Context, most time.Duration, texts ...string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	vectors, err := v.embedder.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, errs.Errorf(errs.Unavailable, "the embedding model answered %d vectors for %d texts", len(vectors), len(texts))
	}
	for _, vector := range vectors {
		if err := normalize(vector); err != nil {
			return nil, err
		}
		if len(vector) != len(vectors[0]) {
			return nil, errs.Errorf(errs.Unavailable, "the embedding model answered vectors of %d and of %d dimensions", len(vectors[0]), len(vector))
		}
	}
	return vectors, nil
}

// normalize gives a vector the length 1. It returns an error unless the vector has a direction and
// a dimension that can be kept.
func normalize(vector []float32) error {
	if len(vector) == 0 || len(vector) > MaxDimension {
		return errs.Errorf(errs.Unavailable, "the embedding model answered a vector of %d dimensions, and 1 to %d can be kept", len(vector), MaxDimension)
	}
	sum := 0.0
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) || sum == 0 {
		return errs.Errorf(errs.Unavailable, "the embedding model answered a vector without a direction: it holds nothing but zeros, or what is no number")
	}
	length := math.Sqrt(sum)
	for i, x := range vector {
		vector[i] = float32(float64(x) / length)
	}
	return nil
}

// textOf is what is embedded of an item.
func (v *Vectors) textOf(doc tfidf.Document) string {
	text := doc.Body
	if doc.Title != "" {
		text = doc.Title + "\n" + doc.Body
	}
	return v.options.ItemPrefix + check.Head(text, MaxEmbedText)
}

// hashOf tells texts apart; that two have the same by chance needs billions of them.
func hashOf(text string) int64 {
	sum := sha256.Sum256([]byte(text))
	return int64(binary.LittleEndian.Uint64(sum[:8]))
}

// refusal tells whether an error says that a text is not taken, rather than
// that nothing is.
func refusal(err error) bool {
	code := errs.CodeOf(err)
	return err != nil && (code == errs.Invalid || code == errs.TooLarge)
}
