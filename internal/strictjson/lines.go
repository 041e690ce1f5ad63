package strictjson

import (
	"bufio"
	"errors"
)

// Line reads the next line, with its end. One that is longer than most bytes is passed over without being held: tooLong
// says so. The last line comes with io.EOF.
func Line(in *bufio.Reader, most int) (line []byte, tooLong bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > most; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}
