// Package file reads a file within a bound, and replaces one whole.
package file

import (
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
