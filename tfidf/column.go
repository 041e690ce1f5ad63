package tfidf

import (
	"hash"
	"io"
	"strconv"
	"sync/atomic"
	"unsafe"
)

// column is an array without pointers, as it lies in memory and in a snapshot.
type column struct {
	name  string
	width int // bytes of an element
	bytes func() []byte
	set   func([]byte) // lays the array over memory, which the caller keeps
}

func columnOf[T any](name string, s *[]T) column {
	width := int(unsafe.Sizeof(*new(T)))
	return column{
		name, width,
		func() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(*s))), len(*s)*width) },
		func(b []byte) { *s = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/width) },
	}
}

// columns lists the arrays of a segment, for whoever writes or maps them.
func (s *segment) columns() []column {
	return []column{
		columnOf("ids", &s.ids),
		columnOf("id starts", &s.idStarts),
		columnOf("numbers", &s.numbers),
		columnOf("lengths", &s.lengths),
		columnOf("length classes", &s.norms),
		columnOf("runs", &s.runs),
		columnOf("orders", &s.orders),
		columnOf("moments", &s.moments),
		columnOf("projects", &s.project),
		columnOf("categories", &s.category),
		columnOf("died", &s.died),
		columnOf("words", &s.words),
		columnOf("word starts", &s.starts),
		columnOf("terms", &s.terms),
		columnOf("heads", &s.heads),
		columnOf("blocks", &s.blocks),
		columnOf("data", &s.data),
	}
}

// tables are the arrays of an index beside its segments.
type tables struct {
	entries []entry // by number of the word; as many as fill chunks
	long    []byte
	shards  []shardSize
	slots   []atomic.Uint64 // of all shards
	letters []atomic.Uint32

	typos packedGroups

	ids    []uint64
	places []place
	free   []uint32
}

// shardSize is how many slots a shard of the vocabulary has, and how many are taken.
type shardSize struct{ slots, used uint32 }

// columns lists the arrays, like those of a segment.
func (t *tables) columns() []column {
	return []column{
		columnOf("entries", &t.entries),
		columnOf("long words", &t.long),
		columnOf("shards", &t.shards),
		columnOf("slots", &t.slots),
		columnOf("letters", &t.letters),
		columnOf("typo starts", &t.typos.starts),
		columnOf("typo sizes", &t.typos.sizes),
		columnOf("typo gaps", &t.typos.gaps),
		columnOf("id slots", &t.ids),
		columnOf("places", &t.places),
		columnOf("free numbers", &t.free),
	}
}

// describe writes which columns there are, and how wide they are.
func describe(h hash.Hash, columns []column) {
	for _, c := range columns {
		_, _ = io.WriteString(h, c.name+" "+strconv.Itoa(c.width)+"\n") // a hash never fails
	}
}
