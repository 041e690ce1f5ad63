package tfidf

import (
	"maps"
	"slices"
	"sync"
)

// Index is the inverted index. All its methods may be called concurrently:
// searches go side by side, and wait while documents are put or deleted. A text
// is split into words before that, so that the wait is short.
type Index struct {
	weights Weights

	mu sync.RWMutex // guards what follows
	vocabulary
	typos   typoIndex
	docs    []*doc   // by number; nil: it is gone
	lengths []uint32 // of each; beside them, because a search reads one for every posting
	byID    map[string]uint32
	total   uint64              // the sum of all lengths
	letters [letterCount]uint32 // in how many documents each group of letters is
	met     [letterCount]uint32 // for tally: the round in which each group was last met
	round   uint32
}

// New returns an empty index.
func New(opts Options) *Index {
	w := DefaultWeights()
	if opts.Weights != nil {
		w = *opts.Weights
	}
	return &Index{weights: w, vocabulary: newVocabulary(), byID: map[string]uint32{}}
}

// Len returns how many documents there are.
func (ix *Index) Len() int {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return len(ix.byID)
}

// IDs returns the ids of all documents, in no order. Callers compare them
// with what they hold themselves.
func (ix *Index) IDs() []string {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return slices.Collect(maps.Keys(ix.byID))
}

// average is the documents' mean length.
func (ix *Index) average() float64 { return float64(ix.total) / float64(max(len(ix.byID), 1)) }

// Put inserts documents, or replaces those with the same ID; of several with
// one ID the last counts. When it returns, every search sees all of them; no
// search sees some of them only.
func (ix *Index) Put(docs ...Document) {
	last := make(map[string]int, len(docs))
	for i := range docs {
		last[docs[i].ID] = i
	}
	texts := make([]scanned, 0, len(last))
	for i := range docs {
		if last[docs[i].ID] == i {
			texts = append(texts, scan(docs[i]))
		}
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	var fresh []*doc
	var old []uint32
	for i := range texts {
		d := ix.read(&texts[i])
		number, known := ix.byID[d.id]
		if known && ix.docs[number].says(d) {
			d.number, d.length = number, ix.docs[number].length
			ix.docs[number] = d
			continue
		}
		if known {
			old = append(old, number)
		}
		fresh = append(fresh, d)
	}
	slices.Sort(old)
	ix.remove(old)
	for _, d := range fresh {
		ix.insert(d)
	}
}

// Delete removes documents; ids that nothing has are ignored.
func (ix *Index) Delete(ids ...string) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	gone := map[uint32]bool{}
	for _, id := range ids {
		if number, ok := ix.byID[id]; ok {
			gone[number] = true
		}
	}
	ix.remove(slices.Sorted(maps.Keys(gone)))
}

// Frequencies returns in how many documents each stem occurs, and how many documents there are.
func (ix *Index) Frequencies(stems []string) (frequencies []int, documents int) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	frequencies = make([]int, len(stems))
	for i, s := range stems {
		_, frequencies[i] = ix.known(s)
	}
	return frequencies, len(ix.byID)
}

// insert adds a document that the index does not have.
func (ix *Index) insert(d *doc) {
	d.number = uint32(len(ix.docs))
	for term, tf := range ix.termsOf(d) {
		w := &ix.words[term]
		w.postings = append(w.postings, posting{d.number, tf})
		d.length += tf
	}
	ix.docs, ix.lengths = append(ix.docs, d), append(ix.lengths, d.length)
	ix.byID[d.id] = d.number
	ix.total += uint64(d.length)
	ix.tally(d, 1)
}

// termsOf counts the terms of a document, words of the title counting more.
func (ix *Index) termsOf(d *doc) map[uint32]uint32 {
	terms := make(map[uint32]uint32, len(d.words))
	for i, word := range d.words {
		times := uint32(1)
		if i < d.titled {
			times = uint32(ix.weights.Title)
		}
		terms[ix.words[word].stem] += times
	}
	return terms
}

// remove takes out the documents with some numbers, which ascend.
func (ix *Index) remove(numbers []uint32) {
	gone := map[uint32][]uint32{} // per term, the documents that go
	for _, number := range numbers {
		d := ix.docs[number]
		for term := range ix.termsOf(d) {
			gone[term] = append(gone[term], number)
		}
		ix.docs[number] = nil
		ix.total -= uint64(d.length)
		delete(ix.byID, d.id)
		ix.tally(d, -1)
	}
	for term, numbers := range gone {
		list := ix.words[term].postings
		at, _ := find(list, numbers[0])
		kept := list[:at]
		for i := range numbers {
			next := len(list)
			if i+1 < len(numbers) {
				next, _ = find(list, numbers[i+1])
			}
			kept = append(kept, list[at+1:next]...)
			at = next
		}
		ix.words[term].postings = kept
	}
	if len(ix.docs) > numbersLeft+2*len(ix.byID) {
		ix.renumber()
	}
}

// numbersLeft is how many numbers, besides as many as there are documents, may be without one.
const numbersLeft = 1024

// renumber gives the documents the lowest numbers, in the same order.
func (ix *Index) renumber() {
	moved := make([]uint32, len(ix.docs))
	docs := make([]*doc, 0, len(ix.byID))
	for number, d := range ix.docs {
		if d != nil {
			moved[number] = uint32(len(docs))
			d.number = moved[number]
			ix.byID[d.id] = d.number
			ix.lengths[d.number] = d.length
			docs = append(docs, d)
		}
	}
	ix.docs, ix.lengths = docs, slices.Clip(ix.lengths[:len(docs)])
	for i := range ix.words {
		list := slices.Clip(ix.words[i].postings)
		for j := range list {
			list[j].doc = moved[list[j].doc]
		}
		ix.words[i].postings = list
	}
}

// tally adds delta to how many documents have each word, and each group of letters, of d.
func (ix *Index) tally(d *doc, delta int) {
	ix.round++
	if ix.round == 0 { // the old rounds come back
		clear(ix.met[:])
		ix.round = 1
	}
	words := slices.Clone(d.words)
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		w := &ix.words[word]
		w.held += uint32(delta)
		for _, group := range w.groups {
			if ix.met[group] != ix.round {
				ix.met[group] = ix.round
				ix.letters[group] += uint32(delta)
			}
		}
	}
}
