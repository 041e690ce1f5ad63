package tfidf

import (
	"strings"

	"github.com/zeebo/xxh3"
)

// IDs returns the ids of all documents, in no order. Callers compare them
// with what they hold themselves.
func (ix *Index) IDs() []string {
	v := ix.view.Load()
	out := make([]string, 0, v.docs)
	for _, s := range v.segs {
		for d := range uint32(s.docs()) {
			if s.alive(d, v.seq) {
				out = append(out, strings.Clone(s.id(d)))
			}
		}
	}
	for _, d := range v.tail {
		if d.alive(v.seq) {
			out = append(out, d.id)
		}
	}
	return out
}

// idTable finds the number of a document by its ID. It is an open hash table
// that holds no ID: a slot holds 32 bits of the hash, whose low ones say where
// it belongs, and the number plus one. What has been removed leaves no trace,
// because what was pushed behind it moves up.
type idTable struct {
	seed  uint64
	used  int
	slots []uint64 // as many as a power of two, or none
}

// idSlots is how many slots a table starts with.
const idSlots = 64

func (t *idTable) tag(id string) uint32 { return uint32(xxh3.HashStringSeed(id, t.seed) >> 32) }

// find returns the number under which an ID was inserted. same tells whether a
// document has it.
func (t *idTable) find(id string, same func(number uint32) bool) (uint32, bool) {
	tag, mask := t.tag(id), uint32(len(t.slots)-1)
	for n := range uint32(len(t.slots)) {
		slot := t.slots[(tag+n)&mask]
		if slot == 0 {
			break
		}
		if number := uint32(slot) - 1; uint32(slot>>32) == tag && same(number) {
			return number, true
		}
	}
	return 0, false
}

// insert adds an ID that the table does not have.
func (t *idTable) insert(id string, number uint32) {
	if 4*t.used >= 3*len(t.slots) {
		t.resize(max(idSlots, 2*len(t.slots)))
	}
	t.put(uint64(t.tag(id))<<32 | uint64(number+1))
	t.used++
}

func (t *idTable) resize(n int) {
	old := t.slots
	t.slots = make([]uint64, n)
	for _, slot := range old {
		if slot != 0 {
			t.put(slot)
		}
	}
}

func (t *idTable) put(slot uint64) {
	mask := uint32(len(t.slots) - 1)
	i := uint32(slot >> 32)
	for t.slots[i&mask] != 0 {
		i++
	}
	t.slots[i&mask] = slot
}

// remove takes out an ID that has a number. What lies behind it moves up into
// the gap, unless that is before where it belongs (Knuth, "The Art of Computer
// Programming", volume 3, algorithm 6.4R).
func (t *idTable) remove(id string, number uint32) {
	tag, mask := t.tag(id), uint32(len(t.slots)-1)
	want, i := uint64(tag)<<32|uint64(number+1), tag&mask
	for n := 0; t.slots[i] != want; n++ {
		if t.slots[i] == 0 || n == len(t.slots) {
			return
		}
		i = (i + 1) & mask
	}
	for j := (i + 1) & mask; t.slots[j] != 0 && j != i; j = (j + 1) & mask {
		if home := uint32(t.slots[j]>>32) & mask; (j-home)&mask >= (j-i)&mask {
			t.slots[i] = t.slots[j]
			i = j
		}
	}
	t.slots[i] = 0
	t.used--
}
