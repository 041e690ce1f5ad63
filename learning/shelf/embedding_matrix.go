package shelf

import (
	"math"
	"slices"
	"sync"
	"unique"

	"skillrouter/tfidf"
)

const (
	// matrixBlock is how many vectors are allocated at once: their memory is contiguous,
	// and growing copies none of them.
	matrixBlock = 4096
	// exactMost is how many vectors are compared in full. Of more, those whose signs agree
	// best with the query's are: comparing signs costs a fiftieth. What that loses is
	// measured by TestSignsLoseLittle.
	exactMost = 8192
	// usualMost is about how many vectors tell how near a query is to just any.
	usualMost = 512
	// slotBytes is about what is kept of a vector besides its code and its signs.
	slotBytes = 160
)

// matrix is the vectors in memory, all of one dimension. Its methods may be
// called concurrently.
type matrix struct {
	mu        sync.RWMutex
	dimension int // 0: it has none yet, and no vectors
	slots     []slot
	codes     [][]int8   // blocks of matrixBlock vectors
	signs     [][]uint64 // likewise
	free      []uint32   // slots that nothing has
	at        map[EmbeddingKey]uint32
	kinds     map[EmbeddingKind]int

	scratch sync.Pool // of *reach
}

type attribute = unique.Handle[string]

// slot is what is known of a vector.
type slot struct {
	key               EmbeddingKey // of no kind: nothing is here
	order, moment     int64        // the item's Document.Order and At
	hash              int64
	scale             float32
	seen              uint32 // the sweep that last met its item
	category, project attribute
	tags              []attribute
}

func newMatrix() *matrix {
	return &matrix{at: map[EmbeddingKey]uint32{}, kinds: map[EmbeddingKind]int{}, scratch: sync.Pool{New: func() any { return new(reach) }}}
}

// capacity is how many vectors of a dimension are kept.
func capacity(dimension int) int {
	return min(MaxVectors, MaxVectorBytes/(dimension+8*signWords(dimension)+slotBytes))
}

// reset drops every vector; those to come have a dimension.
func (m *matrix) reset(dimension int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dimension, m.slots, m.codes, m.signs, m.free = dimension, nil, nil, nil, nil
	m.at, m.kinds = map[EmbeddingKey]uint32{}, map[EmbeddingKind]int{}
}

// put adds a vector, or puts it in the place of its item's older one. There must be room.
func (m *matrix) put(e Embedding, doc tfidf.Document) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, there := m.at[e.EmbeddingKey]
	if !there {
		if n := len(m.free); n > 0 {
			at, m.free = m.free[n-1], m.free[:n-1]
		} else {
			at = uint32(len(m.slots))
			m.slots = append(m.slots, slot{})
			if int(at)/matrixBlock == len(m.codes) {
				m.codes = append(m.codes, make([]int8, matrixBlock*m.dimension))
				m.signs = append(m.signs, make([]uint64, matrixBlock*signWords(m.dimension)))
			}
		}
		m.at[e.EmbeddingKey] = at
		m.kinds[e.Kind]++
	}
	s := &m.slots[at]
	s.key, s.hash, s.scale = e.EmbeddingKey, e.Hash, e.Scale
	s.describe(doc)
	copy(m.code(at), e.Code)
	signs(e.Code, m.sign(at))
}

func (s *slot) describe(doc tfidf.Document) {
	s.order, s.moment = doc.Order, doc.At
	s.category, s.project = unique.Make(doc.Category), unique.Make(doc.Project)
	s.tags = nil
	for _, tag := range doc.Tags {
		s.tags = append(s.tags, unique.Make(tag))
	}
}

func (m *matrix) code(at uint32) []int8 {
	from := int(at) % matrixBlock * m.dimension
	return m.codes[at/matrixBlock][from : from+m.dimension]
}

func (m *matrix) sign(at uint32) []uint64 {
	words := signWords(m.dimension)
	from := int(at) % matrixBlock * words
	return m.signs[at/matrixBlock][from : from+words]
}

// remove drops vectors; keys that nothing has are ignored.
func (m *matrix) remove(keys ...EmbeddingKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		if at, there := m.at[key]; there {
			m.drop(key, at)
		}
	}
}

// drop drops the vector at a place; mu is held.
func (m *matrix) drop(key EmbeddingKey, at uint32) {
	delete(m.at, key)
	m.slots[at] = slot{}
	m.free = append(m.free, at)
	m.kinds[key.Kind]--
}

// width is the dimension that vectors have now.
func (m *matrix) width() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.dimension
}

// fresh tells whether an item has the vector of a text, and notes how the item
// is filtered now and that a sweep met it. The vector of another text is dropped: it
// would find the item by what it says no more.
func (m *matrix) fresh(key EmbeddingKey, doc tfidf.Document, hash int64, sweep uint32) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, there := m.at[key]
	if !there {
		return false
	}
	if s := &m.slots[at]; s.hash == hash {
		s.describe(doc)
		s.seen = sweep
		return true
	}
	m.drop(key, at)
	return false
}

// another tells whether an item has a vector, and that is of another text than this hash's.
func (m *matrix) another(key EmbeddingKey, hash int64) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	at, there := m.at[key]
	return there && m.slots[at].hash != hash
}

// unseen lists the items that a sweep has not met.
func (m *matrix) unseen(sweep uint32) (keys []EmbeddingKey) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for i := range m.slots {
		if s := &m.slots[i]; s.key.Kind != "" && s.seen != sweep {
			keys = append(keys, s.key)
		}
	}
	return keys
}

// largest returns the kind that has most vectors, and its oldest item.
func (m *matrix) largest() (oldest EmbeddingKey, order int64) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var kind EmbeddingKind
	for _, k := range EmbeddingKinds() {
		if m.kinds[k] > m.kinds[kind] {
			kind = k
		}
	}
	for i := range m.slots {
		if s := &m.slots[i]; s.key.Kind == kind && kind != "" && (oldest.Kind == "" || s.order < order) {
			oldest, order = s.key, s.order
		}
	}
	return oldest, order
}

// count returns how many vectors there are of a kind, or of all kinds if it is empty.
func (m *matrix) count(kind EmbeddingKind) int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if kind == "" {
		return len(m.at)
	}
	return m.kinds[kind]
}

// bytes is about the memory that the vectors take.
func (m *matrix) bytes() int64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return int64(len(m.codes))*matrixBlock*int64(m.dimension+8*signWords(m.dimension)) + int64(len(m.slots))*slotBytes
}

// reach is the scratch memory of one search.
type reach struct {
	slots  []uint32
	apart  []uint16
	counts [MaxDimension + 1]uint32
	signs  []uint64
}

// neighbour is a vector that was found.
type neighbour struct {
	id     string
	cosine float64
}

// nearest returns up to limit items of a kind that fit the filters of a query,
// the nearest to a vector first.
func (m *matrix) nearest(kind EmbeddingKind, code []int8, scale float32, filter tfidf.Query, limit int) []neighbour {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(code) != m.dimension || m.kinds[kind] == 0 {
		return nil
	}
	r := m.scratch.Get().(*reach)
	defer m.scratch.Put(r)
	m.fitting(r, kind, filter)
	if len(r.slots) > exactMost {
		m.agreeing(r, code)
	}
	found := make([]neighbour, 0, limit+1)
	for _, at := range r.slots {
		s := &m.slots[at]
		n := neighbour{s.key.ID, float64(dot(m.code(at), code)) * float64(s.scale) * float64(scale)}
		if len(found) == limit && !n.before(found[limit-1]) {
			continue
		}
		place, _ := slices.BinarySearchFunc(found, n, func(a, b neighbour) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		found = slices.Insert(found, place, n)[:min(limit, len(found)+1)]
	}
	return found
}

// before orders what was found: the nearer first, of two as near the one whose id comes first.
func (n neighbour) before(other neighbour) bool {
	return n.cosine > other.cosine || n.cosine == other.cosine && n.id < other.id
}

// usual returns how near a vector is to any item of a kind: the mean and the standard
// deviation of its cosines with up to usualMost of them, and how many these were.
func (m *matrix) usual(kind EmbeddingKind, code []int8, scale float32) (mean, deviation float64, n int) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(code) != m.dimension {
		return 0, 0, 0
	}
	sum, squared := 0.0, 0.0
	step := max(1, len(m.slots)/usualMost)
	for at := 0; at < len(m.slots); at += step {
		if s := &m.slots[at]; s.key.Kind == kind {
			cosine := float64(dot(m.code(uint32(at)), code)) * float64(s.scale) * float64(scale)
			sum, squared, n = sum+cosine, squared+cosine*cosine, n+1
		}
	}
	if n == 0 {
		return 0, 0, 0
	}
	mean = sum / float64(n)
	return mean, math.Sqrt(max(0, squared/float64(n)-mean*mean)), n
}

// fitting gathers the slots of a kind that fit the filters.
func (m *matrix) fitting(r *reach, kind EmbeddingKind, filter tfidf.Query) {
	r.slots = r.slots[:0]
	category, project := unique.Make(filter.Category), unique.Make(filter.Project)
	tags := make([]attribute, len(filter.Tags))
	for i, tag := range filter.Tags {
		tags[i] = unique.Make(tag)
	}
next:
	for i := range m.slots {
		s := &m.slots[i]
		if s.key.Kind != kind || filter.Category != "" && s.category != category || filter.Project != "" && s.project != project ||
			!during(s.moment, filter) {
			continue
		}
		for _, tag := range tags {
			if !slices.Contains(s.tags, tag) {
				continue next
			}
		}
		r.slots = append(r.slots, uint32(i))
	}
}

// agreeing keeps about exactMost/2 of the slots: those whose signs agree best with a code's.
func (m *matrix) agreeing(r *reach, code []int8) {
	if r.signs = r.signs[:0]; cap(r.signs) < signWords(len(code)) {
		r.signs = make([]uint64, signWords(len(code)))
	}
	r.signs = r.signs[:signWords(len(code))]
	signs(code, r.signs)
	clear(r.counts[:])
	r.apart = r.apart[:0]
	for _, at := range r.slots {
		n := apart(m.sign(at), r.signs)
		r.apart = append(r.apart, uint16(n))
		r.counts[n]++
	}
	most, sum := 0, uint32(0)
	for ; most < len(r.counts); most++ {
		if sum += r.counts[most]; sum >= exactMost/2 {
			break
		}
	}
	kept := r.slots[:0]
	for i, at := range r.slots {
		if int(r.apart[i]) <= most && len(kept) < exactMost {
			kept = append(kept, at)
		}
	}
	r.slots = kept
}

// Fits tells whether a document is one that a query's filters let pass.
func Fits(doc tfidf.Document, filter tfidf.Query) bool {
	if filter.Category != "" && doc.Category != filter.Category || filter.Project != "" && doc.Project != filter.Project || !during(doc.At, filter) {
		return false
	}
	for _, tag := range filter.Tags {
		if !slices.Contains(doc.Tags, tag) {
			return false
		}
	}
	return true
}

// during tells whether a moment is within a query's bounds.
func during(at int64, filter tfidf.Query) bool {
	return (filter.From == 0 || at >= filter.From) && (filter.To == 0 || at < filter.To)
}
