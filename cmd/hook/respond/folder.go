package respond

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"skillrouter/cmd/locate"
)

// BranchWords are the words of the branch's name in the working folder at dir:
// what a session is likely to be about. It runs no git.
func BranchWords(dir string) string {
	checkout, _ := locate.CheckoutOf(dir)
	branch := checkout.Branch()
	if branch == "main" || branch == "master" {
		return ""
	}
	return strings.Join(strings.FieldsFunc(branch, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

// lastLines is the end of a file, of at most limit bytes and from the beginning
// of a line: what was learned last counts most. No name is no file.
func lastLines(name string, limit int64) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	file, size, err := OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	from := max(0, size-limit)
	text, err := io.ReadAll(io.NewSectionReader(file, from, limit))
	if err != nil || from == 0 {
		return text, err
	}
	if at := bytes.IndexByte(text, '\n'); at >= 0 {
		return text[at+1:], nil
	}
	return nil, nil
}

// OpenRegular opens a file that somebody else named: no pipe or device, whose
// opening could wait for ever.
func OpenRegular(name string) (*os.File, int64, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is no file", name)
	}
	file, err := os.Open(name)
	return file, info.Size(), err
}
