package app

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
	walHeader      = 32
	walFrameHeader = 24
	walMagic       = 0x377f0682 // its lowest bit: the checksums are of big-endian words
)

// tornLog is what a write-ahead log holds that SQLite does not read any more:
// it takes the log to end at the first frame whose checksum is wrong.
type tornLog struct {
	frame   int64 // the first damaged frame, from 1; 0: the log is whole, -1: its header is damaged
	behind  int64 // frames of the same log behind it
	commits int64 // transactions that end there
	// sure: a later transaction follows, so the damaged one was on disk and answered. Else it
	// is the last one, which a power cut may have cut while nobody had been told of it.
	sure bool
}

// String says what is missing, for people; it is empty of a log that is whole.
func (t tornLog) String() string {
	switch {
	case t.frame < 0:
		return fmt.Sprintf("its header is damaged, and none of its %d frames is read: what they stored is gone, unless the database had it already", t.behind)
	case t.frame == 0:
		return ""
	}
	return fmt.Sprintf("frame %d is damaged, and %d frames with %d transactions from there on are not read: what they stored is gone", t.frame, t.behind+1, t.commits)
}

// scanLog reads a database's write-ahead log from end to end, and changes
// nothing of it. One that is not there, or is empty, is whole.
func scanLog(path string) (t tornLog, err error) {
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
	header := make([]byte, walHeader)
	if _, err := io.ReadFull(in, header); err != nil {
		return t, ignoreEnd(err) // shorter than a header: no transaction was ever in it
	}
	page := int64(binary.BigEndian.Uint32(header[8:]))
	known := binary.BigEndian.Uint32(header)&^1 == walMagic && page >= 512 && page <= 65536 && page&(page-1) == 0
	if !known {
		page = 4096 // what SQLite takes unless it is told otherwise
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if header[3]&1 == 1 {
		order = binary.BigEndian
	}
	size := walFrameHeader + page
	frames := (info.Size() - walHeader) / size
	sum := walChecksum(order, [2]uint32{}, header[:24])
	if !known || sum != storedSum(header[24:]) {
		if frames > 0 { // the header was on disk before the first of them was written
			t = tornLog{frame: -1, behind: frames, sure: true}
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
		if t.frame == 0 {
			if sum = walChecksum(order, walChecksum(order, sum, frame[:8]), frame[walFrameHeader:]); same && sum == storedSum(frame[16:]) {
				continue
			}
			t.frame = n
		} else if same {
			t.behind++
			t.sure = t.sure || ended
		}
		if same && binary.BigEndian.Uint32(frame[4:]) != 0 {
			t.commits++
			ended = true
		}
	}
	if t.behind == 0 {
		return tornLog{}, nil // the log ends there, in a write that was under way or in what an earlier round left
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

// walChecksum goes on with a checksum over some more bytes, a multiple of eight.
func walChecksum(order binary.ByteOrder, sum [2]uint32, b []byte) [2]uint32 {
	for ; len(b) >= 8; b = b[8:] {
		sum[0] += order.Uint32(b) + sum[1]
		sum[1] += order.Uint32(b[4:]) + sum[0]
	}
	return sum
}
