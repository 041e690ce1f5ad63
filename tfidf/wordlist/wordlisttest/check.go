// Package wordlisttest checks lists of words for the tests of those who carry one.
package wordlisttest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// Faults says what is wrong with the lists of a text, for the tests of those who carry one: a
// heading or a key that stands there twice, an entry that stands twice in a list, and words that
// folded changes, since nobody finds them. Three comments say more of the list that they stand in:
//
//	# phrases    each line is one entry
//	# groups     a word may stand in several lines, and twice in none
//	# sorted     the lines are in order
func Faults(text string, folded func(word string) string) (faults []string) {
	var c checker
	for line := range strings.Lines(text) {
		c.line++
		c.read(strings.TrimRight(line, "\n"), folded)
	}
	return c.faults
}

// checker is where Faults is.
type checker struct {
	faults                  []string
	line                    int
	headings, keys, entries []string // the latter two of this list
	phrases, groups, sorted bool
	previous                string
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf("line %d: ", c.line)+fmt.Sprintf(format, args...))
}

// once adds an entry to those that may stand there once.
func (c *checker) once(what string, known *[]string, entry string) {
	if slices.Contains(*known, entry) {
		c.fault("%s %q stands there twice", what, entry)
	}
	*known = append(*known, entry)
}

func (c *checker) read(line string, folded func(string) string) {
	if strings.TrimSpace(line) != line {
		c.fault("blanks stand around %q", line)
	}
	switch {
	case line == "# phrases":
		c.phrases = true
	case line == "# groups":
		c.groups = true
	case line == "# sorted":
		c.sorted = true
	case line == "" || line[0] == '#':
	case line[0] == '[' && line[len(line)-1] == ']':
		c.once("the heading", &c.headings, line)
		*c = checker{faults: c.faults, line: c.line, headings: c.headings}
	default:
		c.entry(line, folded)
	}
}

func (c *checker) entry(line string, folded func(string) string) {
	if c.sorted && line < c.previous {
		c.fault("%q stands behind %q", line, c.previous)
	}
	c.previous = line
	key, value, keyed := wordlist.CutKey(line)
	if keyed {
		c.once("the key", &c.keys, key)
	} else {
		key, value = "", line
	}
	if keyed || c.groups {
		c.entries = nil
	}
	entries := strings.Fields(value)
	switch {
	case c.phrases:
		entries = []string{value}
	case strings.Contains(value, ","):
		entries = strings.Split(value, ", ")
	}
	for _, e := range entries {
		c.once("the entry", &c.entries, e)
	}
	for _, word := range strings.Fields(key + " " + strings.ReplaceAll(value, ",", " ")) {
		if f := folded(word); f != word {
			c.fault("%q is read as %q", word, f)
		}
	}
}
