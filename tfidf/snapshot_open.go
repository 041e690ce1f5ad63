package tfidf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// Open maps the snapshot at path and returns an index that holds what was
// captured, with the mark that was saved with it. The file is checked by
// checksum first; every error wraps ErrSnapshot.
//
// The file may be replaced or removed while the index is in use, but not
// changed: Save never does.
func Open(path string, opts Options) (ix *Index, mark []byte, err error) {
	w := DefaultWeights()
	if opts.Weights != nil {
		w = *opts.Weights
	}
	ix, mark, err = open(path, w)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s: %w", ErrSnapshot, path, err)
	}
	return ix, mark, nil
}

func open(path string, w Weights) (*Index, []byte, error) {
	// Opening what is no file may wait for ever.
	if info, err := os.Stat(path); err != nil {
		return nil, nil, err
	} else if !info.Mode().IsRegular() {
		return nil, nil, errors.New("it is no file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }() // it was read only, and what is mapped stays
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if int64(int(info.Size())) != info.Size() {
		return nil, nil, errors.New("it is larger than this machine can address")
	}
	l, err := readLayout(file, info.Size(), w)
	if err != nil {
		return nil, nil, err
	}
	if err := verify(file, l); err != nil {
		return nil, nil, err
	}
	m, err := mapFile(file, int(info.Size()))
	if err != nil {
		return nil, nil, err
	}
	ix, err := l.index(m, w)
	if err != nil {
		return nil, nil, err
	}
	return ix, l.mark, nil
}

// readLayout reads and checks what stands before the columns.
func readLayout(file io.ReaderAt, size int64, w Weights) (*layout, error) {
	l := &layout{}
	fixed := make([]byte, binary.Size(l.head))
	if _, err := file.ReadAt(fixed, 0); err != nil {
		return nil, fmt.Errorf("its head cannot be read: %w", err)
	}
	if err := binary.Read(bytes.NewReader(fixed), binary.LittleEndian, &l.head); err != nil {
		return nil, err
	}
	if err := l.head.check(size, w); err != nil {
		return nil, err
	}
	start := l.head.Head
	if l.head.Head != l.size() || start > l.head.File || uint64(l.head.Chunks) != chunksOf(l.head.File-start) {
		return nil, errors.New("the sizes in its head do not fit one another")
	}
	b := make([]byte, l.head.Head)
	if _, err := file.ReadAt(b, 0); err != nil {
		return nil, fmt.Errorf("its head cannot be read: %w", err)
	}
	if err := l.decode(b); err != nil {
		return nil, err
	}
	return l, l.checkSections()
}

// checkSections verifies that the sections are those that the heads call for,
// one after the other.
func (l *layout) checkSections() error {
	perSegment, perIndex := new(segment).columns(), new(tables).columns()
	if len(l.sections) != len(l.segments)*len(perSegment)+len(perIndex) {
		return errors.New("it has another number of columns")
	}
	at := l.head.Head
	for i, s := range l.sections {
		c := perIndex[max(i-len(l.segments)*len(perSegment), 0)]
		if i < len(l.segments)*len(perSegment) {
			c = perSegment[i%len(perSegment)]
		}
		if s.Offset != at || s.Size > l.head.File-at || s.Size%uint64(c.width) != 0 {
			return fmt.Errorf("the column of %s lies outside", c.name)
		}
		at = align(at + s.Size)
	}
	if at != l.head.File {
		return errors.New("something lies behind its columns")
	}
	return nil
}

// verifiers is how many cores check a file at most: more do not read faster.
const verifiers = 4

// verify compares the file with its checksums. It reads instead of looking at
// the mapped memory, so that only what searches touch becomes resident.
func verify(file io.ReaderAt, l *layout) error {
	start := l.head.Head
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), verifiers, len(l.chunks)) {
		all.Go(func() {
			buf := make([]byte, snapshotChunk)
			for failed.Load() == nil {
				i := next.Add(1) - 1
				if i >= int64(len(l.chunks)) {
					return
				}
				at := start + uint64(i)*snapshotChunk
				b := buf[:min(snapshotChunk, l.head.File-at)]
				_, err := file.ReadAt(b, int64(at))
				if err == nil && xxh3.Hash(b) != l.chunks[i] {
					err = fmt.Errorf("the checksum of its bytes from %d on is wrong", at)
				}
				if err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// index makes an index of mapped memory.
func (l *layout) index(m *mapping, w Weights) (*Index, error) {
	sections := l.sections
	lay := func(columns []column) {
		m.lay(columns, sections)
		sections = sections[len(columns):]
	}
	ix := newIndex(w, l.head.Seed)
	v := &view{seq: 1, docs: int(l.head.Documents), length: l.head.Length}
	for _, h := range l.segments {
		s := &segment{serial: h.Serial, average: h.Average, mapped: m}
		s.dead.Store(int64(h.Dead))
		lay(s.columns())
		if err := s.check(h); err != nil {
			return nil, err
		}
		ix.open[s.serial] = s
		ix.serial = max(ix.serial, s.serial)
		v.segs = append(v.segs, s)
	}
	t := new(tables)
	lay(t.columns())
	if err := t.check(l.head); err != nil {
		return nil, err
	}
	ix.take(t, l.head, m)
	ix.view.Store(v)
	return ix, nil
}

// take makes tables the index's own.
func (ix *Index) take(t *tables, h snapshotHead, m *mapping) {
	v := ix.vocab
	v.mapped, v.base = m, t.long
	for i := range len(t.entries) / chunkWords {
		v.chunks[i].Store((*[chunkWords]entry)(t.entries[i*chunkWords:]))
	}
	v.count.Store(h.Words)
	slots := t.slots
	for i, size := range t.shards {
		own := slots[:size.slots:size.slots]
		slots = slots[size.slots:]
		v.shards[i].used = int(size.used)
		v.shards[i].slots.Store(&own)
	}
	ix.letters = (*letterCounts)(unsafe.Pointer(unsafe.SliceData(t.letters)))
	ix.typos.until, ix.typos.packed = h.Words, t.typos
	ix.byID.slots, ix.byID.used = t.ids, int(h.Documents)
	ix.places, ix.free = t.places, t.free
}

// check compares the sizes of a segment's columns with one another.
func (s *segment) check(h segmentHead) error {
	n := len(s.lengths)
	for _, other := range []int{
		len(s.idStarts) - 1, len(s.numbers), len(s.norms), len(s.project), len(s.category), len(s.died), len(s.starts) - 1,
	} {
		if other != n {
			return errors.New("its columns differ in length")
		}
	}
	switch {
	case uint64(n) != h.Documents || uint64(n) >= none || uint64(h.Dead) > h.Documents || s.serial == 0:
		return errors.New("a segment's head does not fit it")
	case math.IsNaN(s.average) || math.IsInf(s.average, 0) || s.average < 0:
		return errors.New("a segment's average is no number")
	case len(s.orders) != 0 && len(s.orders) != n || len(s.moments) != 0 && len(s.moments) != n:
		return errors.New("its columns differ in length")
	case len(s.runs) != windowsOf(n):
		return errors.New("its windows are not as many as its documents fill")
	case len(s.heads) != len(s.terms):
		return errors.New("its terms differ in length")
	}
	return nil
}

// check compares the sizes of the tables with one another and with the head.
func (t *tables) check(h snapshotHead) error {
	sum := uint64(0)
	for _, s := range t.shards {
		if s.slots < shardSlots || s.slots&(s.slots-1) != 0 || 8*uint64(s.used) >= 7*uint64(s.slots) {
			return errors.New("a hash table of its words is out of bounds")
		}
		sum += uint64(s.slots)
	}
	switch {
	case len(t.shards) != vocabularyShards || sum != uint64(len(t.slots)):
		return errors.New("the hash tables of its words differ in length")
	case len(t.entries) != (int(h.Words)/chunkWords+1)*chunkWords:
		return errors.New("its words are not as many as its head says")
	case len(t.letters) != len(letterCounts{}) || len(t.typos.starts) != typoGroupCount+1 || len(t.typos.sizes) != typoGroupCount:
		return errors.New("its letter groups are not as many as there are")
	case len(t.ids)&(len(t.ids)-1) != 0 || h.Documents > uint64(len(t.ids)) || h.Documents > uint64(len(t.places)):
		return errors.New("the table of its ids is out of bounds")
	}
	return nil
}
