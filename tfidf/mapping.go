package tfidf

import (
	"io"
	"os"
	"runtime"
	"unsafe"

	"github.com/edsrzf/mmap-go"
)

// mapping is the memory of an opened snapshot. Whatever has a column in it
// holds on to it; when nothing does, it is given back.
type mapping struct{ bytes []byte }

// mapFile maps size bytes of a file, private to this process: what is written
// there never reaches the file. Where that cannot be, it reads them.
func mapFile(file *os.File, size int) (*mapping, error) {
	if m := tryMap(file, size); m != nil {
		return m, nil
	}
	words := make([]uint64, (size+7)/8) // so that every column is aligned
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	if _, err := io.ReadFull(io.NewSectionReader(file, 0, int64(size)), b); err != nil {
		return nil, err
	}
	return &mapping{b}, nil
}

// tryMap maps size bytes of a file, or returns nil where that cannot be.
//
// Windows would refuse to replace a file that is mapped, and so the next snapshot.
func tryMap(file *os.File, size int) *mapping {
	if runtime.GOOS == "windows" {
		return nil
	}
	b, err := mmap.MapRegion(file, size, mmap.COPY, 0, 0)
	if err != nil {
		return nil
	}
	m := &mapping{b}
	runtime.AddCleanup(m, func(b mmap.MMap) { _ = b.Unmap() }, b)
	return m
}

// lay lays columns over the sections of a file that is in memory.
func (m *mapping) lay(columns []column, sections []section) {
	for i, c := range columns {
		s := sections[i]
		c.set(m.bytes[s.Offset : s.Offset+s.Size : s.Offset+s.Size])
	}
}
