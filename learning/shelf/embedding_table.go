package shelf

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/skillrouter/skillrouter/tfidf"
)

// Figures of a search in a table.
const (
	// itemBytes is about what is kept of an item besides its vector.
	itemBytes = 256
	// nearEnough is the least cosine of a hit that shares no word with the query, and
	// farFromUsual by how many standard deviations it must lie above what the query's
	// cosine is with just any item, where there are usualLeast of them to tell: vectors are near
	// to something, whatever is asked for.
	nearEnough   = 0.25
	farFromUsual = 2.5
	usualLeast   = 64
)

// table holds the vectors in memory, all of one dimension and of length 1. A search compares all of a kind.
// Its methods may be called concurrently.
type table struct {
	mu        sync.RWMutex
	dimension int // 0: there are no vectors yet
	kinds     map[EmbeddingKind]map[string]tableItem
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
	t.dimension, t.kinds = dimension, map[EmbeddingKind]map[string]tableItem{}
	for _, kind := range EmbeddingKinds() {
		t.kinds[kind] = map[string]tableItem{}
	}
}

// put adds a vector, or replaces its item's older one.
func (t *table) put(e Embedding, doc tfidf.Document) {
	t.mu.Lock()
	defer t.mu.Unlock()
	doc.Title, doc.Body = "", ""
	t.kinds[e.Kind][e.ID] = tableItem{e, doc}
}

// remove drops vectors. It ignores keys without one.
func (t *table) remove(keys ...EmbeddingKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		delete(t.kinds[key.Kind], key.ID)
	}
}

// of returns an item's vector, if it has one.
func (t *table) of(key EmbeddingKey) (e Embedding, there bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	item, there := t.kinds[key.Kind][key.ID]
	return item.Embedding, there
}

// oldest returns the oldest item of the kind that has most vectors.
func (t *table) oldest() (key EmbeddingKey, order int64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	kind := slices.MaxFunc(EmbeddingKinds(), func(a, b EmbeddingKind) int { return len(t.kinds[a]) - len(t.kinds[b]) })
	for _, item := range t.kinds[kind] {
		if key.Kind == "" || item.doc.Order < order {
			key, order = item.EmbeddingKey, item.doc.Order
		}
	}
	return key, order
}

// without lists the items that have vectors and are not among those that are known.
func (t *table) without(known map[EmbeddingKey]bool) (keys []EmbeddingKey) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, items := range t.kinds {
		for _, item := range items {
			if !known[item.EmbeddingKey] {
				keys = append(keys, item.EmbeddingKey)
			}
		}
	}
	return keys
}

// size returns the dimension of the vectors and how many there are, of a kind and of all kinds.
func (t *table) size(kind EmbeddingKind) (dimension, ofKind, all int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, items := range t.kinds {
		all += len(items)
	}
	return t.dimension, len(t.kinds[kind]), all
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
// is near to something, so it must lie well above what the query has with any item of the kind.
func (t *table) nearest(kind EmbeddingKind, vector []float32, filter tfidf.Query, limit int) (found []neighbour, least float64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(vector) != t.dimension {
		return nil, nearEnough
	}
	sum, squared, n := 0.0, 0.0, float64(len(t.kinds[kind]))
	for _, item := range t.kinds[kind] {
		one := neighbour{item.ID, dot(item.Vector, vector)}
		sum, squared = sum+one.cosine, squared+one.cosine*one.cosine
		if Fits(&item.doc, filter) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, nearer)
	found = found[:min(limit, len(found))]
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
