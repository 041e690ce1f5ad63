// Package wal reads the write-ahead log of a SQLite database for what SQLite does not say: that it lost its end.
package wal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// The form of a write-ahead log (https://www.sqlite.org/fileformat2.html#walformat).
const (
	headerBytes      = 32
	frameHeaderBytes = 24
	magic            = 0x377f0682 // its lowest bit: the checksums are of big-endian words
)

// Torn is what a write-ahead log holds that SQLite does not read any more:
// it takes the log to end at the first frame whose checksum is wrong.
type Torn struct {
	Frame   int64 // the first damaged frame, from 1; 0: the log is whole, -1: its header is damaged
	Behind  int64 // frames of the same log behind it
	Commits int64 // transactions that end there
	// Sure: a later transaction follows, so the damaged one was on disk and answered. Else it
	// is the last one, which a power cut may have cut while nobody had been told of it.
	Sure bool
}

// String says what is missing, for people; it is empty of a log that is whole.
func (t Torn) String() string {
	switch {
	case t.Frame < 0:
		return fmt.Sprintf("its header is damaged, and none of its %d frames is read: what they stored is gone, unless the database had it already", t.Behind)
	case t.Frame == 0:
		return ""
	}
	return fmt.Sprintf("frame %d is damaged, and %d frames with %d transactions from there on are not read: what they stored is gone", t.Frame, t.Behind+1, t.Commits)
}

// Scan reads a database's write-ahead log from end to end, and changes
// nothing of it. One that is not there, or is empty, is whole.
func Scan(path string) (t Torn, err error) {
	file, err := os.Open(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return t, err
	}
	in := bufio.NewReaderSize(file, 1<<20)
	header := make([]byte, headerBytes)
	if _, err := io.ReadFull(in, header); err != nil {
		return t, ignoreEnd(err) // shorter than a header: no transaction was ever in it
	}
	page := int64(binary.BigEndian.Uint32(header[8:]))
	known := binary.BigEndian.Uint32(header)&^1 == magic && page >= 512 && page <= 65536 && page&(page-1) == 0
	if !known {
		page = 4096 // what SQLite takes unless it is told otherwise
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if header[3]&1 == 1 {
		order = binary.BigEndian
	}
	size := frameHeaderBytes + page
	frames := (info.Size() - headerBytes) / size
	sum := checksum(order, [2]uint32{}, header[:24])
	if !known || sum != storedSum(header[24:]) {
		if frames > 0 { // the header was on disk before the first of them was written
			t = Torn{Frame: -1, Behind: frames, Sure: true}
		}
		return t, nil
	}
	salts := binary.BigEndian.Uint64(header[16:])
	frame := make([]byte, size)
	ended := false // a transaction of the log ended at or behind the first damaged frame
	for n := int64(1); n <= frames; n++ {
		if _, err := io.ReadFull(in, frame); err != nil {
			return t, ignoreEnd(err)
		}
		same := binary.BigEndian.Uint64(frame[8:]) == salts && binary.BigEndian.Uint32(frame) != 0
		if t.Frame == 0 {
			if sum = checksum(order, checksum(order, sum, frame[:8]), frame[frameHeaderBytes:]); same && sum == storedSum(frame[16:]) {
				continue
			}
			t.Frame = n
		} else if same {
			t.Behind++
			t.Sure = t.Sure || ended
		}
		if same && binary.BigEndian.Uint32(frame[4:]) != 0 {
			t.Commits++
			ended = true
		}
	}
	if t.Behind == 0 {
		return Torn{}, nil // the log ends there, in a write that was under way or in what an earlier round left
	}
	return t, nil
}

// Settled is Scan where a router may be writing: a frame that is being
// written looks damaged for a moment, so what is found must be found again.
func Settled(path string) (t Torn, err error) {
	const looks = 3
	for n := range looks {
		again, err := Scan(path)
		if err != nil || again.Frame == 0 || n > 0 && again.Frame != t.Frame {
			return Torn{}, err
		}
		t = again
	}
	return t, nil
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func storedSum(b []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

// checksum goes on with a checksum over some more bytes, a multiple of eight.
func checksum(order binary.ByteOrder, sum [2]uint32, b []byte) [2]uint32 {
	for ; len(b) >= 8; b = b[8:] {
		sum[0] += order.Uint32(b) + sum[1]
		sum[1] += order.Uint32(b[4:]) + sum[0]
	}
	return sum
}
