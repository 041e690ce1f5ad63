package shelf

import (
	"cmp"
	"context"
	"time"

	"skillrouter"
	"skillrouter/tfidf"
)

// piece is an item of a batch.
type piece struct {
	key  EmbeddingKey
	doc  tfidf.Document
	text string
	hash int64
}

// embed makes the vectors of the next items that wait.
func (f *filling) embed(ctx context.Context) error {
	v := f.v
	keys := f.next()
	back := func() { f.changed = append(keys, f.changed...) }
	docs, gone, err := f.read(ctx, keys)
	if err != nil {
		back()
		return err
	}
	if err := f.forget(ctx, gone); err != nil {
		back()
		return err
	}
	var batch []piece
	var later []EmbeddingKey
	size := 0
	for _, doc := range docs {
		key := EmbeddingKey{keys[0].Kind, doc.ID}
		if v.full(len(batch)+1) && !f.outlives(key.Kind, doc.Order) { // the room was taken since it began to wait
			delete(f.waits, key)
			continue
		}
		p := piece{key: key, doc: doc, text: v.textOf(doc)}
		p.hash = hashOf(p.text)
		if size += len(p.text); size > fillBytes && len(batch) > 0 {
			later = append(later, key)
			continue
		}
		batch = append(batch, p)
	}
	f.changed = append(later, f.changed...)
	for _, key := range gone {
		delete(f.waits, key)
	}
	if len(batch) == 0 {
		return nil
	}
	begin := v.now()
	made, err := f.make(ctx, batch)
	if err != nil {
		for _, p := range batch {
			f.changed = append(f.changed, p.key)
		}
		if ctx.Err() == nil {
			f.failed(ctx, err)
		}
		return nil
	}
	if err := f.keep(ctx, batch, made); err != nil {
		for _, p := range batch {
			f.changed = append(f.changed, p.key)
		}
		return err
	}
	for _, p := range batch {
		delete(f.waits, p.key)
	}
	f.succeeded(ctx, len(made), v.now().Sub(begin))
	return nil
}

// next takes up to fillTexts items of one kind that wait.
func (f *filling) next() (keys []EmbeddingKey) {
	take := func(key EmbeddingKey) bool {
		if len(keys) == fillTexts || len(keys) > 0 && keys[0].Kind != key.Kind {
			return false
		}
		keys = append(keys, key)
		return true
	}
	for len(f.changed) > 0 && take(f.changed[0]) {
		f.changed = f.changed[1:]
	}
	for len(f.backlog) > 0 && take(f.backlog[len(f.backlog)-1]) {
		f.backlog = f.backlog[:len(f.backlog)-1]
	}
	return keys
}

// make asks for the vectors of a batch. If the model does not take one of the
// texts, each half is tried by itself, down to the one, which is tried with less
// and less of it, and refused at last. What is refused is not in the answer.
func (f *filling) make(ctx context.Context, batch []piece) (map[EmbeddingKey][]float32, error) {
	texts := make([]string, len(batch))
	for i, p := range batch {
		texts[i] = p.text
	}
	call, cancel := context.WithTimeout(ctx, fillTime)
	vectors, err := f.v.embed(call, texts)
	cancel()
	if err == nil {
		made := make(map[EmbeddingKey][]float32, len(batch))
		for i, p := range batch {
			made[p.key] = vectors[i]
		}
		return made, nil
	}
	if !refusal(err) || ctx.Err() != nil {
		return nil, err
	}
	if len(batch) > 1 {
		made, err := f.make(ctx, batch[:len(batch)/2])
		if err != nil {
			return nil, err
		}
		others, err := f.make(ctx, batch[len(batch)/2:])
		for key, vector := range others {
			made[key] = vector
		}
		return made, err
	}
	if p := batch[0]; len(p.text) > shortest {
		p.text = skillrouter.Head(p.text, len(p.text)/2)
		return f.make(ctx, []piece{p})
	}
	call, cancel = context.WithTimeout(ctx, fillTime)
	_, probed := f.v.embed(call, []string{probeText})
	cancel()
	if probed != nil { // it is not this text
		return nil, probed
	}
	f.refuse(ctx, batch[0], err)
	return map[EmbeddingKey][]float32{}, nil
}

// refuse remembers an item of which the model makes no vector.
func (f *filling) refuse(ctx context.Context, p piece, err error) {
	v := f.v
	v.log.WarnContext(ctx, "the embedding model takes no text of this item, which is found by its words alone", "kind", p.key.Kind, "id", p.key.ID, "error", err)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = err
	if len(v.refused) < refusedMost {
		v.refused[p.key] = p.hash
	}
}

// keep stores vectors, and lets those find that are stored. Where there is no
// room, the oldest of the largest kind make it.
func (f *filling) keep(ctx context.Context, batch []piece, made map[EmbeddingKey][]float32) error {
	v := f.v
	if len(made) == 0 {
		return nil
	}
	dimension := v.matrix.width()
	put := make([]Embedding, 0, len(made))
	docs := make([]tfidf.Document, 0, len(made))
	for _, p := range batch {
		vector, ok := made[p.key]
		if !ok {
			continue
		}
		if dimension == 0 { // the first ones of all
			if err := f.remake(ctx, len(vector)); err != nil {
				return err
			}
			dimension = len(vector)
		}
		if len(vector) != dimension {
			return skillrouter.Errorf(skillrouter.Unavailable, "the embedding model's vectors have another size than before")
		}
		e := Embedding{EmbeddingKey: p.key, Hash: p.hash}
		e.Code, e.Scale = quantize(vector)
		put, docs = append(put, e), append(docs, p.doc)
	}
	var drop []EmbeddingKey
	for v.full(len(put)) {
		oldest, _ := v.matrix.largest()
		if oldest.Kind == "" {
			break
		}
		v.matrix.remove(oldest)
		drop = append(drop, oldest)
	}
	if err := v.store.PutEmbeddings(ctx, v.embedder.Model(), put, drop); err != nil {
		return err
	}
	for i, e := range put {
		v.matrix.put(e, docs[i])
		v.matrix.fresh(e.EmbeddingKey, docs[i], e.Hash, f.sweeps)
	}
	return nil
}

// failed leaves the model alone for a while.
func (f *filling) failed(ctx context.Context, err error) {
	v := f.v
	f.pause = min(max(2*f.pause, v.retry), fillRetryMost)
	f.retryAt = v.now().Add(f.pause)
	v.mu.Lock()
	v.last = err
	first := v.since.IsZero()
	if first {
		v.since = v.now()
	}
	v.mu.Unlock()
	if first {
		v.log.WarnContext(ctx, "the embedding model makes no vectors; search is lexical until it does", "error", err)
	}
}

// succeeded counts what was made and how fast.
func (f *filling) succeeded(ctx context.Context, n int, took time.Duration) {
	v := f.v
	f.pause, f.retryAt = 0, time.Time{}
	v.mu.Lock()
	again := !v.since.IsZero()
	v.since = time.Time{}
	if took > 0 && n > 0 {
		now := float64(n) / took.Seconds()
		v.perSecond = cmp.Or(v.perSecond, now)
		v.perSecond += 0.2 * (now - v.perSecond) // of about the last five batches
	}
	v.mu.Unlock()
	if again {
		v.log.InfoContext(ctx, "the embedding model makes vectors again")
	}
}
