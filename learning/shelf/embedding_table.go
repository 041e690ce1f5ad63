package shelf

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"skillrouter/tfidf"
)

// Figures of a search in a table.
const (
	// itemBytes is about what is kept of an item besides its vector.
	itemBytes = 256
	// sampleItems is about how many vectors say how near a query is to any item.
	sampleItems = 512
	// nearEnough is the least cosine of a hit that shares no word with the query, and
	// farFromUsual by how many standard deviations it must lie above what the query's
	// cosine is with just any item, where there are usualLeast of them to tell: vectors are near
	// to something, whatever is asked for.
	nearEnough   = 0.25
	farFromUsual = 2.5
	usualLeast   = 64
)

// table holds the vectors in memory, all of one dimension and of length 1. A search compares all of them.
// Its methods may be called concurrently.
type table struct {
	mu        sync.RWMutex
	dimension int // 0: there are no vectors yet
	items     []tableItem
	at        map[EmbeddingKey]int // where in items an item stands
	kinds     map[EmbeddingKind]int
}

// tableItem is a vector and the item that it stands for.
type tableItem struct {
	Embedding
	doc tfidf.Document // without its texts, for the filters
}

// reset drops every vector; those to come have a dimension.
func (t *table) reset(dimension int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dimension, t.items, t.at, t.kinds = dimension, nil, map[EmbeddingKey]int{}, map[EmbeddingKind]int{}
}

// put adds a vector, or replaces its item's older one.
func (t *table) put(e Embedding, doc tfidf.Document) {
	t.mu.Lock()
	defer t.mu.Unlock()
	doc.Title, doc.Body = "", ""
	if at, there := t.at[e.EmbeddingKey]; there {
		t.items[at] = tableItem{e, doc}
		return
	}
	t.at[e.EmbeddingKey] = len(t.items)
	t.kinds[e.Kind]++
	t.items = append(t.items, tableItem{e, doc})
}

// remove drops vectors. It ignores keys without one.
func (t *table) remove(keys ...EmbeddingKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		at, there := t.at[key]
		if !there {
			continue
		}
		last := len(t.items) - 1 // takes its place
		t.items[at] = t.items[last]
		t.at[t.items[at].EmbeddingKey] = at
		t.items[last] = tableItem{}
		t.items = t.items[:last]
		delete(t.at, key)
		t.kinds[key.Kind]--
	}
}

// of returns an item's vector, if it has one.
func (t *table) of(key EmbeddingKey) (e Embedding, there bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	at, there := t.at[key]
	if there {
		e = t.items[at].Embedding
	}
	return e, there
}

// oldest returns the oldest item of the kind that has most vectors.
func (t *table) oldest() (key EmbeddingKey, order int64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	kind := slices.MaxFunc(EmbeddingKinds(), func(a, b EmbeddingKind) int { return t.kinds[a] - t.kinds[b] })
	for i := range t.items {
		if item := &t.items[i]; item.Kind == kind && (key.Kind == "" || item.doc.Order < order) {
			key, order = item.EmbeddingKey, item.doc.Order
		}
	}
	return key, order
}

// keys lists the items that have vectors.
func (t *table) keys() []EmbeddingKey {
	t.mu.RLock()
	defer t.mu.RUnlock()
	keys := make([]EmbeddingKey, len(t.items))
	for i := range t.items {
		keys[i] = t.items[i].EmbeddingKey
	}
	return keys
}

// size returns the dimension of the vectors and how many there are, of a kind and of all kinds.
func (t *table) size(kind EmbeddingKind) (dimension, ofKind, all int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.dimension, t.kinds[kind], len(t.items)
}

// neighbour is a vector that was found.
type neighbour struct {
	id     string
	cosine float64
}

// nearer orders neighbours: the higher cosine first, and of equal ones the smaller id.
func nearer(a, b neighbour) int {
	return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.id, b.id))
}

// nearest returns up to limit items of a kind that fit the filters of a query, the nearest
// to a vector first. least is the least cosine of a hit that shares no word with the query: every vector
// is near to something, so it must lie well above what the query has with any item, as a sample tells.
func (t *table) nearest(kind EmbeddingKind, vector []float32, filter tfidf.Query, limit int) (found []neighbour, least float64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(vector) != t.dimension {
		return nil, nearEnough
	}
	sum, squared, n, step := 0.0, 0.0, 0.0, max(1, len(t.items)/sampleItems)
	for i := range t.items {
		item := &t.items[i]
		sampled, fits := i%step == 0, Fits(&item.doc, filter)
		if item.Kind != kind || !sampled && !fits {
			continue
		}
		one := neighbour{item.ID, dot(item.Vector, vector)}
		if sampled {
			sum, squared, n = sum+one.cosine, squared+one.cosine*one.cosine, n+1
		}
		if fits && (len(found) < limit || nearer(one, found[limit-1]) < 0) {
			place, _ := slices.BinarySearchFunc(found, one, nearer)
			found = slices.Insert(found, place, one)
			found = found[:min(limit, len(found))]
		}
	}
	if n < usualLeast {
		return found, nearEnough
	}
	mean := sum / n
	return found, max(nearEnough, mean+farFromUsual*math.Sqrt(max(0, squared/n-mean*mean)))
}

// dot is the product of two vectors of the same length.
func dot(a, b []float32) float64 {
	sum := float32(0)
	for i, x := range a {
		sum += x * b[i]
	}
	return float64(sum)
}

// Fits tells whether a document is one that a query's filters let pass.
func Fits(doc *tfidf.Document, filter tfidf.Query) bool {
	return (filter.Category == "" || doc.Category == filter.Category) && (filter.Project == "" || doc.Project == filter.Project) &&
		(filter.From == 0 || doc.At >= filter.From) && (filter.To == 0 || doc.At < filter.To) &&
		!slices.ContainsFunc(filter.Tags, func(tag string) bool { return !slices.Contains(doc.Tags, tag) })
}
