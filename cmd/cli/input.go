package cli

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// open opens a file that was named on the command line; "-" is stdin. The size
// is -1 if it is not known.
func (s *shell) open(name string) (io.ReadCloser, int64, error) {
	if name == "-" {
		return io.NopCloser(s.in), -1, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	size := int64(-1)
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return file, size, nil
}

// isTerminal tells whether a person is at that end.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// read reads a file that was named on the command line. Of one that is longer
// than most bytes it reads one byte more, by which whoever checks it sees that
// it is too long.
func (s *shell) read(name string, most int64) ([]byte, error) {
	file, _, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most+1))
}

// text puts what standard input holds in the place of "-", without the line break that ends it, as a shell's $(…) does.
// It is bounded as by read.
func (s *shell) text(given *string, most int64) error {
	if *given != "-" {
		return nil
	}
	read, err := s.read("-", most)
	*given = strings.TrimSuffix(strings.TrimSuffix(string(read), "\n"), "\r")
	return err
}

// asJSON is a text as JSON: itself, if it is that already.
func asJSON(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // texts cannot fail
	return quoted
}

// first returns the first text that is not empty.
func first(texts ...string) string { return cmp.Or(texts...) }
