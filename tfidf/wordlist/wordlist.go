// Package wordlist reads the lists of words that this module carries in text files, so that a
// person can read and correct them without reading Go:
//
//	# A comment takes a line of its own.
//	[stop words]
//	a about after again
//	[ports]
//	ssh: 22
//
// A line in brackets is a heading; a file that holds one list needs none. What a line says is up to
// its list: words that belong to the list, words that belong together, or a key and its value.
//
// The files are embedded in the program. A heading that is missing is therefore a mistake in
// the program, and panics.
package wordlist

import (
	"fmt"
	"iter"
	"maps"
	"strings"
	"sync"
)

// all yields each line with the heading that it stands under, but comments and empty lines.
func all(text string) iter.Seq2[string, string] {
	return func(yield func(heading, line string) bool) {
		heading := ""
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			switch {
			case line == "" || line[0] == '#':
			case line[0] == '[' && line[len(line)-1] == ']':
				heading = line[1 : len(line)-1]
			case !yield(heading, line):
				return
			}
		}
	}
}

// Lines returns the lines under a heading; "" is the heading of what stands before all headings.
func Lines(text, heading string) (lines []string) {
	for h, line := range all(text) {
		if h == heading {
			lines = append(lines, line)
		}
	}
	if lines == nil {
		panic(fmt.Sprintf("no list has the heading %q", heading))
	}
	return lines
}

// Pairs yields the keys and values of the lines "key: value" under a heading.
func Pairs(text, heading string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for _, line := range Lines(text, heading) {
			if key, value, _ := CutKey(line); !yield(key, value) {
				return
			}
		}
	}
}

// CutKey splits "key: value". A colon that no space follows belongs to the key.
func CutKey(line string) (key, value string, ok bool) {
	if key, ok := strings.CutSuffix(line, ":"); ok && !strings.Contains(line, ": ") {
		return key, "", true
	}
	return strings.Cut(line, ": ")
}

// Set returns what gives the words under a heading. They are read when they are first asked for.
func Set(text, heading string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool { return Words(strings.Join(Lines(text, heading), " ")) })
}

// Words returns the words of a line as a set.
func Words(line string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(line) {
		set[word] = true
	}
	return set
}

// Phrases returns what gives the lines under a heading as a set.
// They are read when they are first asked for.
func Phrases(text, heading string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for _, line := range Lines(text, heading) {
			set[line] = true
		}
		return set
	})
}

// Sets returns what gives, for each line "key: words" under a heading, the words by the key.
// They are read when they are first asked for.
func Sets(text, heading string) func() map[string]map[string]bool {
	return sync.OnceValue(func() map[string]map[string]bool {
		sets := map[string]map[string]bool{}
		for key, words := range Pairs(text, heading) {
			sets[key] = Words(words)
		}
		return sets
	})
}

// Map returns what gives the values of the lines "key: value" under a heading by their keys.
// They are read when they are first asked for.
func Map(text, heading string) func() map[string]string {
	return sync.OnceValue(func() map[string]string { return maps.Collect(Pairs(text, heading)) })
}
