package tfidf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/zeebo/xxh3"

	"skillrouter/tfidf/text"
)

// A snapshot is a head, then every column of every segment and of the tables,
// each at a multiple of snapshotAlign, in the order of their lists and in the
// machine's own byte order, so that they can be used where they are mapped.
//
// The head is a snapshotHead, the segments' heads, the sections, a checksum of
// every snapshotChunk bytes that follow the head, the mark, and, at its end, the
// checksum of all that. Its own numbers are little-endian.

// snapshotFormat must be raised with every change to what the columns mean
// that their names and widths do not show, such as another coding of postings.
// TestSnapshotFormat fails where that was forgotten.
const snapshotFormat = 5

const (
	snapshotMagic = "srtfidf\n"
	// snapshotAlign is a cache line: entries and slots never lie across two.
	snapshotAlign = 64
	// snapshotChunk is how much is read and verified at a time: what fits a core's own cache.
	snapshotChunk = 256 << 10

	// maxSnapshotHead bounds what is read before a checksum has been seen: enough
	// for a file of a terabyte.
	maxSnapshotHead = 64 << 20
	// maxSnapshotSegments is far above what merging leaves.
	maxSnapshotSegments = 1 << 12
	// maxMark bounds what a caller may keep in the head.
	maxMark = 1 << 16
)

// snapshotHead is the start of a snapshot.
type snapshotHead struct {
	Magic            [8]byte
	Format, Analysis uint32
	Head, File       uint64 // their sizes
	Order            [8]byte
	Columns          uint64  // see columnsHash
	K1, B            float64 // what the bounds of postings were computed with
	Title            int64   // what frequencies and lengths were computed with
	Seed             uint64
	Words            uint32
	Segments         uint32
	Sections         uint32
	Chunks           uint32
	Mark             uint32
	_                uint32
	Documents        uint64 // that live
	Length           uint64
}

// segmentHead is what a segment has beside its columns.
type segmentHead struct {
	Serial, Dead uint32
	Documents    uint64
	Average      float64
}

// section is where a column lies in the file.
type section struct{ Offset, Size uint64 }

// layout is all that stands before the columns.
type layout struct {
	head     snapshotHead
	segments []segmentHead
	sections []section
	chunks   []uint64 // checksums
	mark     []byte
}

// size returns how many bytes the layout takes in a file.
func (l *layout) size() uint64 {
	return align(uint64(binary.Size(l.head)) + uint64(l.head.Segments)*uint64(binary.Size(segmentHead{})) +
		uint64(l.head.Sections)*uint64(binary.Size(section{})) + 8*uint64(l.head.Chunks) + uint64(l.head.Mark) + 8)
}

func (l *layout) encode() ([]byte, error) {
	var b bytes.Buffer
	for _, part := range []any{&l.head, l.segments, l.sections, l.chunks, l.mark} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			return nil, err
		}
	}
	b.Write(make([]byte, l.size()-8-uint64(b.Len())))
	return binary.LittleEndian.AppendUint64(b.Bytes(), xxh3.Hash(b.Bytes())), nil
}

// fixed returns a head with what depends on the program alone.
func (h snapshotHead) fixed() snapshotHead {
	copy(h.Magic[:], snapshotMagic)
	h.Format, h.Analysis = snapshotFormat, text.Version
	binary.NativeEndian.PutUint64(h.Order[:], 0x0102030405060708)
	h.Columns = columnsHash()
	return h
}

// columnsHash tells lists of columns apart.
func columnsHash() uint64 {
	h := xxh3.New()
	describe(h, new(segment).columns())
	describe(h, new(tables).columns())
	return h.Sum64()
}

// check compares a head with what this program writes, and with the size of its file.
func (h snapshotHead) check(size int64, w Weights) error {
	own := h.fixed()
	switch {
	case h.Magic != own.Magic:
		return errors.New("it is no snapshot")
	case h.Format != own.Format || h.Columns != own.Columns:
		return errors.New("it has another format")
	case h.Analysis != own.Analysis:
		return errors.New("its words were made by another version")
	case h.Order != own.Order:
		return errors.New("it is of a machine with another byte order")
	case math.Float64bits(h.K1) != math.Float64bits(w.K1) || math.Float64bits(h.B) != math.Float64bits(w.B) || h.Title != int64(w.Title):
		return errors.New("it was made with other weights")
	case h.File != uint64(size):
		return fmt.Errorf("it has %d bytes and should have %d", size, h.File)
	case h.Segments > maxSnapshotSegments || h.Mark > maxMark || h.Words > maxWords || h.Head > maxSnapshotHead:
		return errors.New("its head is out of bounds")
	}
	return nil
}

// decode reads what follows the fixed part, and verifies the checksum.
func (l *layout) decode(b []byte) error {
	sum := len(b) - 8
	if xxh3.Hash(b[:sum]) != binary.LittleEndian.Uint64(b[sum:]) {
		return errors.New("the checksum of its head is wrong")
	}
	l.segments, l.sections = make([]segmentHead, l.head.Segments), make([]section, l.head.Sections)
	l.chunks, l.mark = make([]uint64, l.head.Chunks), make([]byte, l.head.Mark)
	r := bytes.NewReader(b[binary.Size(l.head):sum])
	for _, part := range []any{l.segments, l.sections, l.chunks, l.mark} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}

// align returns the first multiple of snapshotAlign at or after n.
func align(n uint64) uint64 { return (n + snapshotAlign - 1) &^ (snapshotAlign - 1) }

// chunksOf returns how many chunks n bytes are.
func chunksOf(n uint64) uint64 { return (n + snapshotChunk - 1) / snapshotChunk }

// An entry is half a cache line, and mapped where an index of the same width is.
var _ [32 - unsafe.Sizeof(entry{})]struct{}
