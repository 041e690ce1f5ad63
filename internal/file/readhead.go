// Package file reads a file within a bound, and replaces one whole.
package file

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ReadHead reads the beginning of a file, most bytes of it at the most. Who must tell a file
// that is too long from one that just fits asks for one byte more.
func ReadHead(name string, most int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// ReadSmall reads a file that somebody else named. What is no regular file is refused before it is opened, because that could
// wait for ever, as at a pipe; and so is what has more than most bytes.
func ReadSmall(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	text, err := ReadHead(name, most+1)
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return text, err
}
