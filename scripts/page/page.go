// Package page writes the generated part of a page, whose rest is written by hand.
package page

import (
	"fmt"
	"os"
	"strings"
)

// Update puts a text between two marks of a page.
func Update(path, begin, end, text string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(raw), begin)
	_, after, alsoFound := strings.Cut(rest, end)
	if !found || !alsoFound {
		return fmt.Errorf("%s has lost the marks of its generated part", path)
	}
	return os.WriteFile(path, []byte(before+begin+text+end+after), 0o644)
}
