package tfidf

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// ErrSnapshot is what Open wraps when a file is not a snapshot that this
// program can use: there is none, or it is damaged, of another version, or made
// with other weights.
var ErrSnapshot = errors.New("the snapshot cannot be used")

// Capture is what an Index held at one moment, to be written to a file while
// the index goes on. It must be saved or let go of soon: it keeps memory.
type Capture struct {
	ix      *Index
	view    view
	serial  uint32
	words   uint32   // how many words the vocabulary had
	long    []byte   // those of them that do not fit their entries, without the vocabulary's base
	counts  []counts // by number of the word
	letters []atomic.Uint32
}

// counts is what changes in an entry.
type counts struct{ held, df uint32 }

// Capture freezes what the index holds now. It waits for writers and holds
// them up for milliseconds, so that a caller who knows its own place in a log
// can take both at the same moment.
//
// Only the counts are copied: documents are added to and taken out of
// what a view shows without changing it for those who hold it.
func (ix *Index) Capture() *Capture {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	v := ix.vocab
	v.grow.Lock()
	c := &Capture{ix: ix, view: *ix.view.Load(), serial: ix.serial, words: v.count.Load(), long: *v.long.Load()}
	v.grow.Unlock()
	c.counts = make([]counts, c.words+1)
	for id := range c.counts[1:] {
		e := v.entry(uint32(id + 1))
		c.counts[id+1] = counts{e.held.Load(), e.df.Load()}
	}
	c.letters = make([]atomic.Uint32, len(ix.letters))
	for i := range c.letters {
		c.letters[i].Store(ix.letters[i].Load())
	}
	return c
}

// segments returns the captured segments, the last of which holds what was in
// no segment yet, as they are to be written.
func (c *Capture) segments() []*segment {
	var out []*segment
	for _, s := range c.view.segs {
		out = append(out, s.asOf(c.view.seq))
	}
	var docs []*doc
	for _, d := range c.view.tail {
		if d.alive(c.view.seq) {
			docs = append(docs, d)
		}
	}
	if len(docs) > 0 {
		s := new(sealer).seal(docs, c.ix.weights, c.view.average())
		s.serial = c.serial + 1
		for i := range s.died { // a writer may have killed some of them by now
			s.died[i].Store(0)
		}
		s.dead.Store(0)
		out = append(out, s)
	}
	return out
}

// asOf returns a segment of the same columns, in which a document is dead
// since the first write if it was dead at a sequence number, and else lives.
func (s *segment) asOf(seq uint32) *segment {
	out := &segment{serial: s.serial, average: s.average, mapped: s.mapped}
	from := s.columns()
	for i, c := range out.columns() {
		c.set(from[i].bytes())
	}
	out.died = make([]atomic.Uint32, s.docs())
	for d := range out.died {
		if !s.alive(uint32(d), seq) {
			out.died[d].Store(1)
			out.dead.Add(1)
		}
	}
	return out
}

// tables returns what is to be written beside the segments.
func (c *Capture) tables(segs []*segment) *tables {
	t := &tables{letters: c.letters}
	c.vocabulary(t)
	c.documents(t, segs)
	x := &c.ix.typos
	x.grow(c.ix.vocab)
	x.mu.RLock()
	t.typos = x.pack(c.words)
	x.mu.RUnlock()
	return t
}

// vocabulary fills in the words. Their hash tables are made anew, because
// those of the index may hold newer words.
func (c *Capture) vocabulary(t *tables) {
	v := c.ix.vocab
	t.long = append(append(make([]byte, 0, len(v.base)+len(c.long)), v.base...), c.long...)
	t.entries = make([]entry, (int(c.words)/chunkWords+1)*chunkWords)
	shards := make([][]uint64, vocabularyShards) // hash and number, by turns
	for id := uint32(1); id <= c.words; id++ {
		from, e := v.entry(id), &t.entries[id]
		e.size, e.text = from.size, from.text
		e.held.Store(c.counts[id].held)
		e.df.Store(c.counts[id].df)
		if stem := from.stem.Load(); stem <= c.words {
			e.stem.Store(stem)
		}
		h := xxh3.HashSeed(v.text(id), v.seed)
		shards[h%vocabularyShards] = append(shards[h%vocabularyShards], h, uint64(id))
	}
	for _, words := range shards {
		used := len(words) / 2
		size := shardSlots
		for 8*used >= 7*size { // fuller than those that grow: few words come to what was saved
			size *= 2
		}
		slots := make([]atomic.Uint64, size)
		for i := 0; i < len(words); i += 2 {
			put(slots, words[i], uint32(words[i+1]))
		}
		t.shards = append(t.shards, shardSize{uint32(size), uint32(used)})
		t.slots = appendSlots(t.slots, slots)
	}
}

// documents fills in where the documents are found by their IDs.
func (c *Capture) documents(t *tables, segs []*segment) {
	last := uint32(0)
	for _, s := range segs {
		for _, n := range s.numbers {
			last = max(last, n+1)
		}
	}
	t.places = make([]place, last)
	ids := idTable{seed: c.ix.vocab.seed}
	for _, s := range segs {
		for d := range uint32(s.docs()) {
			if s.died[d].Load() == 0 {
				t.places[s.numbers[d]] = place{s.serial, d}
				ids.insert(s.id(d), s.numbers[d])
			}
		}
	}
	t.ids = ids.slots
	for n, p := range t.places {
		if p.segment == 0 {
			t.free = append(t.free, uint32(n))
		}
	}
}

// Save writes the capture to path: into a temporary file beside it, which is
// synced and then renamed, so that path is the old snapshot or the new one.
// mark is the caller's: Open gives it back.
//
// What it has written the index then uses in place of its own memory, where a
// file can be mapped: the file must not be changed, but may be removed or replaced.
func (c *Capture) Save(path string, mark []byte) error {
	segs := c.segments()
	w := &snapshotWriter{head: snapshotHead{
		K1: c.ix.weights.K1, B: c.ix.weights.B, Title: int64(c.ix.weights.Title), Seed: c.ix.vocab.seed,
		Words: c.words, Documents: uint64(c.view.docs), Length: c.view.length,
	}, mark: mark}
	for _, s := range segs {
		w.segments = append(w.segments, segmentHead{Serial: s.serial, Dead: uint32(s.dead.Load()), Documents: uint64(s.docs()), Average: s.average})
		w.columns = append(w.columns, s.columns()...)
	}
	w.columns = append(w.columns, c.tables(segs).columns()...)
	err := w.write(path, func(file *os.File) {
		if m := tryMap(file, w.size); m != nil {
			c.adopt(m, segs, w.sections)
		}
	})
	runtime.KeepAlive(c)
	return err
}

// adopt puts the segments of the file in place of those of the index that they
// were written from.
func (c *Capture) adopt(m *mapping, segs []*segment, sections []section) {
	ix := c.ix
	ix.merging.Lock() // a merge knows its segments by their addresses
	defer ix.merging.Unlock()
	ix.mu.Lock()
	defer ix.mu.Unlock()
	now := *ix.view.Load()
	now.segs = slices.Clone(now.segs)
	for i, old := range c.view.segs {
		at := slices.Index(now.segs, old)
		if at < 0 { // it was merged with others since
			continue
		}
		s := &segment{serial: old.serial, average: old.average, mapped: m}
		columns := s.columns()
		m.lay(columns, sections[i*len(columns):])
		if old.dead.Load() != segs[i].dead.Load() { // some have died since
			for d := range s.died {
				if died := old.died[d].Load(); died != 0 && s.died[d].Load() == 0 {
					s.died[d].Store(died)
				}
			}
		}
		s.dead.Store(old.dead.Load())
		now.segs[at], ix.open[s.serial] = s, s
	}
	ix.view.Store(&now)
}
