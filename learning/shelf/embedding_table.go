package shelf

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
	"unique"

	"skillrouter/tfidf"
)

// Figures of a search in a table.
const (
	// itemBytes is about what is kept of an item besides its vector.
	itemBytes = 256
	// partItems is how many vectors a goroutine compares at least: a few thousand take a millisecond.
	partItems = 8192
	// sampleItems is about how many vectors say how near a query is to any item.
	sampleItems = 512
)

// table holds the vectors in memory, all of one dimension and of length 1. A search compares all of them.
// Its methods may be called concurrently.
type table struct {
	mu        sync.RWMutex
	dimension int // 0: there are no vectors yet
	items     []tableItem
	vectors   []float32 // those of the items, one after the other
	at        map[EmbeddingKey]int
	kinds     map[EmbeddingKind]int
}

// tableItem is the item that a vector stands for.
type tableItem struct {
	key  EmbeddingKey
	hash int64          // of the text that the vector was made of
	doc  tfidf.Document // without its text, for the filters
}

// reset drops every vector; those to come have a dimension.
func (t *table) reset(dimension int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dimension, t.items, t.vectors = dimension, nil, nil
	t.at, t.kinds = map[EmbeddingKey]int{}, map[EmbeddingKind]int{}
}

func (t *table) vector(at int) []float32 { return t.vectors[at*t.dimension : (at+1)*t.dimension] }

// put adds a vector, or replaces its item's older one.
func (t *table) put(e Embedding, doc tfidf.Document) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.Kind = EmbeddingKind(shared(string(e.Kind)))
	item := tableItem{e.EmbeddingKey, e.Hash, filtered(doc)}
	if at, there := t.at[e.EmbeddingKey]; there {
		t.items[at] = item
		copy(t.vector(at), e.Vector)
		return
	}
	t.at[e.EmbeddingKey] = len(t.items)
	t.kinds[e.Kind]++
	t.items, t.vectors = append(t.items, item), append(t.vectors, e.Vector...)
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
		copy(t.vector(at), t.vector(last))
		t.items[at] = t.items[last]
		t.at[t.items[at].key] = at
		t.items[last] = tableItem{}
		t.items, t.vectors = t.items[:last], t.vectors[:last*t.dimension]
		delete(t.at, key)
		t.kinds[key.Kind]--
	}
}

// hash returns the hash of the text that an item's vector was made of, if it has one.
func (t *table) hash(key EmbeddingKey) (hash int64, there bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	at, there := t.at[key]
	if there {
		hash = t.items[at].hash
	}
	return hash, there
}

// describe sets what the filters read of an item that has a vector.
func (t *table) describe(key EmbeddingKey, doc tfidf.Document) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at, there := t.at[key]; there {
		t.items[at].doc = filtered(doc)
	}
}

// filtered is what the filters read of a document. Equal words share their memory, so that a
// search which compares them for each item stays in the processor's cache.
func filtered(doc tfidf.Document) tfidf.Document {
	tags := make([]string, len(doc.Tags))
	for i, tag := range doc.Tags {
		tags[i] = shared(tag)
	}
	return tfidf.Document{Category: shared(doc.Category), Project: shared(doc.Project), Tags: tags, Order: doc.Order, At: doc.At}
}

func shared(word string) string { return unique.Make(word).Value() }

// oldest returns the oldest item of the kind that has most vectors.
func (t *table) oldest() (key EmbeddingKey, order int64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var kind EmbeddingKind
	for _, k := range EmbeddingKinds() {
		if t.kinds[k] > t.kinds[kind] {
			kind = k
		}
	}
	for i := range t.items {
		if item := &t.items[i]; item.key.Kind == kind && (key.Kind == "" || item.doc.Order < order) {
			key, order = item.key, item.doc.Order
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
		keys[i] = t.items[i].key
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
// to a vector first, and the least cosine that means something for this vector.
func (t *table) nearest(kind EmbeddingKind, vector []float32, filter tfidf.Query, limit int) (found []neighbour, least float64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(vector) != t.dimension {
		return nil, nearEnough
	}
	parts := max(1, min(runtime.GOMAXPROCS(0), len(t.items)/partItems))
	lists := make([][]neighbour, parts)
	var wait sync.WaitGroup
	for p := range parts {
		wait.Go(func() {
			lists[p] = t.nearestOf(p*len(t.items)/parts, (p+1)*len(t.items)/parts, kind, vector, filter, limit)
		})
	}
	least = t.least(kind, vector)
	wait.Wait()
	found = slices.Concat(lists...)
	slices.SortFunc(found, nearer)
	return found[:min(limit, len(found))], least
}

// nearestOf is nearest of the items from one place to another. The caller holds mu.
func (t *table) nearestOf(from, to int, kind EmbeddingKind, vector []float32, filter tfidf.Query, limit int) []neighbour {
	found := make([]neighbour, 0, limit+1)
	for i := from; i < to; i++ {
		item := &t.items[i]
		if item.key.Kind != kind || !Fits(&item.doc, filter) {
			continue
		}
		n := neighbour{item.key.ID, dot(t.vector(i), vector)}
		if len(found) == limit && nearer(found[limit-1], n) < 0 {
			continue
		}
		place, _ := slices.BinarySearchFunc(found, n, nearer)
		found = slices.Insert(found, place, n)[:min(limit, len(found)+1)]
	}
	return found
}

// least returns the least cosine of a hit that shares no word with the query: every vector is near
// to something, so it must lie well above what the query has with any item. The caller holds mu.
func (t *table) least(kind EmbeddingKind, vector []float32) float64 {
	sum, squared, n := 0.0, 0.0, 0.0
	for i := 0; i < len(t.items); i += max(1, len(t.items)/sampleItems) {
		if t.items[i].key.Kind == kind {
			cosine := dot(t.vector(i), vector)
			sum, squared, n = sum+cosine, squared+cosine*cosine, n+1
		}
	}
	if n < usualLeast {
		return nearEnough
	}
	mean := sum / n
	return max(nearEnough, mean+farFromUsual*math.Sqrt(max(0, squared/n-mean*mean)))
}

// dot is the product of two vectors of the same length. Its four sums do not wait for each
// other, and arrays of a known size need no checks of their bounds.
func dot(a, b []float32) float64 {
	var s0, s1, s2, s3 float32
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]float32)(a), (*[8]float32)(b)
		s0 += x[0]*y[0] + x[4]*y[4]
		s1 += x[1]*y[1] + x[5]*y[5]
		s2 += x[2]*y[2] + x[6]*y[6]
		s3 += x[3]*y[3] + x[7]*y[7]
		a, b = a[8:], b[8:]
	}
	for i := range a {
		s0 += a[i] * b[i]
	}
	return float64(s0 + s1 + s2 + s3)
}

// Fits tells whether a document is one that a query's filters let pass.
func Fits(doc *tfidf.Document, filter tfidf.Query) bool {
	return (filter.Category == "" || doc.Category == filter.Category) && (filter.Project == "" || doc.Project == filter.Project) &&
		(filter.From == 0 || doc.At >= filter.From) && (filter.To == 0 || doc.At < filter.To) &&
		!slices.ContainsFunc(filter.Tags, func(tag string) bool { return !slices.Contains(doc.Tags, tag) })
}
