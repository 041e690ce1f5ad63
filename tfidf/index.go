package tfidf

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// tailDocs and tailWords are how many documents, and bytes of words, are searched
	// one by one before they are made a segment: small enough that nobody notices.
	tailDocs  = 256
	tailWords = 64 << 10
	// batchDocs is how many documents of a bulk Put become one segment.
	batchDocs = 8192
	// batchBytes is from how many bytes of their words and IDs on it is several segments,
	// so that none grows beyond what it can count.
	batchBytes = 256 << 20
	// parallelDocs is from how many documents on Put analyses them on several cores:
	// a start reads thousands at a time and wants all of them, while an import, in
	// smaller batches, must leave a core to the searches beside it.
	parallelDocs = 2048
	// analyzeWorkers bounds those cores: the rest of the process works on.
	analyzeWorkers = 4
)

// Index is the inverted index. All its methods may be called concurrently.
// Searches never wait for writers; writers wait for one another.
type Index struct {
	weights Weights
	vocab   *vocabulary
	letters *letterCounts
	typos   typoIndex

	view   atomic.Pointer[view]
	worths atomic.Pointer[worths]

	mu      sync.Mutex // guards all below, and the order of views
	byID    map[string]uint32
	places  []place  // by document number
	free    []uint32 // document numbers that nothing has
	open    map[uint32]*segment
	serial  uint32
	analyze analyzer
	tally   tally
	sealer  sealer

	merging sync.Mutex // held by the one merge that is under way
	running atomic.Int32
	wake    chan struct{}
}

// view is what a search sees: a state between two writes.
type view struct {
	seq    uint32
	segs   []*segment
	tail   []*doc
	docs   int
	length uint64 // the sum of all documents' lengths
}

func (v *view) average() float64 { return float64(v.length) / float64(max(v.docs, 1)) }

// place says where the newest version of a document lies: in the segment with
// that serial number, or, if it is 0, in the tail.
type place struct{ segment, at uint32 }

// New returns an empty index.
func New(opts Options) *Index {
	w := DefaultWeights()
	if opts.Weights != nil {
		w = *opts.Weights
	}
	return newIndex(w, rand.Uint64())
}

// newIndex returns an empty index whose words are hashed by seed.
func newIndex(w Weights, seed uint64) *Index {
	ix := &Index{weights: w, vocab: newVocabulary(seed), letters: new(letterCounts), byID: map[string]uint32{}, open: map[uint32]*segment{}, wake: make(chan struct{}, 1)}
	ix.analyze = analyzer{vocab: ix.vocab, title: w.Title}
	ix.view.Store(&view{})
	return ix
}

// Len returns how many documents there are.
func (ix *Index) Len() int { return ix.view.Load().docs }

// Put inserts documents, or replaces those with the same ID; of several with
// one ID the last counts. When it returns, every search sees all of them; no
// search sees some of them only.
func (ix *Index) Put(docs ...Document) {
	if len(docs) == 0 {
		return
	}
	ix.mu.Lock()
	v := *ix.view.Load()
	v.seq++
	for part := range slices.Chunk(docs, batchDocs) {
		size := 0
		for _, d := range ix.analyzeAll(part) {
			ix.insert(&v, d)
			if size += len(d.id) + len(d.words); size > batchBytes {
				ix.sealTail(&v)
				size = 0
			}
		}
		ix.sealTail(&v)
	}
	ix.view.Store(&v)
	ix.mu.Unlock()
	ix.tidy()
}

// Delete removes documents; ids that nothing has are ignored.
func (ix *Index) Delete(ids ...string) {
	ix.mu.Lock()
	v := *ix.view.Load()
	v.seq++
	for _, id := range ids {
		if number, ok := ix.byID[id]; ok {
			ix.kill(&v, number)
			delete(ix.byID, id)
			ix.free = append(ix.free, number)
		}
	}
	ix.view.Store(&v)
	ix.mu.Unlock()
	ix.tidy()
}

// Frequencies returns in how many documents each stem occurs, and how many documents there are.
func (ix *Index) Frequencies(stems []string) (frequencies []int, documents int) {
	v := ix.view.Load()
	frequencies = make([]int, len(stems))
	for i, s := range stems {
		_, frequencies[i] = ix.known(s, v)
	}
	return frequencies, v.docs
}

// analyzeAll analyses documents, on several cores if that pays.
func (ix *Index) analyzeAll(docs []Document) []*doc {
	out := make([]*doc, len(docs))
	workers := min(runtime.GOMAXPROCS(0), analyzeWorkers)
	if len(docs) < parallelDocs || workers == 1 {
		for i, d := range docs {
			out[i] = ix.analyze.analyze(d)
			runtime.Gosched() // a search that waits for a core goes first
		}
		return out
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			a := analyzer{vocab: ix.vocab, title: ix.weights.Title}
			for {
				i := int(next.Add(1)) - 1
				if i >= len(docs) {
					return
				}
				out[i] = a.analyze(docs[i])
			}
		})
	}
	all.Wait()
	return out
}

// insert adds d to the tail of v and to the counts, in place of an older version.
func (ix *Index) insert(v *view, d *doc) {
	number, known := ix.byID[d.id]
	if known {
		ix.kill(v, number)
	} else {
		if n := len(ix.free); n > 0 {
			number, ix.free = ix.free[n-1], ix.free[:n-1]
		} else {
			number = uint32(len(ix.places))
			ix.places = append(ix.places, place{})
		}
		ix.byID[d.id] = number
	}
	d.number = number
	ix.places[number] = place{at: uint32(len(v.tail))}
	v.tail = append(v.tail, d)
	v.docs++
	v.length += uint64(d.length)
	ix.count(d.attrs, d.held, 1)
	d.held = nil
}

// kill takes the document with a number out of v and the counts.
func (ix *Index) kill(v *view, number uint32) {
	p := ix.places[number]
	v.docs--
	if p.segment == 0 {
		d := v.tail[p.at]
		d.died.Store(v.seq)
		v.length -= uint64(d.length)
		ix.uncount(d.words)
		return
	}
	s := ix.open[p.segment]
	s.died[p.at].Store(v.seq)
	s.dead.Add(1)
	v.length -= uint64(s.lengths[p.at])
	ix.uncount(s.wordsOf(p.at))
}

// sealTail makes a segment of the tail of v if it has grown too long.
func (ix *Index) sealTail(v *view) {
	size := 0
	for _, d := range v.tail {
		size += len(d.words)
	}
	if len(v.tail) < tailDocs && size < tailWords {
		return
	}
	s := ix.sealer.seal(v.tail, ix.weights, v.average())
	ix.serial++
	s.serial = ix.serial
	ix.open[s.serial] = s
	for at, number := range s.numbers {
		if s.died[at].Load() == 0 {
			ix.places[number] = place{s.serial, uint32(at)}
		}
	}
	v.segs = append(slices.Clone(v.segs), s)
	v.tail = nil
	ix.typos.grow(ix.vocab)
}

// uncount takes a document out of the counts.
func (ix *Index) uncount(words []byte) {
	t := &ix.tally
	var r wordReader
	t.attrs, r = readWords(words, t.attrs[:0])
	t.words = t.words[:0]
	for ; r.left > 0; r.left-- {
		id, w := uvarint(r.b)
		r.b = r.b[w:]
		t.words = append(t.words, id)
	}
	slices.Sort(t.words)
	ix.count(t.attrs, slices.Compact(t.words), -1)
}

// count adds delta to how many documents have each of the attributes, the
// words, their terms and their letter groups.
func (ix *Index) count(attrs, words []uint32, delta int32) {
	t := &ix.tally
	t.terms = append(t.terms[:0], attrs...)
	for _, id := range words {
		ix.vocab.entry(id).held.Add(uint32(delta))
		t.terms = append(t.terms, ix.vocab.term(id))
	}
	slices.Sort(t.terms)
	for _, id := range slices.Compact(t.terms) {
		ix.vocab.entry(id).df.Add(uint32(delta))
	}
	ix.letters.count(t, words, ix.vocab, delta)
}

// tally is the scratch memory of count, which runs under Index.mu.
type tally struct {
	attrs, words, terms []uint32

	seen  []uint32 // per letter group, the round in which it was last met
	round uint32
}
