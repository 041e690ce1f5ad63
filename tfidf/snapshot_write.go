package tfidf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/zeebo/xxh3"
)

// saving lets one snapshot be written at a time: two would fight for the
// disk, and two of one path for the temporary file.
var saving sync.Mutex

// snapshotWriter writes a snapshot.
type snapshotWriter struct {
	head     snapshotHead
	segments []segmentHead
	columns  []column
	mark     []byte

	file     *os.File
	buf      []byte // at most a chunk
	sums     []uint64
	size     int
	sections []section
}

// write makes the snapshot at path. When it is there, it calls done with the file.
func (w *snapshotWriter) write(path string, done func(*os.File)) error {
	if len(w.mark) > maxMark {
		return fmt.Errorf("the mark of a snapshot has %d bytes, of %d at most", len(w.mark), maxMark)
	}
	if len(w.segments) > maxSnapshotSegments {
		return fmt.Errorf("a snapshot of %d segments, of %d at most", len(w.segments), maxSnapshotSegments)
	}
	saving.Lock()
	defer saving.Unlock()
	temporary := path + ".tmp"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, os.ErrNotExist) { // left by a process that was killed
		return err
	}
	file, err := os.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w.file = file
	err = w.fill()
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		return errors.Join(err, file.Close(), os.Remove(temporary))
	}
	if err = os.Rename(temporary, path); err != nil {
		return errors.Join(err, file.Close(), os.Remove(temporary))
	}
	if err = syncFolder(filepath.Dir(path)); err == nil {
		done(file)
	}
	return errors.Join(err, file.Close())
}

// fill writes the columns, and then the head, which holds their checksums.
func (w *snapshotWriter) fill() error {
	l := &layout{head: w.head.fixed(), segments: w.segments, mark: w.mark}
	l.head.Segments, l.head.Sections, l.head.Mark = uint32(len(w.segments)), uint32(len(w.columns)), uint32(len(w.mark))
	size := uint64(0)
	for _, c := range w.columns {
		size += align(uint64(len(c.bytes())))
	}
	l.head.Chunks = uint32(chunksOf(size))
	l.head.Head = l.size()
	if l.head.Head > maxSnapshotHead {
		return fmt.Errorf("a snapshot of %d bytes is too large", size)
	}
	start := l.head.Head
	l.head.File = start + size
	if _, err := w.file.Seek(int64(start), 0); err != nil {
		return err
	}
	w.buf = make([]byte, 0, snapshotChunk)
	at := start
	for _, c := range w.columns {
		b := c.bytes()
		l.sections = append(l.sections, section{at, uint64(len(b))})
		padded := align(uint64(len(b)))
		if err := w.add(b); err != nil {
			return err
		}
		if err := w.add(make([]byte, padded-uint64(len(b)))); err != nil {
			return err
		}
		at += padded
	}
	if err := w.flush(); err != nil {
		return err
	}
	l.chunks = w.sums
	w.size, w.sections = int(l.head.File), l.sections
	head, err := l.encode()
	if err != nil {
		return err
	}
	_, err = w.file.WriteAt(head, 0)
	return err
}

// add writes bytes behind those before.
func (w *snapshotWriter) add(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), snapshotChunk-len(w.buf))
		w.buf, b = append(w.buf, b[:n]...), b[n:]
		if len(w.buf) == snapshotChunk {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the chunk at hand and keeps its checksum.
func (w *snapshotWriter) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	w.sums = append(w.sums, xxh3.Hash(w.buf))
	_, err := w.file.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// syncFolder makes a rename in a folder last.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" { // its folders cannot be synced
		return nil
	}
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
