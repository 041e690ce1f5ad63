package tfidf

import (
	"bytes"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"skillrouter/tfidf/text"
)

// A vocabulary numbers words and stems. A number is never given up, so that
// every segment can use the same ones; 0 is no word.
//
// A word's entry has two faces: as a word that documents hold (stem, held) and
// as the stem of such words, the term that postings are kept by (df).
//
// Looking a word up takes no lock. Adding one locks the shard that its hash
// falls into.
//
// The hash is keyed by a seed that each index draws for itself, so that nobody
// can prepare words which all fall on one slot.
type vocabulary struct {
	seed   uint64
	shards [vocabularyShards]shard
	grow   sync.Mutex
	count  atomic.Uint32
	chunks [maxChunks]atomic.Pointer[[chunkWords]entry]

	long atomic.Pointer[[]byte] // words that do not fit their entries
}

const (
	vocabularyShards = 32
	shardSlots       = 64 // of a shard at first
	chunkWords       = 1 << 12
	maxChunks        = 1 << 13
	// maxWords bounds the vocabulary; what comes after is not indexed.
	maxWords = chunkWords*maxChunks - 1
	// inlineWord is the longest word, in bytes, that lies in its entry.
	inlineWord = 19
)

// entry takes half a cache line, so that meeting a word costs one miss.
type entry struct {
	stem atomic.Uint32 // the term of this word; 0 until it is known
	held atomic.Uint32 // how many live documents hold this very word
	df   atomic.Uint32 // how many live documents hold a word with this stem
	size uint8
	text [inlineWord]byte
}

// longWord is the size of an entry whose word does not fit it. Its text then
// holds where the word lies among the long ones, in eight bytes, and its
// length, in four.
const longWord = inlineWord + 1

// setLong points an entry at a long word.
func (e *entry) setLong(at, n int) {
	e.size = longWord
	binary.LittleEndian.PutUint64(e.text[:], uint64(at))
	binary.LittleEndian.PutUint32(e.text[8:], uint32(n))
}

func (e *entry) longAt() (at, n int) {
	return int(binary.LittleEndian.Uint64(e.text[:])), int(binary.LittleEndian.Uint32(e.text[8:]))
}

// shard is an open hash table. A slot holds 32 bits of the hash and the number of the word.
type shard struct {
	mu    sync.Mutex
	used  int
	slots atomic.Pointer[[]atomic.Uint64]
}

func newVocabulary(seed uint64) *vocabulary {
	v := &vocabulary{seed: seed}
	v.long.Store(new([]byte))
	return v
}

func (v *vocabulary) entry(id uint32) *entry {
	return &v.chunks[id/chunkWords].Load()[id%chunkWords]
}

// text returns the word with a number. It must not be changed.
func (v *vocabulary) text(id uint32) []byte {
	e := v.entry(id)
	if e.size <= inlineWord {
		return e.text[:e.size]
	}
	at, n := e.longAt()
	return (*v.long.Load())[at : at+n]
}

// lookup returns the number of a word, or 0.
func (v *vocabulary) lookup(word string) uint32 {
	h := xxh3.HashStringSeed(word, v.seed)
	var buf [2 * text.MaxWord]byte
	return v.find(&v.shards[h%vocabularyShards], h, append(buf[:0], word...))
}

func (v *vocabulary) find(s *shard, h uint64, word []byte) uint32 {
	slots := s.slots.Load()
	if slots == nil {
		return 0
	}
	mask := uint64(len(*slots) - 1)
	for i := range uint64(len(*slots)) {
		slot := (*slots)[(h>>5+i)&mask].Load()
		if slot == 0 {
			return 0
		}
		if slot>>32 == h>>32 && bytes.Equal(v.text(uint32(slot)), word) {
			return uint32(slot)
		}
	}
	return 0
}

// intern returns the number of a word, giving it one if it is new, or 0 if the vocabulary is full.
func (v *vocabulary) intern(word []byte) uint32 {
	h := xxh3.HashSeed(word, v.seed)
	s := &v.shards[h%vocabularyShards]
	if id := v.find(s, h, word); id != 0 {
		return id
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := v.find(s, h, word); id != 0 {
		return id
	}
	id := v.add(word)
	if id != 0 {
		s.insert(h, id, v)
	}
	return id
}

// insert puts a word into the table, which is made anew when it is two thirds full.
func (s *shard) insert(h uint64, id uint32, v *vocabulary) {
	slots := s.slots.Load()
	if slots == nil || 3*s.used >= 2*len(*slots) {
		n := shardSlots
		if slots != nil {
			n = 2 * len(*slots)
		}
		wider := make([]atomic.Uint64, n)
		if slots != nil {
			for i := range *slots {
				if slot := (*slots)[i].Load(); slot != 0 {
					put(wider, xxh3.HashSeed(v.text(uint32(slot)), v.seed), uint32(slot))
				}
			}
		}
		put(wider, h, id)
		s.slots.Store(&wider)
	} else {
		put(*slots, h, id)
	}
	s.used++
}

func put(slots []atomic.Uint64, h uint64, id uint32) {
	mask := uint64(len(slots) - 1)
	i := h >> 5
	for slots[i&mask].Load() != 0 {
		i++
	}
	slots[i&mask].Store(h>>32<<32 | uint64(id))
}

// add makes the entry of a new word.
func (v *vocabulary) add(word []byte) uint32 {
	v.grow.Lock()
	id := v.count.Load() + 1
	if id > maxWords {
		v.grow.Unlock()
		return 0
	}
	c := &v.chunks[id/chunkWords]
	if c.Load() == nil {
		c.Store(new([chunkWords]entry))
	}
	e := v.entry(id)
	if e.size = uint8(len(word)); len(word) <= inlineWord {
		copy(e.text[:], word)
	} else {
		long := *v.long.Load()
		e.setLong(len(long), len(word))
		// Readers of the slice before see none of what is appended behind its end.
		long = append(long, word...)
		v.long.Store(&long)
	}
	v.count.Store(id)
	v.grow.Unlock()
	return id
}

// term returns the number of the stem of word id.
func (v *vocabulary) term(id uint32) uint32 {
	e := v.entry(id)
	if t := e.stem.Load(); t != 0 {
		return t
	}
	t := id
	word := string(v.text(id))
	if s := text.FindStem(word); s != word { // each word comes here once
		if t = v.intern([]byte(s)); t == 0 {
			t = id
		}
	}
	e.stem.Store(t)
	return t
}
